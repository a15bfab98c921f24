#pragma once
/// Elementwise arithmetic as a small tree. Chains of operators fuse by composing trees, derivatives
/// are taken symbolically, and kernels read the postfix text (postfix.hpp).

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/expression/postfix.hpp"

namespace dtnn {

/// Thrown for text that is no expression.
class ExpressionError : public std::runtime_error {
  public:
    ExpressionError(std::string_view text, std::size_t column, std::string reason,
                    std::string help = "");
    std::size_t column() const { return column_; }  ///< from 1
    const std::string& reason() const { return reason_; }
    const std::string& help() const { return help_; }  ///< empty: none

  private:
    std::size_t column_;
    std::string reason_;
    std::string help_;
};

struct Expression {
    Term term = Term::number;
    int index = 0;            ///< of an input
    bool by_channel = false;  ///< of an input: it has one number for each channel, or one for all
    double number = 0;        ///< of a number
    std::vector<Expression> operands;
    /// 0 and -0 are two numbers, not-a-number is itself.
    bool operator==(const Expression& other) const;

    static Expression input_at(int index);
    static Expression channel_input_at(int index);
    static Expression constant(double number);
    static Expression of(Term term, std::vector<Expression> operands);
};

/// The tree of a postfix text.
Expression parse_postfix(std::string_view text);
std::string to_postfix(const Expression& expression);

/// For people: infix, inputs by their names; those without one are x0, x1, ...
std::string to_infix(const Expression& expression, const std::vector<std::string>& names = {});

/// The meaning of `a ** b` and `pow(a, b)`: where b is the number 2 or -1, a * a or 1 / a, rounded
/// once, which C's pow need not be; else C's pow. Reading a text and `substitute` make powers by
/// it; `simplify` does not.
Expression power(Expression base, Expression exponent);
/// The derivative by input `index`, simplified. At a kink it is one of the two one-sided
/// derivatives.
Expression differentiate(const Expression& expression, int index);
/// The same; nothing where it, or a part that it is made of, has more than `most` operations. Takes
/// memory by `most`, whatever the expression.
std::optional<Expression> differentiate_within(const Expression& expression, int index,
                                               std::int64_t most);
/// A product of which one factor is a derivative: 0 where either is 0 whatever it says, and a
/// comparison becomes a select, so that an infinite factor does not turn into not-a-number where
/// nothing depends on it.
Expression product(Expression a, Expression b);
/// Folds constants and removes what does nothing (x-0, x*1, ...). The value stays what it is for
/// every input, infinite ones, not-a-number and the sign of a zero too.
Expression simplify(Expression expression);
/// The same over other indices: input i becomes input indices[i].
Expression renumber(Expression expression, const std::vector<int>& indices);
/// Replaces every input i by replacements[i].
Expression substitute(Expression expression, const std::vector<Expression>& replacements);

double evaluate(const Expression& expression, std::span<const double> inputs);
/// Operations per element, each counted once, transcendental ones too.
std::int64_t flops(const Expression& expression);
/// The depth of the stack of the CPU's interpreter: what fusions compose is no deeper.
inline constexpr int kMaximumFusedDepth = 8;
/// Places of the stack that works it out.
int depth(const Expression& expression);
/// One more than the largest input index; 0 without inputs.
int input_count(const Expression& expression);
bool reads(const Expression& expression, int index);
/// Whether it reads the input as one by channel, or as one by element.
bool reads_as(const Expression& expression, int index, bool by_channel);

}  // namespace dtnn
