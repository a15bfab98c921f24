// The parts of the `${...}` of specs, and how their mistakes are worded; the parser itself is
// support/infix.hpp. Bounded: by the length of an expression and by the depth of its nesting.

#include "compiler/frontend/formula/formula_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.hpp"
#include "compiler/frontend/formula/formula.hpp"
#include "compiler/support/infix.hpp"

namespace dtnn::compiler {
namespace {

using Kind = FormulaSymbol::Kind;

/// Thrown at the first mistake; caught by parse_formula_text.
struct Refused {
    FormulaText::Mistake mistake;
};

[[noreturn]] void fail(std::size_t begin, std::size_t end, std::string text, std::string help = "",
                       Code code = Code::expression_syntax) {
    throw Refused{{code, begin, std::max(end, begin + 1), std::move(text), std::move(help)}};
}

bool is_keyword(std::string_view word) {
    return word == "if" || word == "else" || word == "true" || word == "false";
}

/// The bytes of the UTF-8 character at `at`, so that none is shown in half.
std::size_t character_end(std::string_view text, std::size_t at) {
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U)
        ++at;
    return at;
}

constexpr std::array kOperators = {
    InfixOperator{"==", 1, true}, InfixOperator{"!=", 1, true}, InfixOperator{"<", 1, true},
    InfixOperator{"<=", 1, true}, InfixOperator{">", 1, true},  InfixOperator{">=", 1, true},
    InfixOperator{"+", 2},        InfixOperator{"-", 2},        InfixOperator{"*", 3},
    InfixOperator{"/", 3},        InfixOperator{"//", 3},       InfixOperator{"%", 3}};
constexpr InfixLanguage kLanguage{.operators = kOperators,
                                  .blanks = " \n",
                                  .dots = true,
                                  .texts = true,
                                  .choices = true,
                                  .powers = true,
                                  .indices = true,
                                  .empty_calls = true,
                                  .calls_nest = true,
                                  .most_depth = kMaximumFormulaDepth};

/// Makes symbols of what the parser finds.
class FormulaReader {
  public:
    using Node = int;

    /// `text` ends where the expression does.
    explicit FormulaReader(std::string_view text) : text_(text) {}

    Formula take() { return std::move(formula_); }

    void look(const InfixToken& token) const {
        if (token.kind == InfixToken::Kind::unknown) refuse(token.begin);
        if (token.kind == InfixToken::Kind::number) refuse_longer(token);
    }

    int number(const InfixToken& token) {
        FormulaSymbol one = symbol_at(token, Kind::integer);
        const std::string_view text = token.text;
        const char* const last = text.data() + text.size();
        if (text.find_first_of(".eE") == std::string_view::npos) {
            if (text.size() > 1 && text[0] == '0')
                fail(token.begin, token.end, fmt::format("`{}` has leading zeros", text));
            if (std::from_chars(text.data(), last, one.integer).ec != std::errc())
                fail(token.begin, token.end, fmt::format("{} does not fit 64 bits", text), "",
                     Code::number_overflow);
            return add(std::move(one));
        }
        one.kind = Kind::real;
        if (std::from_chars(text.data(), last, one.real).ec == std::errc::result_out_of_range) {
            // A number that is too small for a double is zero for every purpose.
            const std::size_t exponent = text.find_first_of("eE");
            if (exponent == std::string_view::npos || text[exponent + 1] != '-')
                fail(token.begin, token.end, fmt::format("{} does not fit a double", text), "",
                     Code::number_overflow);
            one.real = 0;
        }
        return add(std::move(one));
    }
    int text(const InfixToken& token) {
        FormulaSymbol one = symbol_at(token, Kind::text);
        one.word = token.text;
        return add(std::move(one));
    }

    static bool is_constant(const InfixToken& token) {
        return token.text == "true" || token.text == "false";
    }
    int constant(const InfixToken& token) {
        FormulaSymbol one = symbol_at(token, Kind::boolean);
        one.flag = token.text == "true";
        return add(std::move(one));
    }

    static bool is_keyword(const InfixToken& token) {
        return dtnn::compiler::is_keyword(token.text);
    }
    static void check_word(const InfixToken& word) {
        if (word.text.ends_with('.') || word.text.find("..") != std::string::npos)
            fail(word.begin, word.end, fmt::format("`{}` is no name", word.text));
    }
    static bool is_name(const InfixToken&, const InfixToken& following) {
        return !following.is("(");
    }
    int name(const InfixToken& word, const InfixToken& following) {
        const bool is_value = following.kind == InfixToken::Kind::number ||
                              following.kind == InfixToken::Kind::text ||
                              (following.kind == InfixToken::Kind::word && !is_keyword(following));
        if (is_value) unexpected(following, "an operator");
        FormulaSymbol one = symbol_at(word, Kind::name);
        one.word = word.text;
        return add(std::move(one));
    }

