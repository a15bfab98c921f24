#include "compiler/ops/expression/parse_infix.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>

#include "base/text.hpp"
#include "compiler/support/diagnostics.hpp"
#include "compiler/support/infix.hpp"

namespace dtnn::compiler {
namespace {

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
        if (!info || info->form != TermForm::call) fail_word(word);
    }
    Expression call(const InfixToken& word, std::vector<Expression> operands,
                    const InfixToken&) const {
        const TermInfo& info = *find_term(word.text);
        if (operands.size() != std::size_t(info.operands))
            fail(word.begin, fmt::format("`{}` takes {}, not {}", word.text,
                                         count_text(info.operands, "operand"), operands.size()));
        if (info.term == Term::pow) return dtnn::power(operands[0], operands[1]);
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
        return dtnn::power(base, exponent);
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

}  // namespace

std::vector<std::string> expression_words() {
    std::vector<std::string> words{std::string(kWhere)};
    for (const TermInfo& info : term_infos())
        if (info.form == TermForm::call) words.emplace_back(info.name);
    return words;
}

Expression parse_infix(std::string_view text, const std::vector<std::string>& names) {
    ExpressionReader reader(text, names);
    if (text.size() > kMaximumExpressionBytes)
        reader.fail(0, fmt::format("the text has {} bytes; at most {} are read", text.size(),
                                   kMaximumExpressionBytes));
    return InfixParser<ExpressionReader>(kLanguage, text, 0, reader).parse();
}

}  // namespace dtnn::compiler
