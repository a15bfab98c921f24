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
#include "compiler/support/infix.hpp"

namespace dtnn::compiler {
namespace {

enum class Form { sign, call };

struct TermInfo {
    Term term;
    std::string_view name;
    std::size_t operands;
    Form form;
};
constexpr std::array kTerms = {
#define DTNN_TERM(name, operands, form, value) TermInfo{Term::name, #name, operands, Form::form},
#include "kernels/terms.def"
#undef DTNN_TERM
};

/// What others call select.
constexpr std::string_view kWhere = "where";

bool is_function(const TermInfo& info) {
    return info.form == Form::call;
}

const TermInfo* find_term(std::string_view name) {
    if (name == kWhere) name = "select";
    for (const TermInfo& info : kTerms)
        if (info.name == name) return &info;
    return nullptr;
}

std::string_view term_name(Term term) {
    for (const TermInfo& info : kTerms)
        if (info.term == term) return info.name;
    return "?";
}

/// "x12" is input 12, and "c12" where `letter` is c. The number of inputs, one more, must be an int
/// too.
std::optional<int> input_index(std::string_view word, char letter = 'x') {
    if (word.size() < 2 || word[0] != letter) return std::nullopt;
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

constexpr std::array kOperators = {InfixOperator{">", 1, true},  InfixOperator{">=", 1, true},
                                   InfixOperator{"<", 1, true},  InfixOperator{"<=", 1, true},
                                   InfixOperator{"==", 1, true}, InfixOperator{"!=", 1, true},
                                   InfixOperator{"+", 2},        InfixOperator{"-", 2},
                                   InfixOperator{"*", 3},        InfixOperator{"/", 3}};
constexpr InfixLanguage kLanguage{
    .operators = kOperators, .powers = true, .most_depth = kMaximumExpressionDepth};

/// Makes a tree of what the parser finds.
class ExpressionReader {
  public:
    using Node = Expression;

    ExpressionReader(std::string_view text, const std::vector<std::string>& names)
        : text_(text), names_(names) {}

    [[noreturn]] void fail(std::size_t at, std::string what, std::string help = "") const {
        throw ExpressionError(text_, at + 1, std::move(what), std::move(help));
    }

    static void look(const InfixToken&) {}

    Expression number(const InfixToken& token) const {
        const auto number = number_of(token.text);
        if (!number) fail(token.begin, "expected a number");
        return Expression::constant(*number);
    }
    Expression text(const InfixToken& token) const { unexpected(token, InfixWanted::value); }
    static bool is_constant(const InfixToken&) { return false; }
    Expression constant(const InfixToken& token) const { unexpected(token, InfixWanted::value); }
    static bool is_keyword(const InfixToken&) { return false; }
    static void check_word(const InfixToken&) {}

    bool is_name(const InfixToken& word, const InfixToken&) const {
        return input_of(word.text).has_value();
    }
    Expression name(const InfixToken& word, const InfixToken&) const {
        return Expression::input_at(*input_of(word.text));
    }
    void check_function(const InfixToken& word) const {
        const TermInfo* info = find_term(word.text);
        if (!info || !is_function(*info)) fail_word(word);
    }
    Expression call(const InfixToken& word, std::vector<Expression> operands,
                    const InfixToken&) const {
        const TermInfo& info = *find_term(word.text);
        if (operands.size() != info.operands)
            fail(word.begin,
                 fmt::format("`{}` takes {} operand{}, not {}", word.text, info.operands,
                             info.operands == 1 ? "" : "s", operands.size()));
        return Expression::of(info.term, std::move(operands));
    }

    static Expression group(const InfixToken&, Expression inside, const InfixToken&) {
        return inside;
    }
    static Expression negate(const InfixToken&, Expression operand) {
        return Expression::of(Term::neg, {std::move(operand)});
    }
    /// Less is greater with the sides exchanged.
    static Expression binary(const InfixToken& sign, const InfixOperator&, Expression left,
                             Expression right) {
        const auto of = [&](Term term) {
            return Expression::of(term, {std::move(left), std::move(right)});
        };
        if (sign.text.starts_with('<')) std::swap(left, right);
        if (sign.text == "+") return of(Term::add);
        if (sign.text == "-") return of(Term::sub);
        if (sign.text == "*") return of(Term::mul);
        if (sign.text == "/") return of(Term::div);
        if (sign.text == ">" || sign.text == "<") return of(Term::gt);
        if (sign.text == ">=" || sign.text == "<=") return of(Term::ge);
        if (sign.text == "==") return of(Term::eq);
        return Expression::of(Term::sub, {Expression::constant(1), of(Term::eq)});
    }
    static Expression power(const InfixToken&, Expression base, Expression exponent) {
        return Expression::of(Term::pow, {std::move(base), std::move(exponent)});
    }
    static Expression choose(const InfixToken&, const Expression&, Expression then,
                             const Expression&) {
        return then;  // the language has no choices
    }

    static void compared_twice(const InfixToken&) {}
    [[noreturn]] void unexpected(const InfixToken& token, InfixWanted wanted) const {
        if (wanted == InfixWanted::value)
            fail(token.begin, "expected a number, an input or a function");
        if (wanted == InfixWanted::open) fail(token.begin, "expected `(`");
        if (wanted == InfixWanted::end)
            fail(token.begin, fmt::format("expected an operator, not `{}`", text_[token.begin]),
                 token.is("if") || text_[token.begin] == '?' ? "write where(condition, then, else)"
                 : text_[token.begin] == '^'                 ? "a power is written x ** 2"
                 : token.is("and") || token.is("or")
                     ? "multiply comparisons, which are 1 or 0, or take the larger one"
                     : "");
        fail(token.begin, "expected `)`");
    }
    [[noreturn]] void too_deep(const InfixToken&, std::size_t at) const {
        fail(at, fmt::format("nested deeper than {}", kMaximumExpressionDepth));
    }

  private:
    std::optional<int> input_of(std::string_view word) const {
        for (std::size_t i = 0; i < names_.size(); ++i)
            if (names_[i] == word) return int(i);
        if (!names_.empty()) return std::nullopt;
        return word == "x" ? 0 : input_index(word);
    }
    [[noreturn]] void fail_word(const InfixToken& word) const {
        std::vector<std::string> known(names_);
        if (known.empty()) known.emplace_back("x");
        for (std::string& function : expression_words())
            known.push_back(std::move(function));
        const auto near = did_you_mean(word.text, known);
        fail(word.begin, fmt::format("`{}` is neither an input nor a function", word.text),
             near ? fmt::format("did you mean `{}`?", *near)
                  : fmt::format("inputs and functions are {}", fmt::join(known, ", ")));
    }

    std::string_view text_;
    const std::vector<std::string>& names_;
};

void write_postfix(const Expression& e, std::string& text) {
    for (const Expression& operand : e.operands)
        write_postfix(operand, text);
    if (!text.empty()) text += ' ';
    if (e.term == Term::input)
        text += fmt::format("{}{}", e.by_channel ? 'c' : 'x', e.index);
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

std::vector<std::string> expression_words() {
    std::vector<std::string> words{std::string(kWhere)};
    for (const TermInfo& info : kTerms)
        if (is_function(info)) words.emplace_back(info.name);
    return words;
}

Expression parse_infix(std::string_view text, const std::vector<std::string>& names) {
    ExpressionReader reader(text, names);
    if (text.size() > kMaximumExpressionBytes)
        reader.fail(0, fmt::format("the text has {} bytes; at most {} are read", text.size(),
                                   kMaximumExpressionBytes));
    return InfixParser<ExpressionReader>(kLanguage, text, 0, reader).parse();
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
        } else if (const auto channel = input_index(word, 'c')) {
            stack.push_back(Expression::channel_input_at(*channel));
        } else if (const auto number = number_of(word)) {
            stack.push_back(Expression::constant(*number));
        } else {
            const TermInfo* info = find_term(word);
            if (!info)
                throw ExpressionError(text, begin + 1, fmt::format("`{}` is no operation", word));
            if (stack.size() < info->operands)
                throw ExpressionError(text, begin + 1, fmt::format("`{}` lacks operands", word));
            const auto first = stack.end() - std::ptrdiff_t(info->operands);
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