    static void check_function(const InfixToken& word) {
        const std::vector<std::string>& functions = formula_functions();
        if (std::find(functions.begin(), functions.end(), word.text) != functions.end()) return;
        const auto near = did_you_mean(word.text, functions);
        fail(word.begin, word.end, fmt::format("`{}` is no function of expressions", word.text),
             near ? fmt::format("did you mean `{}`?", *near)
                  : fmt::format("the functions are {}", fmt::join(functions, ", ")));
    }
    int call(const InfixToken& word, std::vector<int> operands, const InfixToken& close) {
        FormulaSymbol one = symbol_at(word, Kind::call);
        one.word = word.text;
        one.operands = std::move(operands);
        one.end = close.end;
        const std::size_t given = one.operands.size();
        const bool several = one.word == "min" || one.word == "max";
        if (several ? given < 2 : given != 1)
            fail(one.begin, one.end,
                 fmt::format("`{}` is given {}; it takes {}", one.word,
                             count_text(std::int64_t(given), "value"),
                             several ? "two or more" : "one"));
        return add(std::move(one));
    }

    /// The text of an operand in a message includes its parentheses.
    int group(const InfixToken& open, int node, const InfixToken& close) {
        FormulaSymbol& inner = formula_.symbols[std::size_t(node)];
        inner.begin = open.begin;
        inner.end = close.end;
        return node;
    }
    int negate(const InfixToken& sign, int node) {
        FormulaSymbol one = symbol_at(sign, Kind::negate);
        one.operands = {node};
        one.end = symbol(node).end;
        return add(std::move(one));
    }
    int binary(const InfixToken& sign, const InfixOperator& found, int left, int right) {
        FormulaSymbol one = symbol_at(sign, found.comparison ? Kind::comparison : Kind::binary);
        one.word = sign.text;
        one.operands = {left, right};
        one.begin = symbol(left).begin;
        one.end = symbol(right).end;
        return add(std::move(one));
    }
    int power(const InfixToken& sign, int base, int exponent) {
        return binary(sign, {}, base, exponent);
    }
    int index(int base, int place, const InfixToken& close) {
        FormulaSymbol one = symbol_at(close, Kind::index);
        one.word = "[]";
        one.operands = {base, place};
        one.begin = symbol(base).begin;
        return add(std::move(one));
    }
    int choose(const InfixToken& sign, int condition, int then, int otherwise) {
        FormulaSymbol one = symbol_at(sign, Kind::choice);
        one.operands = {condition, then, otherwise};
        one.begin = symbol(then).begin;
        one.end = symbol(otherwise).end;
        return add(std::move(one));
    }

    static void compared_twice(const InfixToken& sign) {
        fail(sign.begin, sign.end, "a comparison of a comparison", "compare two values at a time");
    }
    [[noreturn]] static void unexpected(const InfixToken& token, InfixWanted wanted) {
        switch (wanted) {
            case InfixWanted::value:
                unexpected(token, "a value");
            case InfixWanted::close:
                unexpected(token, "`)`");
            case InfixWanted::comma_or_close:
                unexpected(token, "`,` or `)`");
            case InfixWanted::open:
                unexpected(token, "`(`");
            case InfixWanted::close_index:
                unexpected(token, "`]`");
            case InfixWanted::otherwise:
                unexpected(token, "`else`");
            case InfixWanted::end:
                break;
        }
        unexpected(token, "an operator or the end");
    }
    [[noreturn]] static void too_deep(const InfixToken& token, std::size_t) {
        fail(token.begin, token.end,
             fmt::format("the expression is nested more than {} deep", kMaximumFormulaDepth));
    }

  private:
    static FormulaSymbol symbol_at(const InfixToken& token, Kind kind) {
        FormulaSymbol one;
        one.kind = kind;
        one.begin = one.word_at = token.begin;
        one.end = one.word_end = token.end;
        return one;
    }
    int add(FormulaSymbol symbol) {
        formula_.symbols.push_back(std::move(symbol));
        return int(formula_.symbols.size()) - 1;
    }
    const FormulaSymbol& symbol(int index) const { return formula_.symbols[std::size_t(index)]; }

