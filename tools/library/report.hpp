#pragma once
/// What a call of the library says, and how its failures become statuses: the one place where
/// exceptions end.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "compiler/support/diagnostics.hpp"
#include "include/dtnn.h"
#include "runtime/base/run_error.hpp"

struct dtnn_report {
    struct One {
        int severity = DTNN_ERROR;
        std::string code, file;
        int line = 0, column = 0, width = 0;
        std::string text, help;
    };
    dtnn_status status = DTNN_DONE;
    std::string text, json;
    std::vector<One> list;
};

namespace dtnn::library {

/// What is collected while a call works.
struct Said {
    compiler::Diagnostics diagnostics;
    std::vector<std::string> warnings;  ///< "FACT; REMEDY"
};

/// An argument that the header forbids.
inline runtime::RunError wrong_argument(const std::string& fact, const std::string& help = "") {
    return runtime::RunError(runtime::Exit::usage, fact, help);
}
/// RunError where it is null.
void need(const void* argument, const char* name);

/// Does the work in the default floating point environment, whatever the caller's, which comes
/// back; makes a status of what it throws and a report of what is said.
dtnn_status guarded(dtnn_report** report, const std::function<void(Said&)>& work) noexcept;

/// The same on a thread with the stack that programs have: specs may be nested deep, and the
/// caller's thread may have little room.
dtnn_status guarded_with_room(dtnn_report** report,
                              const std::function<void(Said&)>& work) noexcept;

/// Thrown where the diagnostics say what is wrong.
struct Diagnosed {};

/// A text that dtnn_free frees.
char* given_text(const std::string& text);

/// Copies members behind `size` from one struct to another: as many bytes as the caller's has.
template <class Struct>
void copy_members(const Struct& from, Struct& to, std::size_t size) {
    if (size < sizeof(std::size_t) || size > sizeof(Struct))
        throw wrong_argument("the size of a struct is none that this version knows",
                             "set its `size` to sizeof of the struct");
    const auto* bytes = reinterpret_cast<const char*>(&from);
    std::copy(bytes + sizeof size, bytes + size, reinterpret_cast<char*>(&to) + sizeof size);
}

/// Fills in a struct of the caller.
template <class Struct>
void give(const Struct& filled, Struct* to) {
    need(to, "the struct to fill in");
    copy_members(filled, *to, to->size);
}

/// The caller's struct, with zeros for what its version did not have; all zeros for null.
template <class Struct>
Struct taken(const Struct* from) {
    Struct options{};
    if (from != nullptr) copy_members(*from, options, from->size);
    return options;
}

}  // namespace dtnn::library
