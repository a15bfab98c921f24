#include "compiler/ops/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include "compiler/support/check.hpp"

namespace dtnn::compiler {
namespace {

struct TermInfo {
    Term term;
    std::string_view name;
    std::size_t operands;
};
constexpr std::array kTerms = {
    TermInfo{Term::add, "add", 2},       TermInfo{Term::sub, "sub", 2},
    TermInfo{Term::mul, "mul", 2},       TermInfo{Term::div, "div", 2},
    TermInfo{Term::max, "max", 2},       TermInfo{Term::min, "min", 2},
    TermInfo{Term::gt, "gt", 2},         TermInfo{Term::neg, "neg", 1},
    TermInfo{Term::abs, "abs", 1},       TermInfo{Term::exp, "exp", 1},
    TermInfo{Term::log, "log", 1},       TermInfo{Term::sqrt, "sqrt", 1},
    TermInfo{Term::tanh, "tanh", 1},     TermInfo{Term::sigmoid, "sigmoid", 1},
    TermInfo{Term::select, "select", 3},
};

const TermInfo* find_term(std::string_view name) {
    for (const TermInfo& info : kTerms)
        if (info.name == name) return &info;
    return nullptr;
}

std::string_view term_name(Term term) {
    for (const TermInfo& info : kTerms)
        if (info.term == term) return info.name;
    return "?";
}

/// "x12" is input 12.
std::optional<int> input_index(std::string_view word) {
    if (word.size() < 2 || word[0] != 'x') return std::nullopt;
    int index = 0;
    const auto [end, failure] = std::from_chars(word.data() + 1, word.data() + word.size(), index);
    if (failure != std::errc() || end != word.data() + word.size() || index < 0)
        return std::nullopt;
    return index;
}

std::optional<double> number_of(std::string_view word) {
    double number = 0;
    const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (failure != std::errc() || end != word.data() + word.size()) return std::nullopt;
    return number;
}

class InfixParser {
  public:
    InfixParser(std::string_view text, const std::vector<std::string>& names)
        : text_(text), names_(names) {}

    Expression run() {
        Expression result = comparison();
        skip_space();
        if (at_ < text_.size()) fail("expected an operator");
        return result;
    }

