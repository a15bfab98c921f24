// A tokenizer and a precedence-climbing parser, both bounded: by the length of an expression and by
// the depth of its nesting.

#include "compiler/frontend/formula/formula_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "compiler/frontend/formula/formula.hpp"

namespace dtnn::compiler {
namespace {

using Kind = FormulaSymbol::Kind;

struct Token {
    enum class Kind { end, number, text, word, sign };
    Kind kind = Kind::end;
    std::string_view text;  ///< without the quotes of texts
    std::size_t begin = 0, end = 0;
};

/// Thrown at the first mistake; caught by parse_formula_text.
struct Refused {
    FormulaText::Mistake mistake;
};

[[noreturn]] void fail(std::size_t begin, std::size_t end, std::string text, std::string help = "",
                       Code code = Code::expression_syntax) {
    throw Refused{{code, begin, std::max(end, begin + 1), std::move(text), std::move(help)}};
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool starts_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
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

class Tokenizer {
  public:
    /// Reads the expression of `text` in [begin, end).
    Tokenizer(std::string_view text, std::size_t begin, std::size_t end)
        : text_(text.substr(0, end)), at_(begin) {}

    Token next() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n'))
            ++at_;
        if (at_ >= text_.size()) return {Token::Kind::end, {}, text_.size(), text_.size()};
        const char c = text_[at_];
        if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1])))
            return number();
        if (starts_name(c)) {
            std::size_t end = at_;
            while (end < text_.size() &&
                   (starts_name(text_[end]) || is_digit(text_[end]) || text_[end] == '.'))
                ++end;
            return take(Token::Kind::word, end);
        }
        if (c == '\'') {
            const std::size_t close = text_.find('\'', at_ + 1);
            if (close == std::string_view::npos)
                fail(at_, text_.size(), "a text that is never closed", "close it with '");
            Token token = take(Token::Kind::text, close + 1);
            token.text = token.text.substr(1, token.text.size() - 2);
            return token;
        }
        for (const std::string_view sign :
             {"//", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "<", ">", "(", ")", ","}) {
            if (!text_.substr(at_).starts_with(sign)) continue;
            if (text_.substr(at_).starts_with("**"))
                fail(at_, at_ + 2, "expressions have no powers", "multiply");
            return take(Token::Kind::sign, at_ + sign.size());
        }
        refuse(c);
    }

  private:
    Token take(Token::Kind kind, std::size_t end) {
        Token token{kind, text_.substr(at_, end - at_), at_, end};
        at_ = end;
        return token;
    }

    Token number() {
        std::size_t end = at_;
        const auto digits = [&] {
            while (end < text_.size() && is_digit(text_[end]))
                ++end;
        };
        digits();
        if (end < text_.size() && text_[end] == '.') {
            ++end;
            digits();
        }
        if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
            std::size_t exponent = end + 1;
            if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-'))
                ++exponent;
            if (exponent < text_.size() && is_digit(text_[exponent])) {
                end = exponent;
                digits();
            }
        }
        if (end < text_.size() && (starts_name(text_[end]) || text_[end] == '.')) {
            const std::size_t begin = at_;
            while (end < text_.size() &&
                   (starts_name(text_[end]) || is_digit(text_[end]) || text_[end] == '.'))
                ++end;
            fail(begin, end,
                 fmt::format("`{}` is neither a number nor a name",
                             text_.substr(begin, end - begin)),
                 "names begin with a letter");
        }
        return take(Token::Kind::number, end);
    }

    [[noreturn]] void refuse(char c) {
        const std::size_t end = character_end(text_, at_);
        const std::string_view rest = text_.substr(at_);
        const auto sign = [&](std::size_t length, const char* help) {
            fail(at_, at_ + length,
                 fmt::format("`{}` is no sign of expressions", rest.substr(0, length)), help);
        };
        if (c == '=') fail(at_, end, "`=` is no sign of expressions", "write == to compare");
        if (rest.starts_with("&&")) sign(2, "write `a if c else b`; there is no and");
        if (rest.starts_with("||")) sign(2, "write `a if c else b`; there is no or");
        if (c == '!') sign(1, "write `false if c else true`; there is no not");
        if (c == '?') sign(1, "write `a if c else b`");
        if (c == '"') sign(1, "write texts as 'text'");
        if (c == '^') fail(at_, end, "expressions have no powers", "multiply");
        if (c == '$') sign(1, "inside `${...}` names are written without `$`");
        fail(at_, end, fmt::format("`{}` is no sign of expressions", rest.substr(0, end - at_)));
    }

    std::string_view text_;
    std::size_t at_;
};

