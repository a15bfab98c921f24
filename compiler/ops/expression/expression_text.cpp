/// The two text forms of expressions.

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <iterator>
#include <limits>
#include <optional>

#include "compiler/ops/expression/expression.hpp"
#include "compiler/support/diagnostics.hpp"

namespace dtnn::compiler {
namespace {

struct TermInfo {
    Term term;
    std::string_view name;
    std::size_t operands;
};
constexpr std::array kTerms = {
    TermInfo{Term::add, "add", 2},         TermInfo{Term::sub, "sub", 2},
    TermInfo{Term::mul, "mul", 2},         TermInfo{Term::div, "div", 2},
    TermInfo{Term::max, "max", 2},         TermInfo{Term::min, "min", 2},
    TermInfo{Term::gt, "gt", 2},           TermInfo{Term::ge, "ge", 2},
    TermInfo{Term::eq, "eq", 2},           TermInfo{Term::neg, "neg", 1},
    TermInfo{Term::abs, "abs", 1},         TermInfo{Term::exp, "exp", 1},
    TermInfo{Term::expm1, "expm1", 1},     TermInfo{Term::log, "log", 1},
    TermInfo{Term::log1p, "log1p", 1},     TermInfo{Term::sqrt, "sqrt", 1},
    TermInfo{Term::tanh, "tanh", 1},       TermInfo{Term::atanh, "atanh", 1},
    TermInfo{Term::sigmoid, "sigmoid", 1}, TermInfo{Term::erf, "erf", 1},
    TermInfo{Term::select, "select", 3},
};

/// Written as a call; the others have symbols.
bool is_function(const TermInfo& info) {
    return info.term == Term::max || info.term == Term::min || info.term >= Term::abs;
}

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

/// "x12" is input 12. The number of inputs, one more, must be an int too.
std::optional<int> input_index(std::string_view word) {
    if (word.size() < 2 || word[0] != 'x') return std::nullopt;
    if (std::isdigit(static_cast<unsigned char>(word[1])) == 0) return std::nullopt;
    int index = 0;
    const auto [end, failure] = std::from_chars(word.data() + 1, word.data() + word.size(), index);
    if (failure != std::errc() || end != word.data() + word.size()) return std::nullopt;
    if (index == std::numeric_limits<int>::max()) return std::nullopt;
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
        if (text_.size() > kMaximumExpressionBytes)
            fail(fmt::format("the text has {} bytes; at most {} are read", text_.size(),
                             kMaximumExpressionBytes));
        Expression result = comparison();
        skip_space();
        if (at_ < text_.size()) fail(fmt::format("expected an operator, not `{}`", text_[at_]));
        return result;
    }

  private:
    [[noreturn]] void fail(std::string what, std::string help = "") const {
        fail_at(at_, std::move(what), std::move(help));
    }
    [[noreturn]] void fail_at(std::size_t at, std::string what, std::string help = "") const {
        throw ExpressionError(text_, at + 1, std::move(what), std::move(help));
    }
    [[noreturn]] void fail_word(std::string_view word, std::size_t at) const {
        std::vector<std::string> known(names_);
        if (known.empty()) known.emplace_back("x");
        for (const TermInfo& info : kTerms)
            if (is_function(info)) known.emplace_back(info.name);
        const auto near = did_you_mean(word, known);
        fail_at(at, fmt::format("`{}` is neither an input nor a function", word),
                near ? fmt::format("did you mean `{}`?", *near)
                     : fmt::format("inputs and functions are {}", fmt::join(known, ", ")));
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

    bool accept(std::string_view symbol) {
        skip_space();
        if (!text_.substr(at_).starts_with(symbol)) return false;
        at_ += symbol.size();
        return true;
    }

    /// Less is greater with the sides exchanged.
    Expression comparison() {
        if (++depth_ > kMaximumExpressionDepth)
            fail(fmt::format("nested deeper than {}", kMaximumExpressionDepth));
        Expression left = sum();
        const auto compared = [&](Term term, bool exchanged) {
            Expression right = sum();
            if (exchanged) std::swap(left, right);
            return Expression::of(term, {std::move(left), std::move(right)});
        };
        if (accept(">="))
            left = compared(Term::ge, false);
        else if (accept("<="))
            left = compared(Term::ge, true);
        else if (accept("=="))
            left = compared(Term::eq, false);
        else if (accept("!="))
            left = Expression::of(Term::sub, {Expression::constant(1), compared(Term::eq, false)});
        else if (accept('>'))
            left = compared(Term::gt, false);
        else if (accept('<'))
            left = compared(Term::gt, true);
        --depth_;
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
        if (!accept('-')) return primary();
        if (++depth_ > kMaximumExpressionDepth)
            fail(fmt::format("nested deeper than {}", kMaximumExpressionDepth));
        Expression negated = Expression::of(Term::neg, {unary()});
        --depth_;
        return negated;
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
        if (!info || !is_function(*info)) fail_word(word, begin);
        if (!accept('(')) fail("expected `(`");
        std::vector<Expression> operands;
        do
            operands.push_back(comparison());
        while (accept(','));
        if (!accept(')')) fail("expected `)`");
        if (operands.size() != info->operands)
            fail_at(begin, fmt::format("`{}` takes {} operand{}, not {}", word, info->operands,
                                       info->operands == 1 ? "" : "s", operands.size()));
        return Expression::of(info->term, std::move(operands));
    }

    std::string_view text_;
    const std::vector<std::string>& names_;
    std::size_t at_ = 0;
    int depth_ = 0;
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

ExpressionError::ExpressionError(std::string_view text, std::size_t column, std::string reason,
                                 std::string help)
    : std::runtime_error(fmt::format("`{}`, column {}: {}", text, column, reason)),
      column_(column),
      reason_(std::move(reason)),
      help_(std::move(help)) {}

Expression parse_infix(std::string_view text, const std::vector<std::string>& names) {
    return InfixParser(text, names).run();
}

Expression parse_postfix(std::string_view text) {
    std::vector<Expression> stack;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string_view word = text.substr(at, end - at);
        const std::size_t begin = at;
        at = end + 1;
        if (word.empty()) continue;
        if (const auto index = input_index(word)) {
            stack.push_back(Expression::input_at(*index));
        } else if (const auto number = number_of(word)) {
            stack.push_back(Expression::constant(*number));
        } else {
            const TermInfo* info = find_term(word);
            if (!info)
                throw ExpressionError(text, begin + 1, fmt::format("`{}` is no operation", word));
            if (stack.size() < info->operands)
                throw ExpressionError(text, begin + 1, fmt::format("`{}` lacks operands", word));
            const auto first = stack.end() - static_cast<std::ptrdiff_t>(info->operands);
            std::vector<Expression> operands(std::make_move_iterator(first),
                                             std::make_move_iterator(stack.end()));
            stack.erase(first, stack.end());
            stack.push_back(Expression::of(info->term, std::move(operands)));
        }
    }
    if (stack.size() != 1)
        throw ExpressionError(text, text.size() + 1,
                              fmt::format("{} values are left, not one", stack.size()));
    return std::move(stack.front());
}

std::string to_postfix(const Expression& expression) {
    std::string text;
    write_postfix(expression, text);
    return text;
}

}  // namespace dtnn::compiler