  private:
    [[noreturn]] void fail(const std::string& what) const {
        throw ExpressionError(fmt::format("`{}`, column {}: {}", text_, at_ + 1, what));
    }
    void skip_space() {
        while (at_ < text_.size() && text_[at_] == ' ')
            ++at_;
    }
    bool accept(char c) {
        skip_space();
        if (at_ >= text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }

    Expression comparison() {
        Expression left = sum();
        if (accept('>')) left = Expression::of(Term::gt, {std::move(left), sum()});
        return left;
    }
    Expression sum() {
        Expression left = product();
        for (;;) {
            if (accept('+'))
                left = Expression::of(Term::add, {std::move(left), product()});
            else if (accept('-'))
                left = Expression::of(Term::sub, {std::move(left), product()});
            else
                return left;
        }
    }
    Expression product() {
        Expression left = unary();
        for (;;) {
            if (accept('*'))
                left = Expression::of(Term::mul, {std::move(left), unary()});
            else if (accept('/'))
                left = Expression::of(Term::div, {std::move(left), unary()});
            else
                return left;
        }
    }
    Expression unary() {
        if (accept('-')) return Expression::of(Term::neg, {unary()});
        return primary();
    }
    Expression primary() {
        if (accept('(')) {
            Expression inside = comparison();
            if (!accept(')')) fail("expected `)`");
            return inside;
        }
        skip_space();
        const std::size_t begin = at_;
        if (at_ < text_.size() && (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0)) {
            double number = 0;
            const auto [end, failure] =
                std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
            if (failure != std::errc()) fail("expected a number");
            at_ = static_cast<std::size_t>(end - text_.data());
            return Expression::constant(number);
        }
        while (at_ < text_.size() &&
               (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
            ++at_;
        const std::string_view word = text_.substr(begin, at_ - begin);
        if (word.empty()) fail("expected a number, an input or a function");
        for (std::size_t i = 0; i < names_.size(); ++i)
            if (names_[i] == word) return Expression::input_at(static_cast<int>(i));
        if (names_.empty() && word == "x") return Expression::input_at(0);
        if (const auto index = input_index(word)) return Expression::input_at(*index);
        const TermInfo* info = find_term(word);
        if (!info) fail(fmt::format("`{}` is neither an input nor a function", word));
        if (!accept('(')) fail("expected `(`");
        std::vector<Expression> operands;
        do
            operands.push_back(comparison());
        while (accept(','));
        if (!accept(')')) fail("expected `)`");
        if (operands.size() != info->operands)
            fail(fmt::format("`{}` takes {} operands", word, info->operands));
        return Expression::of(info->term, std::move(operands));
    }

    std::string_view text_;
    const std::vector<std::string>& names_;
    std::size_t at_ = 0;
};

bool is_number(const Expression& e, double number) {
    return e.term == Term::number && e.number == number;
}

double apply_term(Term term, std::span<const double> v) {
    switch (term) {
        case Term::input:
        case Term::number:
            break;
        case Term::add:
            return v[0] + v[1];
        case Term::sub:
            return v[0] - v[1];
        case Term::mul:
            return v[0] * v[1];
        case Term::div:
            return v[0] / v[1];
        case Term::max:
            return v[0] > v[1] ? v[0] : v[1];
        case Term::min:
            return v[1] > v[0] ? v[0] : v[1];
        case Term::gt:
            return v[0] > v[1] ? 1.0 : 0.0;
        case Term::neg:
            return -v[0];
        case Term::abs:
            return std::fabs(v[0]);
        case Term::exp:
            return std::exp(v[0]);
        case Term::log:
            return std::log(v[0]);
        case Term::sqrt:
            return std::sqrt(v[0]);
        case Term::tanh:
            return std::tanh(v[0]);
        case Term::sigmoid:
            return 1.0 / (1.0 + std::exp(-v[0]));
        case Term::select:
            return v[0] != 0 ? v[1] : v[2];
    }
    DTNN_CHECK(false, "a leaf is not applied");
    return 0;
}

void write_postfix(const Expression& e, std::string& text) {
    for (const Expression& operand : e.operands)
        write_postfix(operand, text);
    if (!text.empty()) text += ' ';
    if (e.term == Term::input)
        text += fmt::format("x{}", e.index);
    else if (e.term == Term::number)
        text += fmt::format("{}", e.number);
    else
        text += term_name(e.term);
}

/// The derivative as the rules give it, not simplified.
Expression derivative(const Expression& e, int by) {
    const auto of = [](Term term, std::vector<Expression> operands) {
        return Expression::of(term, std::move(operands));
    };
    const auto number = [](double n) { return Expression::constant(n); };
    if (e.term == Term::input) return number(e.index == by ? 1 : 0);
    if (e.term == Term::number || e.term == Term::gt) return number(0);
    const std::vector<Expression>& v = e.operands;
    std::vector<Expression> d;
    for (const Expression& operand : v)
        d.push_back(derivative(operand, by));
    switch (e.term) {
        case Term::add:
            return of(Term::add, {d[0], d[1]});
        case Term::sub:
            return of(Term::sub, {d[0], d[1]});
        case Term::mul:
            return of(Term::add, {of(Term::mul, {d[0], v[1]}), of(Term::mul, {v[0], d[1]})});
        case Term::div:  // (a/b)' = (a' - (a/b) b') / b
            return of(Term::div, {of(Term::sub, {d[0], of(Term::mul, {e, d[1]})}), v[1]});
        case Term::max:
            return of(Term::select, {of(Term::gt, {v[0], v[1]}), d[0], d[1]});
        case Term::min:
            return of(Term::select, {of(Term::gt, {v[1], v[0]}), d[0], d[1]});
        case Term::neg:
            return of(Term::neg, {d[0]});
        case Term::abs:
            return of(Term::select, {of(Term::gt, {v[0], number(0)}), d[0], of(Term::neg, {d[0]})});
        case Term::exp:
            return of(Term::mul, {e, d[0]});
        case Term::log:
            return of(Term::div, {d[0], v[0]});
        case Term::sqrt:
            return of(Term::div, {d[0], of(Term::mul, {number(2), e})});
        case Term::tanh:
            return of(Term::mul, {of(Term::sub, {number(1), of(Term::mul, {e, e})}), d[0]});
        case Term::sigmoid:
            return of(Term::mul, {of(Term::mul, {e, of(Term::sub, {number(1), e})}), d[0]});
        case Term::select:
            return of(Term::select, {v[0], d[1], d[2]});
        default:
            break;
    }
    DTNN_CHECK(false, "no derivative of `{}`", term_name(e.term));
    return number(0);
}

/// One step of simplification at the root; the operands are already simple.
Expression simplify_root(Expression e) {
    auto& v = e.operands;
    const bool constant = std::all_of(
        v.begin(), v.end(), [](const Expression& operand) { return operand.term == Term::number; });
    if (constant && !v.empty()) {
        std::vector<double> numbers;
        for (const Expression& operand : v)
            numbers.push_back(operand.number);
        const double folded = apply_term(e.term, numbers);
        return std::isfinite(folded) ? Expression::constant(folded) : e;
    }
    switch (e.term) {
        case Term::add:
            if (is_number(v[0], 0)) return v[1];
            if (is_number(v[1], 0)) return v[0];
            break;
        case Term::sub:
            if (is_number(v[1], 0)) return v[0];
            if (is_number(v[0], 0)) return simplify_root(Expression::of(Term::neg, {v[1]}));
            break;
        case Term::mul:
            if (is_number(v[0], 0) || is_number(v[1], 0)) return Expression::constant(0);
            if (is_number(v[0], 1)) return v[1];
            if (is_number(v[1], 1)) return v[0];
            // a * (b > c): a select does not turn an infinite a into not-a-number.
            if (v[1].term == Term::gt)
                return Expression::of(Term::select, {v[1], v[0], Expression::constant(0)});
            if (v[0].term == Term::gt)
                return Expression::of(Term::select, {v[0], v[1], Expression::constant(0)});
            // a * select(c, b, 0) = select(c, a * b, 0)
            if (v[1].term == Term::select && is_number(v[1].operands[2], 0))
                return Expression::of(
                    Term::select,
                    {v[1].operands[0],
                     simplify_root(Expression::of(Term::mul, {v[0], v[1].operands[1]})),
                     Expression::constant(0)});
            break;
        case Term::div:
            if (is_number(v[0], 0)) return Expression::constant(0);
            if (is_number(v[1], 1)) return v[0];
            break;
        case Term::neg:
            if (v[0].term == Term::neg) return v[0].operands[0];
            break;
        case Term::select:
            if (v[0].term == Term::number) return v[0].number != 0 ? v[1] : v[2];
            if (v[1] == v[2]) return v[1];
            // select(c, 1, 0) of a comparison is the comparison.
            if (v[0].term == Term::gt && is_number(v[1], 1) && is_number(v[2], 0)) return v[0];
            break;
        default:
            break;
    }
    return e;
}

}  // namespace

Expression Expression::input_at(int index) {
    Expression e;
    e.term = Term::input;
    e.index = index;
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

Expression parse_infix(std::string_view text, const std::vector<std::string>& names) {
    return InfixParser(text, names).run();
}

Expression parse_postfix(std::string_view text) {
    std::vector<Expression> stack;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string_view word = text.substr(at, end - at);
        at = end + 1;
        if (word.empty()) continue;
        if (const auto index = input_index(word)) {
            stack.push_back(Expression::input_at(*index));
        } else if (const auto number = number_of(word)) {
            stack.push_back(Expression::constant(*number));
        } else {
            const TermInfo* info = find_term(word);
            if (!info) throw ExpressionError(fmt::format("`{}`: `{}` is no operation", text, word));
            if (stack.size() < info->operands)
                throw ExpressionError(fmt::format("`{}`: `{}` lacks operands", text, word));
            const auto first = stack.end() - static_cast<std::ptrdiff_t>(info->operands);
            std::vector<Expression> operands(std::make_move_iterator(first),
                                             std::make_move_iterator(stack.end()));
            stack.erase(first, stack.end());
            stack.push_back(Expression::of(info->term, std::move(operands)));
        }
    }
    if (stack.size() != 1)
        throw ExpressionError(fmt::format("`{}` leaves {} values, not one", text, stack.size()));
    return std::move(stack.front());
}

std::string to_postfix(const Expression& expression) {
    std::string text;
    write_postfix(expression, text);
    return text;
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

Expression substitute(const Expression& expression, const std::vector<Expression>& replacements) {
    if (expression.term == Term::input) {
        DTNN_CHECK_COMPARE(static_cast<std::size_t>(expression.index), <, replacements.size());
        return replacements[static_cast<std::size_t>(expression.index)];
    }
    Expression e = expression;
    for (Expression& operand : e.operands)
        operand = substitute(operand, replacements);
    return e;
}

double evaluate(const Expression& expression, std::span<const double> inputs) {
    if (expression.term == Term::number) return expression.number;
    if (expression.term == Term::input) {
        DTNN_CHECK_COMPARE(static_cast<std::size_t>(expression.index), <, inputs.size());
        return inputs[static_cast<std::size_t>(expression.index)];
    }
    std::array<double, 3> values{};
    for (std::size_t i = 0; i < expression.operands.size(); ++i)
        values[i] = evaluate(expression.operands[i], inputs);
    return apply_term(expression.term, values);
}

std::int64_t flops(const Expression& expression) {
    std::int64_t count = expression.operands.empty() ? 0 : 1;
    for (const Expression& operand : expression.operands)
        count += flops(operand);
    return count;
}

int input_count(const Expression& expression) {
    int count = expression.term == Term::input ? expression.index + 1 : 0;
    for (const Expression& operand : expression.operands)
        count = std::max(count, input_count(operand));
    return count;
}

bool reads(const Expression& expression, int index) {
    if (expression.term == Term::input) return expression.index == index;
    return std::any_of(expression.operands.begin(), expression.operands.end(),
                       [&](const Expression& operand) { return reads(operand, index); });
}

}  // namespace dtnn::compiler
