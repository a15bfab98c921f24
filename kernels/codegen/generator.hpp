#pragma once
/// The interface of the library that makes machine code, or a text of it, of a loop. The library is
/// opened when code is wanted, so that nothing else needs LLVM; runtime/device/generated_code.hpp
/// does so.
///
/// Machine code is a relocatable ELF object that kernels/codegen/machine_code.hpp can load: one
/// function named kLoopSymbol, of the type LoopFunction, that refers to nothing outside of the
/// object. What it needs of others comes in its last argument (loop.hpp).

#include <stdexcept>
#include <string>

#include "kernels/codegen/loop.hpp"

namespace dtnn::kernels {

inline constexpr const char* kLoopSymbol = "dtnn_loop";

/// A loop that a generator cannot make; the interpreter runs it.
class CannotGenerate : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

enum class CodeForm {
    object,    ///< machine code
    assembly,  ///< the same as text
    source,    ///< what it is made of: LLVM's intermediate language
};

class Generator {
  public:
    virtual ~Generator() = default;
    /// With its version, on which the code depends: "LLVM 19.1.7".
    virtual std::string name() const = 0;
    /// May be called by several threads at once. Throws CannotGenerate.
    virtual std::string generate(const Loop& loop, CodeForm form) const = 0;
};

/// libdtnn_codegen.so, with the C names of its entry points.
inline constexpr const char* kCodegenLibrary = "libdtnn_codegen.so";
inline constexpr int kCodegenVersion = 1;  ///< counts up with every change of what it shares
inline constexpr const char* kCodegenVersionEntry = "dtnn_codegen_version";  ///< int()
inline constexpr const char* kCodegenOpenEntry = "dtnn_codegen_open";        ///< Generator*()

}  // namespace dtnn::kernels