    [[noreturn]] static void unexpected(const InfixToken& token, std::string_view wanted) {
        if (token.kind == InfixToken::Kind::end)
            fail(token.begin, token.end,
                 fmt::format("the expression ends where {} is wanted", wanted));
        std::string help;
        if (token.text == "and" || token.text == "or" || token.text == "not")
            help = fmt::format("there is no {}; write `a if c else b`", token.text);
        if (token.is("("))
            help = fmt::format("the functions are {}", fmt::join(formula_functions(), ", "));
        fail(token.begin, token.end,
             fmt::format("`{}` stands where {} is wanted", token.text, wanted), help);
    }

    /// Letters, or another point, that follow a number at once.
    void refuse_longer(const InfixToken& token) const {
        const auto goes_on = [&](std::size_t at) {
            return at < text_.size() && (starts_infix_word(text_[at]) || text_[at] == '.');
        };
        if (!goes_on(token.end)) return;
        std::size_t end = token.end;
        while (goes_on(end) || (end < text_.size() && is_infix_digit(text_[end])))
            ++end;
        fail(token.begin, end,
             fmt::format("`{}` is neither a number nor a name",
                         text_.substr(token.begin, end - token.begin)),
             "names begin with a letter");
    }

    /// Refuses what is no token.
    [[noreturn]] void refuse(std::size_t at) const {
        const char c = text_[at];
        if (c == '\'') fail(at, text_.size(), "a text that is never closed", "close it with '");
        const std::size_t end = character_end(text_, at);
        const std::string_view rest = text_.substr(at);
        const auto sign = [&](std::size_t length, const char* help) {
            fail(at, at + length,
                 fmt::format("`{}` is no sign of expressions", rest.substr(0, length)), help);
        };
        if (c == '=') fail(at, end, "`=` is no sign of expressions", "write == to compare");
        if (rest.starts_with("&&")) sign(2, "write `a if c else b`; there is no and");
        if (rest.starts_with("||")) sign(2, "write `a if c else b`; there is no or");
        if (c == '!') sign(1, "write `false if c else true`; there is no not");
        if (c == '?') sign(1, "write `a if c else b`");
        if (c == '"') sign(1, "write texts as 'text'");
        if (c == '^') fail(at, end, "`^` is no sign of expressions", "write ** for powers");
        if (c == '$') sign(1, "inside `${...}` names are written without `$`");
        fail(at, end, fmt::format("`{}` is no sign of expressions", rest.substr(0, end - at)));
    }

    std::string_view text_;
    Formula formula_;
};

/// The expression of `text` in [begin, end).
Formula parse_formula(std::string_view text, std::size_t begin, std::size_t end) {
    FormulaReader reader(text.substr(0, end));
    InfixParser<FormulaReader> parser(kLanguage, text.substr(0, end), begin, reader);
    if (parser.at_end())
        fail(begin - 2, end + 1, "an empty expression",
             "write a name or a number between ${ and }");
    parser.parse();
    return reader.take();
}

/// The end of the expression that begins behind `${`: its `}`, which no text hides.
std::size_t closing_brace(std::string_view text, std::size_t at) {
    for (; at < text.size(); ++at) {
        if (text[at] == '}') return at;
        if (text[at] != '\'') continue;
        const std::size_t close = text.find('\'', at + 1);
        if (close == std::string_view::npos) break;
        at = close;
    }
    // A text that is never closed is the nearer mistake, so the first brace ends the expression.
    return text.find('}', at);
}

}  // namespace

const std::vector<std::string>& formula_functions() {
    static const std::vector<std::string> names = {"min", "max", "round", "floor", "ceil"};
    return names;
}

FormulaText parse_formula_text(std::string_view text) {
    FormulaText result;
    try {
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t begin = std::min(text.find("${", at), text.size());
            if (begin > at) {
                FormulaText::Part literal;
                literal.text = text.substr(at, begin - at);
                literal.begin = at;
                literal.end = begin;
                result.parts.push_back(std::move(literal));
            }
            if (begin == text.size()) break;
            const std::size_t end = closing_brace(text, begin + 2);
            if (end == std::string_view::npos)
                fail(begin, begin + 2, "`${` is never closed", "close it with }");
            if (end - begin > kMaximumFormulaBytes)
                fail(begin, begin + 2,
                     fmt::format("the expression is longer than {} bytes", kMaximumFormulaBytes));
            FormulaText::Part part;
            part.formula = parse_formula(text, begin + 2, end);
            part.begin = begin;
            part.end = end + 1;
            result.parts.push_back(std::move(part));
            at = end + 1;
        }
    } catch (const Refused& stop) {
        result.mistake = stop.mistake;
    }
    return result;
}

}  // namespace dtnn::compiler
