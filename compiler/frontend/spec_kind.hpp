#pragma once
/// The closed set of kinds of specs; what each of them has: tables/tables.hpp.

#include <cstdint>
#include <string_view>

#include "base/enum_names.hpp"

namespace dtnn::compiler {

enum class SpecKind : std::uint8_t { job, model, dataset, training, machine, operation, loss };

constexpr auto names_of(SpecKind) {
    return std::to_array<const char*>(
        {"job", "model", "dataset", "training", "machine", "operator", "loss"});
}

/// Whether the word is that kind's.
constexpr bool is_kind(std::string_view word, SpecKind kind) {
    return word == name_of(kind);
}

}  // namespace dtnn::compiler
