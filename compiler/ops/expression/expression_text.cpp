/// The two text forms of expressions.

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>

#include "base/text.hpp"
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
                 fmt::format("`{}` takes {}, not {}", word.text,
                             count_text(std::int64_t(info.operands), "operand"), operands.size()));
        if (info.term == Term::pow) return compiler::power(operands[0], operands[1]);
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
    static Expression power(const InfixToken&, const Expression& base, const Expression& exponent) {
        return compiler::power(base, exponent);
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

/// How tightly the written form holds together: 1 comparisons, 2 sums, 3 products, 4 signs, 5
/// powers, 6 the rest.
int strength(const Expression& e) {
    switch (e.term) {
        case Term::gt:
        case Term::ge:
        case Term::eq:
            return 1;
        case Term::add:
        case Term::sub:
            return 2;
        case Term::mul:
        case Term::div:
            return 3;
        case Term::neg:
            return 4;
        case Term::square:
        case Term::pow:
            return 5;
        case Term::number:
            return std::signbit(e.number) ? 4 : 6;
        default:
            return 6;
    }
}

std::string_view sign_of(Term term) {
    switch (term) {
        case Term::gt:
            return ">";
        case Term::ge:
            return ">=";
        case Term::eq:
            return "==";
        case Term::add:
            return "+";
        case Term::sub:
            return "-";
        case Term::mul:
            return "*";
        case Term::div:
            return "/";
        default:
            return "";
    }
}

std::string infix_of(const Expression& e, const std::vector<std::string>& names) {
    const auto part = [&](std::size_t i, int least) {
        const std::string text = infix_of(e.operands[i], names);
        return strength(e.operands[i]) < least ? "(" + text + ")" : text;
    };
    if (e.term == Term::number) return fmt::format("{}", e.number);
    if (e.term == Term::input)
        return std::size_t(e.index) < names.size() ? names[std::size_t(e.index)]
                                                   : fmt::format("x{}", e.index);
    if (const std::string_view sign = sign_of(e.term); !sign.empty()) {
        const int own = strength(e);
        // A comparison stands alone; what is left of a sign may be as strong as it.
        return fmt::format("{} {} {}", part(0, own == 1 ? 2 : own), sign, part(1, own + 1));
    }
    if (e.term == Term::neg) return "-" + part(0, 4);
    if (e.term == Term::square) return part(0, 6) + " ** 2";
    if (e.term == Term::pow) return part(0, 6) + " ** " + part(1, 5);
    std::string operands;
    for (std::size_t i = 0; i < e.operands.size(); ++i)
        operands += (i > 0 ? ", " : "") + part(i, 0);
    return fmt::format("{}({})", e.term == Term::select ? kWhere : term_name(e.term), operands);
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

std::string to_infix(const Expression& expression, const std::vector<std::string>& names) {
    return infix_of(expression, names);
}

std::string to_postfix(const Expression& expression) {
    std::string text;
    write_postfix(expression, text);
    return text;
}

}  // namespace dtnn::compiler
