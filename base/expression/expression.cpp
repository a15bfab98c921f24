#include "base/expression/expression.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
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

Expression sum(const Expression& a, const Expression& b) {
    if (is_zero(a)) return b;
    if (is_zero(b)) return a;
    return Expression::of(Term::add, {a, b});
}

/// The derivative as the rules give it. A derivative that is 0 wherever it is one takes its factors
/// along, infinite ones too, which simplify() would not allow.
Expression derivative(const Expression& e, int by) {
    const auto of = [](Term term, std::vector<Expression> operands) {
        return Expression::of(term, std::move(operands));
    };
    const auto number = [](double n) { return Expression::constant(n); };
    if (e.term == Term::input) return number(e.index == by ? 1 : 0);
    if (e.term == Term::number || is_comparison(e) || e.term == Term::floor) return number(0);
    const std::vector<Expression>& v = e.operands;
    std::vector<Expression> d;
    d.reserve(v.size());
    for (const Expression& operand : v)
        d.push_back(derivative(operand, by));
    if (std::all_of(d.begin() + (e.term == Term::select ? 1 : 0), d.end(),
                    [](const Expression& slope) { return is_zero(slope); }))
        return number(0);
    switch (e.term) {
        case Term::add:
            return sum(d[0], d[1]);
        case Term::sub:
            return is_zero(d[1]) ? d[0] : of(Term::sub, {d[0], d[1]});
        case Term::mul:
            return sum(product(d[0], v[1]), product(v[0], d[1]));
        case Term::div:  // (a/b)' = (a' - (a/b) b') / b
            if (is_zero(d[1])) return of(Term::div, {d[0], v[1]});
            return of(Term::div, {of(Term::sub, {d[0], product(e, d[1])}), v[1]});
        case Term::max:
            return of(Term::select, {of(Term::gt, {v[0], v[1]}), d[0], d[1]});
        case Term::min:
            return of(Term::select, {of(Term::gt, {v[1], v[0]}), d[0], d[1]});
        case Term::neg:
            return of(Term::neg, {d[0]});
        case Term::abs:  // the sign, which is 0 at 0
            return of(Term::select, {of(Term::gt, {v[0], number(0)}), d[0],
                                     of(Term::select, {of(Term::gt, {number(0), v[0]}),
                                                       of(Term::neg, {d[0]}), number(0)})});
        case Term::exp:
            return product(e, d[0]);
        case Term::expm1:
            return product(of(Term::exp, {v[0]}), d[0]);
        case Term::log:
            return of(Term::div, {d[0], v[0]});
        case Term::log1p:
            return of(Term::div, {d[0], of(Term::add, {number(1), v[0]})});
        case Term::sqrt:
            return of(Term::div, {d[0], of(Term::mul, {number(2), e})});
        case Term::tanh:
            return product(of(Term::sub, {number(1), of(Term::mul, {e, e})}), d[0]);
        case Term::atanh:  // 1 - x^2 as a product: exact near 1
            return of(Term::div, {d[0], of(Term::mul, {of(Term::sub, {number(1), v[0]}),
                                                       of(Term::add, {number(1), v[0]})})});
        case Term::erf:  // 2 / sqrt(pi) exp(-x^2)
            return product(
                of(Term::mul, {number(2 * std::numbers::inv_sqrtpi),
                               of(Term::exp, {of(Term::neg, {of(Term::mul, {v[0], v[0]})})})}),
                d[0]);
        case Term::sigmoid:
            return product(of(Term::mul, {e, of(Term::sub, {number(1), e})}), d[0]);
        case Term::square:
            return product(of(Term::mul, {number(2), v[0]}), d[0]);
        case Term::pow: {  // b a^(b-1) a' + a^b log(a) b', whose second part is 0 where a is
            const Expression by_base = product(
                product(v[1], simplify(power(v[0], of(Term::sub, {v[1], number(1)})))), d[0]);
            const Expression grows = of(Term::select, {of(Term::eq, {v[0], number(0)}), number(0),
                                                       of(Term::mul, {e, of(Term::log, {v[0]})})});
            return sum(is_zero(d[0]) ? number(0) : by_base, product(grows, d[1]));
        }
        case Term::select:
            return of(Term::select, {v[0], d[1], d[2]});
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
        return std::isfinite(folded) ? Expression::constant(folded) : e;
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

Expression product(const Expression& a, const Expression& b) {
    if (is_zero(a) || is_zero(b)) return Expression::constant(0);
    if (is_number(a, 1)) return b;
    if (is_number(b, 1)) return a;
    if (a.term == Term::number && b.term == Term::number)
        return simplify_root(Expression::of(Term::mul, {a, b}));
    // a * (b > c): a select does not turn an infinite a into not-a-number.
    if (is_comparison(b)) return Expression::of(Term::select, {b, a, Expression::constant(0)});
    if (is_comparison(a)) return Expression::of(Term::select, {a, b, Expression::constant(0)});
    // a * select(c, b, 0) = select(c, a * b, 0)
    if (b.term == Term::select && is_zero(b.operands[2]))
        return Expression::of(Term::select,
                              {b.operands[0], product(a, b.operands[1]), Expression::constant(0)});
    return Expression::of(Term::mul, {a, b});
}

Expression differentiate(const Expression& expression, int index) {
    return simplify(derivative(expression, index));
}

Expression simplify(const Expression& expression) {
    Expression e = expression;
    for (Expression& operand : e.operands)
        operand = simplify(operand);
    return simplify_root(std::move(e));
}

Expression renumber(const Expression& expression, const std::vector<int>& indices) {
    Expression e = expression;
    if (e.term == Term::input) {
        e.index = indices.at(std::size_t(e.index));
    }
    for (Expression& operand : e.operands)
        operand = renumber(operand, indices);
    return e;
}

Expression substitute(const Expression& expression, const std::vector<Expression>& replacements) {
    if (expression.term == Term::input) return replacements.at(std::size_t(expression.index));
    Expression e = expression;
    for (Expression& operand : e.operands)
        operand = substitute(operand, replacements);
    // The exponent may have become a number.
    if (e.term == Term::pow) return power(e.operands[0], e.operands[1]);
    return e;
}

Expression power(const Expression& base, const Expression& exponent) {
    const Expression known = simplify(exponent);
    if (is_number(known, 2)) return Expression::of(Term::square, {base});
    if (is_number(known, -1)) return Expression::of(Term::div, {Expression::constant(1), base});
    return Expression::of(Term::pow, {base, exponent});
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
