#pragma once
/// Elementwise arithmetic as a stack works it out: what plans hold as text and kernels run
/// (docs/operators.md, "Expressions").

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dtnn {

enum class Term {
    input,
    number,
#define DTNN_TERM(name, operands, form, value) name,
#include "base/expression/terms.def"
#undef DTNN_TERM
};

/// Inputs and numbers push, the others take their operands from the stack and push the result.
struct Instruction {
    Term term = Term::number;
    int operands = 0;
    int index = 0;            ///< of an input
    bool by_channel = false;  ///< of an input: it has one number for each channel, or one for all
    double number = 0;        ///< of a number
};

struct Postfix {
    std::vector<Instruction> instructions;
    int inputs = 0;  ///< one more than the largest index of an input
    int depth = 0;   ///< the most values on the stack
};

struct PostfixMistake {
    std::size_t column = 1;
    std::string reason;
};

/// Reads "x0 c1 mul": inputs that have a number for each element are x0, x1, ...; those that have
/// one for each channel, or a single one, are c0, c1, ..., counted together. Takes any text, in a
/// time by its length; the mistake where it is no expression.
std::optional<PostfixMistake> parse_postfix(std::string_view text, Postfix& postfix);

/// The value of an operation that has these operands, in double.
double apply_term(Term term, const double* operands);

/// Its value, in double, of `postfix.inputs` numbers at least. Allocates nothing; it is no deeper
/// than kMostEvaluatedDepth.
inline constexpr int kMostEvaluatedDepth = 128;
double evaluate(const Postfix& postfix, std::span<const double> inputs);

enum class TermForm { call, sign };
struct TermInfo {
    Term term;
    std::string_view name;
    int operands;
    TermForm form;
};
/// The operations, in the order of their terms.
std::span<const TermInfo> term_infos();
/// By its name, or as others call it: `where` is select. Null: there is none.
const TermInfo* find_term(std::string_view name);
/// "mul"; of what is no operation "input" or "number".
std::string_view name_of(Term term);

/// What others call select, and texts for people do.
inline constexpr std::string_view kWhere = "where";

/// "x12" is input 12, and "c12" where `letter` is c. The number of inputs, one more, must be an int
/// too.
std::optional<int> input_index(std::string_view word, char letter = 'x');

}  // namespace dtnn
