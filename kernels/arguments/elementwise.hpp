#pragma once
/// Elementwise expressions: dst[i] = f(x0[i], x1[i], ...). See docs/operators.md for the text of an
/// expression. Sources that it reads as c1, c2, ... have one number for each channel of x0
/// ([N,C,H,W] or [N,C], in any order), or one for all; they are never in 16 bits.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/arguments/arguments.hpp"
#include "kernels/device.hpp"
#include "kernels/problem.hpp"

namespace dtnn::kernels {

/// Loads push, the others take their operands from the stack and push the result.
enum class Opcode {
    source,
    constant,
#define DTNN_TERM(name, operands, form, value) name,
#include "kernels/terms.def"
#undef DTNN_TERM
};

struct Instruction {
    Opcode opcode = Opcode::constant;
    int operands = 0;
    int source = 0;           ///< for Opcode::source
    bool by_channel = false;  ///< of a source: its numbers are those of channels
    double constant = 0;      ///< for Opcode::constant
};

struct Expression {
    std::vector<Instruction> instructions;
    int sources = 0;  ///< one more than the highest source named
    int depth = 0;    ///< the most values on the stack
};

/// Reads postfix text. On a mistake returns false and says which token is wrong.
bool parse_expression(std::string_view text, Expression& expression, std::string& mistake);
/// For each source of the problem: how many numbers it has where the expression reads it by
/// channel, else 0.
std::vector<std::int64_t> numbers_by_channel(const Expression& expression, const Problem& problem);

/// Its value, in double, of `expression.sources` numbers at least. Allocates nothing; an expression
/// is no deeper than kMostEvaluatedDepth.
inline constexpr int kMostEvaluatedDepth = 128;
double evaluate(const Expression& expression, std::span<const double> sources);

template <class T>
struct ElementwiseArguments {
    std::int64_t count = 0;
    std::vector<const T*> sources;      ///< those read by channel point to Wide<T>
    std::vector<std::int64_t> periods;  ///< numbers_by_channel; empty: no source is read so
    std::int64_t channel_stride = 1;    ///< elements between neighbours along the channels of x0
    T* tiles = nullptr;  ///< workspace of the fast version, where sources are read so
    T* dst = nullptr;    ///< may be one of the sources
    Expression expression;
    LoopFunction loop = nullptr;             ///< made for the expression, or null
    const void* const* functions = nullptr;  ///< that the loop calls

    /// The sources, the expression and the code for it.
    void read(const Problem& problem, Sources from);
    /// Without the sources, which the kernel makes itself.
    void read_terms(const Problem& problem);
    /// Where a source has what element i of x0 meets.
    DTNN_DEVICE static std::int64_t place(std::int64_t i, std::int64_t period,
                                          std::int64_t channel_stride) {
        return period == 1 ? 0 : i / channel_stride % period;
    }
    static ElementwiseArguments bind(const Problem& problem, Sources sources,
                                     Destinations destinations, Workspace workspace);
};

}  // namespace dtnn::kernels
