/// The two text forms of expressions.

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <iterator>
#include <optional>

#include "compiler/ops/expression.hpp"

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

}  // namespace

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

}  // namespace dtnn::compiler