struct Infix {
    std::string_view sign;
    int strength;  ///< stronger ones bind their operands first
    Kind kind;
};
constexpr std::array<Infix, 11> kInfix = {{{"==", 1, Kind::comparison},
                                           {"!=", 1, Kind::comparison},
                                           {"<", 1, Kind::comparison},
                                           {"<=", 1, Kind::comparison},
                                           {">", 1, Kind::comparison},
                                           {">=", 1, Kind::comparison},
                                           {"+", 2, Kind::binary},
                                           {"-", 2, Kind::binary},
                                           {"*", 3, Kind::binary},
                                           {"/", 3, Kind::binary},
                                           {"//", 3, Kind::binary}}};
constexpr Infix kRemainder = {"%", 3, Kind::binary};

const Infix* find_infix(const Token& token) {
    if (token.kind != Token::Kind::sign) return nullptr;
    if (token.text == kRemainder.sign) return &kRemainder;
    for (const Infix& infix : kInfix)
        if (infix.sign == token.text) return &infix;
    return nullptr;
}

class Parser {
  public:
    Parser(std::string_view text, std::size_t begin, std::size_t end)
        : tokens_(text, begin, end), whole_begin_(begin) {
        token_ = tokens_.next();
    }

    Formula parse() {
        if (token_.kind == Token::Kind::end)
            fail(whole_begin_ - 2, token_.end + 1, "an empty expression",
                 "write a name or a number between ${ and }");
        choice();
        if (token_.kind != Token::Kind::end) unexpected("an operator or the end");
        return std::move(formula_);
    }

  private:
    /// Counts the nesting while it lives.
    class Deeper {
      public:
        explicit Deeper(Parser& parser) : parser_(parser) {
            if (++parser_.depth_ > kMaximumFormulaDepth)
                fail(parser_.token_.begin, parser_.token_.end,
                     fmt::format("the expression is nested more than {} deep",
                                 kMaximumFormulaDepth));
        }
        ~Deeper() { --parser_.depth_; }
        Deeper(const Deeper&) = delete;
        Deeper& operator=(const Deeper&) = delete;

      private:
        Parser& parser_;
    };

    void advance() { token_ = tokens_.next(); }
    bool at(std::string_view text) const {
        return (token_.kind == Token::Kind::sign || token_.kind == Token::Kind::word) &&
               token_.text == text;
    }

    [[noreturn]] void unexpected(std::string_view wanted) {
        if (token_.kind == Token::Kind::end)
            fail(token_.begin, token_.end,
                 fmt::format("the expression ends where {} is wanted", wanted));
        std::string help;
        if (token_.text == "and" || token_.text == "or" || token_.text == "not")
            help = fmt::format("there is no {}; write `a if c else b`", token_.text);
        if (at("("))
            help = fmt::format("the functions are {}", fmt::join(formula_functions(), ", "));
        fail(token_.begin, token_.end,
             fmt::format("`{}` stands where {} is wanted", token_.text, wanted), help);
    }

    int add(FormulaSymbol symbol) {
        formula_.symbols.push_back(std::move(symbol));
        return static_cast<int>(formula_.symbols.size()) - 1;
    }
    const FormulaSymbol& symbol(int index) const {
        return formula_.symbols[static_cast<std::size_t>(index)];
    }

    int choice() {
        const Deeper deeper(*this);
        const int then = infix(1);
        if (!at("if")) return then;
        FormulaSymbol one;
        one.kind = Kind::choice;
        one.word_at = token_.begin;
        one.word_end = token_.end;
        advance();
        const int condition = infix(1);
        if (!at("else")) unexpected("`else`");
        advance();
        const int otherwise = choice();
        one.operands = {condition, then, otherwise};
        one.begin = symbol(then).begin;
        one.end = symbol(otherwise).end;
        return add(std::move(one));
    }

    int infix(int strength) {
        int left = unary();
        bool compared = false;
        for (const Infix* found = find_infix(token_); found && found->strength >= strength;
             found = find_infix(token_)) {
            if (found->kind == Kind::comparison && compared)
                fail(token_.begin, token_.end, "a comparison of a comparison",
                     "compare two values at a time");
            compared = found->kind == Kind::comparison;
            FormulaSymbol one;
            one.kind = found->kind;
            one.word = token_.text;
            one.word_at = token_.begin;
            one.word_end = token_.end;
            advance();
            const int right = infix(found->strength + 1);
            one.operands = {left, right};
            one.begin = symbol(left).begin;
            one.end = symbol(right).end;
            left = add(std::move(one));
        }
        return left;
    }

