#include "base/expression/expression.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

namespace dtnn {
namespace {

/// 0 and -0 are two numbers.
bool is_number(const Expression& e, double number) {
    return e == Expression::constant(number);
}

/// Either of them.
bool is_zero(const Expression& e) {
    return e.term == Term::number && e.number == 0;
}

bool is_comparison(const Expression& e) {
    return e.term == Term::gt || e.term == Term::ge || e.term == Term::eq;
}

/// An operation over operands that are given away: a braced list would copy them.
template <class... Operands>
Expression join(Term term, Operands&&... operands) {
    std::vector<Expression> list;
    list.reserve(sizeof...(operands));
    (list.push_back(std::forward<Operands>(operands)), ...);
    return Expression::of(term, std::move(list));
}

Expression sum(Expression a, Expression b) {
    if (is_zero(a)) return b;
    if (is_zero(b)) return a;
    return join(Term::add, std::move(a), std::move(b));
}

struct TooLong {};

/// The derivative as the rules give it. A derivative that is 0 wherever it is one takes its factors
/// along, infinite ones too, which simplify() would not allow. Throws TooLong where a part of it
/// has more than `most` operations: nested ones, as of abs, can double with every level.
Expression derivative(const Expression& e, int by, std::int64_t most) {
    const auto number = [](double n) { return Expression::constant(n); };
    if (e.term == Term::input) return number(e.index == by ? 1 : 0);
    if (e.term == Term::number || is_comparison(e) || e.term == Term::floor) return number(0);
    const std::vector<Expression>& v = e.operands;
    std::vector<Expression> d;
    d.reserve(v.size());
    for (const Expression& operand : v) {
        d.push_back(derivative(operand, by, most));
        if (flops(d.back()) > most) throw TooLong{};
    }
    if (std::all_of(d.begin() + (e.term == Term::select ? 1 : 0), d.end(),
                    [](const Expression& slope) { return is_zero(slope); }))
        return number(0);
    switch (e.term) {
        case Term::add:
            return sum(std::move(d[0]), std::move(d[1]));
        case Term::sub:
            return is_zero(d[1]) ? std::move(d[0])
                                 : join(Term::sub, std::move(d[0]), std::move(d[1]));
        case Term::mul:
            return sum(product(std::move(d[0]), v[1]), product(v[0], std::move(d[1])));
        case Term::div:  // (a/b)' = (a' - (a/b) b') / b
            if (is_zero(d[1])) return join(Term::div, std::move(d[0]), v[1]);
            return join(Term::div, join(Term::sub, std::move(d[0]), product(e, std::move(d[1]))),
                        v[1]);
        case Term::max:
            return join(Term::select, join(Term::gt, v[0], v[1]), std::move(d[0]), std::move(d[1]));
        case Term::min:
            return join(Term::select, join(Term::gt, v[1], v[0]), std::move(d[0]), std::move(d[1]));
        case Term::neg:
            return join(Term::neg, std::move(d[0]));
        case Term::abs: {  // the sign, which is 0 at 0
            Expression falls = join(Term::select, join(Term::gt, number(0), v[0]),
                                    join(Term::neg, d[0]), number(0));
            return join(Term::select, join(Term::gt, v[0], number(0)), std::move(d[0]),
                        std::move(falls));
        }
        case Term::exp:
            return product(e, std::move(d[0]));
        case Term::expm1:
            return product(join(Term::exp, v[0]), std::move(d[0]));
        case Term::log:
            return join(Term::div, std::move(d[0]), v[0]);
        case Term::log1p:
            return join(Term::div, std::move(d[0]), join(Term::add, number(1), v[0]));
        case Term::sqrt:
            return join(Term::div, std::move(d[0]), join(Term::mul, number(2), e));
        case Term::tanh:
            return product(join(Term::sub, number(1), join(Term::mul, e, e)), std::move(d[0]));
        case Term::atanh:  // 1 - x^2 as a product: exact near 1
            return join(Term::div, std::move(d[0]),
                        join(Term::mul, join(Term::sub, number(1), v[0]),
                             join(Term::add, number(1), v[0])));
        case Term::erf:  // 2 / sqrt(pi) exp(-x^2)
            return product(join(Term::mul, number(2 * std::numbers::inv_sqrtpi),
                                join(Term::exp, join(Term::neg, join(Term::mul, v[0], v[0])))),
                           std::move(d[0]));
        case Term::sigmoid:
            return product(join(Term::mul, e, join(Term::sub, number(1), e)), std::move(d[0]));
        case Term::square:
            return product(join(Term::mul, number(2), v[0]), std::move(d[0]));
        case Term::pow: {  // b a^(b-1) a' + a^b log(a) b', whose second part is 0 where a is
            Expression grows = product(join(Term::select, join(Term::eq, v[0], number(0)),
                                            number(0), join(Term::mul, e, join(Term::log, v[0]))),
                                       std::move(d[1]));
            if (is_zero(d[0])) return grows;
            Expression less = simplify(power(v[0], join(Term::sub, v[1], number(1))));
            return sum(product(product(v[1], std::move(less)), std::move(d[0])), std::move(grows));
        }
        case Term::select:
            return join(Term::select, v[0], std::move(d[1]), std::move(d[2]));
        case Term::input:
        case Term::number:
        case Term::gt:
        case Term::ge:
        case Term::eq:
        case Term::floor:
            break;
    }
    return number(0);
}

/// One step of simplification at the root; the operands are already simple.
Expression simplify_root(Expression e) {
    auto& v = e.operands;
    const bool constant = std::all_of(
        v.begin(), v.end(), [](const Expression& operand) { return operand.term == Term::number; });
    if (constant && !v.empty()) {
        std::vector<double> numbers;
        numbers.reserve(v.size());
        for (const Expression& operand : v)
            numbers.push_back(operand.number);
        const double folded = apply_term(e.term, numbers.data());
        if (std::isfinite(folded)) return Expression::constant(folded);
        return e;
    }
    switch (e.term) {
        case Term::sub:  // x + 0 stays: it makes 0 of -0
            if (is_number(v[1], 0)) return v[0];
            break;
        case Term::mul:
            if (is_number(v[0], 1)) return v[1];
            if (is_number(v[1], 1)) return v[0];
            break;
        case Term::div:
            if (is_number(v[1], 1)) return v[0];
            break;
        case Term::pow:
            if (is_zero(v[1])) return Expression::constant(1);  // whatever the base is
            if (is_number(v[1], 1)) return v[0];
            break;
        case Term::neg:
            if (v[0].term == Term::neg) return v[0].operands[0];
            break;
        case Term::select:
            if (v[0].term == Term::number) return v[0].number != 0 ? v[1] : v[2];
            if (v[1] == v[2]) return v[1];
            // select(c, 1, 0) of a comparison is the comparison.
            if (is_comparison(v[0]) && is_number(v[1], 1) && is_number(v[2], 0)) return v[0];
            break;
        default:
            break;
    }
    return e;
}

}  // namespace

bool Expression::operator==(const Expression& other) const {
    const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
    return term == other.term && index == other.index && by_channel == other.by_channel &&
           bits(number) == bits(other.number) && operands == other.operands;
}

Expression Expression::input_at(int index) {
    Expression e;
    e.term = Term::input;
    e.index = index;
    return e;
}

Expression Expression::channel_input_at(int index) {
    Expression e = input_at(index);
    e.by_channel = true;
    return e;
}

Expression Expression::constant(double number) {
    Expression e;
    e.number = number;
    return e;
}

Expression Expression::of(Term term, std::vector<Expression> operands) {
    Expression e;
    e.term = term;
    e.operands = std::move(operands);
    return e;
}

Expression product(Expression a, Expression b) {
    if (is_zero(a) || is_zero(b)) return Expression::constant(0);
    if (is_number(a, 1)) return b;
    if (is_number(b, 1)) return a;
    if (a.term == Term::number && b.term == Term::number)
        return simplify_root(join(Term::mul, std::move(a), std::move(b)));
    const auto where = [](Expression condition, Expression then) {
        return join(Term::select, std::move(condition), std::move(then), Expression::constant(0));
    };
    // a * (b > c): a select does not turn an infinite a into not-a-number.
    if (is_comparison(b)) return where(std::move(b), std::move(a));
    if (is_comparison(a)) return where(std::move(a), std::move(b));
    // a * select(c, b, 0) = select(c, a * b, 0)
    if (b.term == Term::select && is_zero(b.operands[2]))
        return where(std::move(b.operands[0]), product(std::move(a), std::move(b.operands[1])));
    return join(Term::mul, std::move(a), std::move(b));
}

Expression differentiate(const Expression& expression, int index) {
    return simplify(derivative(expression, index, std::numeric_limits<std::int64_t>::max()));
}

std::optional<Expression> differentiate_within(const Expression& expression, int index,
                                               std::int64_t most) {
    try {
        Expression slope = simplify(derivative(expression, index, most));
        if (flops(slope) > most) return std::nullopt;
        return slope;
    } catch (const TooLong&) {
        return std::nullopt;
    }
}

Expression simplify(Expression e) {
    for (Expression& operand : e.operands)
        operand = simplify(std::move(operand));
    return simplify_root(std::move(e));
}

Expression renumber(Expression e, const std::vector<int>& indices) {
    if (e.term == Term::input) e.index = indices.at(std::size_t(e.index));
    for (Expression& operand : e.operands)
        operand = renumber(std::move(operand), indices);
    return e;
}

Expression substitute(Expression e, const std::vector<Expression>& replacements) {
    if (e.term == Term::input) return replacements.at(std::size_t(e.index));
    for (Expression& operand : e.operands)
        operand = substitute(std::move(operand), replacements);
    // The exponent may have become a number.
    if (e.term == Term::pow) return power(std::move(e.operands[0]), std::move(e.operands[1]));
    return e;
}

Expression power(Expression base, Expression exponent) {
    const Expression known = simplify(exponent);
    if (is_number(known, 2)) return join(Term::square, std::move(base));
    if (is_number(known, -1)) return join(Term::div, Expression::constant(1), std::move(base));
    return join(Term::pow, std::move(base), std::move(exponent));
}

double evaluate(const Expression& expression, std::span<const double> inputs) {
    if (expression.term == Term::number) return expression.number;
    if (expression.term == Term::input) return inputs[std::size_t(expression.index)];
    std::array<double, 3> values{};
    for (std::size_t i = 0; i < expression.operands.size(); ++i)
        values[i] = evaluate(expression.operands[i], inputs);
    return apply_term(expression.term, values.data());
}

std::int64_t flops(const Expression& expression) {
    std::int64_t count = expression.operands.empty() ? 0 : 1;
    for (const Expression& operand : expression.operands)
        count += flops(operand);
    return count;
}

int depth(const Expression& expression) {
    int most = 1;
    for (std::size_t i = 0; i < expression.operands.size(); ++i)
        most = std::max(most, int(i) + depth(expression.operands[i]));
    return most;
}

int input_count(const Expression& expression) {
    int count = expression.term == Term::input ? expression.index + 1 : 0;
    for (const Expression& operand : expression.operands)
        count = std::max(count, input_count(operand));
    return count;
}

bool reads(const Expression& expression, int index) {
    return reads_as(expression, index, false) || reads_as(expression, index, true);
}

bool reads_as(const Expression& expression, int index, bool by_channel) {
    if (expression.term == Term::input)
        return expression.index == index && expression.by_channel == by_channel;
    return std::any_of(
        expression.operands.begin(), expression.operands.end(),
        [&](const Expression& operand) { return reads_as(operand, index, by_channel); });
}

}  // namespace dtnn
