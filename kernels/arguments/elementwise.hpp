#pragma once
/// Elementwise expressions: dst[i] = f(x0[i], x1[i], ...). See docs/operators.md for the text of an
/// expression.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/arguments/arguments.hpp"
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
    int source = 0;       ///< for Opcode::source
    double constant = 0;  ///< for Opcode::constant
};

struct Expression {
    std::vector<Instruction> instructions;
    int sources = 0;  ///< one more than the highest source named
    int depth = 0;    ///< the most values on the stack
};

/// Reads postfix text. On a mistake returns false and says which token is wrong.
bool parse_expression(std::string_view text, Expression& expression, std::string& mistake);

/// Its value, in double, of `expression.sources` numbers at least. Allocates nothing; an expression
/// is no deeper than kMostEvaluatedDepth.
inline constexpr int kMostEvaluatedDepth = 128;
double evaluate(const Expression& expression, std::span<const double> sources);

template <class T>
struct ElementwiseArguments {
    std::int64_t count = 0;
    std::vector<const T*> sources;
    T* dst = nullptr;  ///< may be one of the sources
    Expression expression;
    LoopFunction loop = nullptr;             ///< made for the expression, or null
    const void* const* functions = nullptr;  ///< that the loop calls

    /// The sources, the expression and the code for it.
    void read(const Problem& problem, Sources from);
    static ElementwiseArguments bind(const Problem& problem, Sources sources,
                                     Destinations destinations, Workspace workspace);
};

}  // namespace dtnn::kernels
