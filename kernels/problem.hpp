#pragma once
/// A kernel's problem, as data: operator, operand shapes and attributes. The compiler asks the
/// catalogue about problems, the runtime binds kernels to them; neither knows more about a kernel
/// than this.

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/tensor/attributes.hpp"
#include "base/tensor/choices.hpp"
#include "base/tensor/tensor_type.hpp"

namespace dtnn::kernels {

/// The sets of instructions of processors, each with all before it. The last two have instructions
/// for products of bfloat16 beside the vectors of avx512: a plan names them only where its products
/// are such.
enum class Isa { baseline, avx2, avx512, avx512_bf16, amx };
constexpr auto names_of(Isa) {
    return std::to_array<const char*>({"baseline", "avx2", "avx512", "avx512_bf16", "amx"});
}
/// The set whose vectors it computes with.
constexpr Isa vectors_of(Isa isa) {
    return isa > Isa::avx512 ? Isa::avx512 : isa;
}

/// "adam_update lacks its attribute `beta1`"
class MissingAttribute : public std::runtime_error {
  public:
    MissingAttribute(const std::string& op, const char* name)
        : std::runtime_error(op + " lacks its attribute `" + name + "`") {}
};

/// Code that was made for an expression (kernels/codegen): dst[i - begin] is its value of
/// sources[0][i], sources[1][i], ... for begin <= i < end. `functions` are those of vectors that
/// belong to the instruction set (vector_functions). `dst + begin` may be one of the sources.
using LoopFunction = void (*)(void* dst, const void* const* sources, std::int64_t begin,
                              std::int64_t end, const void* const* functions);

struct Problem {
    std::string op;
    DType dtype = DType::f32;  ///< the floating type the kernel is instantiated for: of its values
    std::vector<TensorType> sources;
    std::vector<TensorType> destinations;
    Attributes attributes;
    int threads = 1;          ///< the most threads that will run it: workspace is booked for them
    Isa isa = Isa::baseline;  ///< what the target machine has
    /// Kernels must sum the products of the formula: no algorithm that rounds otherwise.
    bool strict = false;
    LoopFunction loop = nullptr;  ///< for the expression; null: it is interpreted. Outlives kernels

    /// Sets dtype: the one of 16 bits that an operand has, else `floating`, the target's.
    void set_dtype(DType floating);

    /// Attributes that the operator always has: throw MissingAttribute. Their defaults stand in the
    /// compiler alone, which writes them into every step.
    std::int64_t integer(const char* name) const;
    double real(const char* name) const;
    std::string text(const char* name) const;
    /// Of a closed set (base/tensor/choices.hpp); a word that is none of it is missing, too.
    template <NamedEnum Enum>
    Enum chosen(const char* name) const {
        if (const auto value = choice<Enum>(attributes, name)) return *value;
        throw MissingAttribute(op, name);
    }

    /// Attributes that a step has where it asks for something.
    bool flag(const char* name) const;  ///< absent: false
    std::int64_t integer(const char* name, std::int64_t absent) const;
    double real(const char* name, double absent) const;
    std::string text(const char* name, const char* absent) const;
    std::vector<std::int64_t> integers(const char* name) const;  ///< absent: empty
    std::vector<double> reals(const char* name) const;           ///< absent: empty
};

/// What a plan's target says of all its problems.
struct ProblemTarget {
    DType dtype = DType::f32;  ///< of values that are not reduced to 16 bits
    int threads = 1;
    Isa isa = Isa::baseline;
    bool strict = false;
};

/// The problem of a step, for who chooses a kernel and for who binds it.
Problem problem_of(std::string op, Attributes attributes, std::vector<TensorType> sources,
                   std::vector<TensorType> destinations, const ProblemTarget& target);

/// Whether an expression, the attribute of that name, is the end of a step that is about more.
bool has_written_epilogue(const Problem& problem);
bool ends_in_relu(const Problem& problem);

}  // namespace dtnn::kernels