    int unary() {
        if (!at("-")) return primary();
        const Deeper deeper(*this);
        FormulaSymbol one;
        one.kind = Kind::negate;
        one.begin = one.word_at = token_.begin;
        one.word_end = token_.end;
        advance();
        one.operands = {unary()};
        one.end = symbol(one.operands[0]).end;
        return add(std::move(one));
    }

    int primary() {
        FormulaSymbol one;
        one.begin = one.word_at = token_.begin;
        one.end = one.word_end = token_.end;
        if (at("(")) {
            advance();
            const int inner = choice();
            if (!at(")")) unexpected("`)`");
            // The text of an operand in a message includes its parentheses.
            formula_.symbols[static_cast<std::size_t>(inner)].begin = one.begin;
            formula_.symbols[static_cast<std::size_t>(inner)].end = token_.end;
            advance();
            return inner;
        }
        if (token_.kind == Token::Kind::number) {
            number(one);
        } else if (token_.kind == Token::Kind::text) {
            one.kind = Kind::text;
            one.word = token_.text;
        } else if (at("true") || at("false")) {
            one.kind = Kind::boolean;
            one.flag = token_.text == "true";
        } else if (token_.kind == Token::Kind::word && !is_keyword(token_.text)) {
            return name(std::move(one));
        } else {
            unexpected("a value");
        }
        advance();
        return add(std::move(one));
    }

    void number(FormulaSymbol& one) {
        const std::string_view text = token_.text;
        if (text.find_first_of(".eE") == std::string_view::npos) {
            if (text.size() > 1 && text[0] == '0')
                fail(token_.begin, token_.end, fmt::format("`{}` has leading zeros", text));
            const auto [end, error] =
                std::from_chars(text.data(), text.data() + text.size(), one.integer);
            if (error != std::errc())
                fail(token_.begin, token_.end, fmt::format("{} does not fit 64 bits", text), "",
                     Code::number_overflow);
            return;
        }
        one.kind = Kind::real;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), one.real);
        if (error == std::errc::result_out_of_range) {
            // What is too small for a double is zero for every purpose.
            const std::size_t exponent = text.find_first_of("eE");
            if (exponent == std::string_view::npos || text[exponent + 1] != '-')
                fail(token_.begin, token_.end, fmt::format("{} does not fit a double", text), "",
                     Code::number_overflow);
            one.real = 0;
        }
    }

    int name(FormulaSymbol one) {
        one.word = token_.text;
        if (one.word.ends_with('.') || one.word.find("..") != std::string::npos)
            fail(token_.begin, token_.end, fmt::format("`{}` is no name", one.word));
        advance();
        if (!at("(")) {
            one.kind = Kind::name;
            if (token_.kind == Token::Kind::word || token_.kind == Token::Kind::number ||
                token_.kind == Token::Kind::text) {
                if (!is_keyword(token_.text) || token_.kind != Token::Kind::word)
                    unexpected("an operator");
            }
            return add(std::move(one));
        }
        const std::vector<std::string>& functions = formula_functions();
        if (std::find(functions.begin(), functions.end(), one.word) == functions.end()) {
            const auto near = did_you_mean(one.word, functions);
            fail(one.begin, one.end, fmt::format("`{}` is no function of expressions", one.word),
                 near ? fmt::format("did you mean `{}`?", *near)
                      : fmt::format("the functions are {}", fmt::join(functions, ", ")));
        }
        one.kind = Kind::call;
        advance();
        const Deeper deeper(*this);
        if (!at(")")) {
            one.operands.push_back(choice());
            while (at(",")) {
                advance();
                one.operands.push_back(choice());
            }
        }
        if (!at(")")) unexpected("`,` or `)`");
        one.end = token_.end;
        const bool several = one.word == "min" || one.word == "max";
        if (several ? one.operands.size() < 2 : one.operands.size() != 1)
            fail(one.begin, one.end,
                 fmt::format("`{}` is given {} value{}; it takes {}", one.word, one.operands.size(),
                             one.operands.size() == 1 ? "" : "s", several ? "two or more" : "one"));
        advance();
        return add(std::move(one));
    }

    Tokenizer tokens_;
    Token token_;
    Formula formula_;
    std::size_t whole_begin_;
    int depth_ = 0;
};

/// Where the expression that begins behind `${` ends: its `}`, which no text hides.
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
            part.formula = Parser(text, begin + 2, end).parse();
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
