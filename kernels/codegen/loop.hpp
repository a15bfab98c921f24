#pragma once
/// A generated loop: one over the elements of an expression, for one type of numbers and one
/// instruction set, which any processor that has the set runs to the same bits as the interpreter
/// of kernels/cpu.

#include "kernels/arguments/elementwise.hpp"
#include "kernels/problem.hpp"

namespace dtnn::kernels {

struct Loop {
    Postfix expression;
    DType dtype = DType::f32;  ///< f32 or f64: of sources, arithmetic and results
    Isa isa = Isa::baseline;
};

/// Longer expressions are interpreted: what is generated is bounded in time and memory.
inline constexpr std::size_t kMostGeneratedInstructions = 512;

/// All that a loop's code depends on, besides its generator: "f32 avx512 x0 0 max".
std::string text_of(const Loop& loop);

/// Functions of a vector, by Term, for what is no instruction of a processor; null where it is
/// one. Each takes its operands in vector registers of the instruction set and returns one. Null:
/// the instruction set is not built.
const void* const* vector_functions(Isa isa, DType dtype);

/// Bytes of a vector register that loops and vector functions use.
constexpr int vector_bytes(Isa isa) {
    return isa >= Isa::avx512 ? 64 : isa == Isa::avx2 ? 32 : 16;
}

}  // namespace dtnn::kernels
