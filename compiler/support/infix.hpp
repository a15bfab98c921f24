#pragma once
/// Arithmetic as people write it: one tokenizer and one parser by precedence, for the `${...}` of
/// specs and for elementwise expressions. A language says which signs it has, and a reader what
/// each form means and how a mistake is worded, at once and in the order of the text.
///
///     choice  = chain [ "if" chain "else" choice ]         (where the language has choices)
///     chain   = unary { operator unary }                   by the operators' strength
///     unary   = "-" unary | power
///     power   = indexed [ "**" unary ]                     (where the language has powers)
///     indexed = primary { "[" choice "]" }                 (where the language has indices)
///     primary = number | 'text' | word | word "(" choice { "," choice } ")" | "(" choice ")"

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace dtnn::compiler {

struct InfixToken {
    enum class Kind { end, number, text, word, sign, unknown };
    Kind kind = Kind::end;
    std::string_view text;  ///< without the quotes of texts; of an unknown one its first byte
    std::size_t begin = 0, end = 0;

    /// Whether it is that sign or that word.
    bool is(std::string_view wanted) const {
        return (kind == Kind::sign || kind == Kind::word) && text == wanted;
    }
};

struct InfixOperator {
    std::string_view sign;
    int strength = 1;         ///< from 1; stronger ones take their operands first
    bool comparison = false;  ///< does not follow another one of its strength
};

struct InfixLanguage {
    std::span<const InfixOperator> operators;
    std::string_view blanks = " ";
    bool dots = false;         ///< in words, and at the beginning of numbers
    bool texts = false;        ///< 'text'
    bool choices = false;      ///< a if c else b
    bool powers = false;       ///< a ** b, which takes its operands before a sign does
    bool indices = false;      ///< a[b]
    bool empty_calls = false;  ///< f() is for the reader to judge
    bool calls_nest = false;   ///< a call is a level of its own, besides its operands
    int most_depth = 64;
};

/// The token that is wanted where something else stands.
enum class InfixWanted { value, close, comma_or_close, open, close_index, otherwise, end };

bool is_infix_digit(char c);
/// A letter or `_`.
bool starts_infix_word(char c);

/// The token behind the blanks at byte `at`; of what is in no language a byte, as `unknown`.
InfixToken next_infix_token(const InfixLanguage& language, std::string_view text, std::size_t at);

/// A reader has a type `Node` and
///
///     void look(const InfixToken&)                       a token has been read; may refuse it
///     Node number(token), text(token)
///     bool is_constant(token); Node constant(token)      words that are values, as `true`
///     bool is_keyword(token)                             words that are no names
///     void check_word(token)                             before what follows it is read
///     bool is_name(word, following)                      else it is a function
///     Node name(word, following)
///     void check_function(word)                          before its operands are read
///     Node call(word, operands, close)
///     Node group(open, node, close)                      in parentheses
///     Node negate(sign, node)
///     Node binary(sign, operator, left, right)
///     Node power(sign, base, exponent)                   where the language has powers
///     Node index(base, index, close)                     where the language has indices
///     Node choose(sign, condition, then, otherwise)
///     void compared_twice(sign)                          returns: the chain ends there
///     [[noreturn]] void unexpected(token, InfixWanted)
///     [[noreturn]] void too_deep(token, at)               at: what has been read up to there
template <class Reader>
class InfixParser {
  public:
    using Node = typename Reader::Node;

    InfixParser(const InfixLanguage& language, std::string_view text, std::size_t begin,
                Reader& reader)
        : language_(language), text_(text), reader_(reader), last_end_(begin) {
        token_ = next_infix_token(language_, text_, begin);
        reader_.look(token_);
    }

    bool at_end() const { return token_.kind == InfixToken::Kind::end; }
    const InfixToken& token() const { return token_; }

    /// All of the text.
    Node parse() {
        Node whole = choice();
        if (!at_end()) reader_.unexpected(token_, InfixWanted::end);
        return whole;
    }

  private:
    /// Counts the nesting while it lives.
    class Deeper {
      public:
        Deeper(InfixParser& parser, std::size_t at) : parser_(parser) {
            if (++parser_.depth_ > parser_.language_.most_depth)
                parser_.reader_.too_deep(parser_.token_, at);
        }
        ~Deeper() { --parser_.depth_; }
        Deeper(const Deeper&) = delete;
        Deeper& operator=(const Deeper&) = delete;

      private:
        InfixParser& parser_;
    };

    void advance() {
        last_end_ = token_.end;
        token_ = next_infix_token(language_, text_, token_.end);
        reader_.look(token_);
    }
    void want(std::string_view sign, InfixWanted wanted) {
        if (!token_.is(sign)) reader_.unexpected(token_, wanted);
    }

    const InfixOperator* found_operator() const {
        if (token_.kind != InfixToken::Kind::sign) return nullptr;
        for (const InfixOperator& one : language_.operators)
            if (one.sign == token_.text) return &one;
        return nullptr;
    }

    Node choice() {
        const Deeper deeper(*this, last_end_);
        Node then = chain(1);
        if (!language_.choices || !token_.is("if")) return then;
        const InfixToken sign = token_;
        advance();
        Node condition = chain(1);
        want("else", InfixWanted::otherwise);
        advance();
        Node otherwise = choice();
        return reader_.choose(sign, std::move(condition), std::move(then), std::move(otherwise));
    }

    Node chain(int strength) {
        Node left = unary();
        bool compared = false;
        for (const InfixOperator* found = found_operator(); found && found->strength >= strength;
             found = found_operator()) {
            if (found->comparison && compared) {
                reader_.compared_twice(token_);
                break;
            }
            compared = found->comparison;
            const InfixToken sign = token_;
            advance();
            Node right = chain(found->strength + 1);
            left = reader_.binary(sign, *found, std::move(left), std::move(right));
        }
        return left;
    }

    Node unary() {
        if (!token_.is("-")) return power();
        const Deeper deeper(*this, token_.end);
        const InfixToken sign = token_;
        advance();
        return reader_.negate(sign, unary());
    }

    Node power() {
        Node base = indexed();
        if constexpr (requires { &Reader::power; }) {
            if (language_.powers && token_.is("**")) {
                const Deeper deeper(*this, token_.end);
                const InfixToken sign = token_;
                advance();
                return reader_.power(sign, std::move(base), unary());
            }
        }
        return base;
    }

    Node indexed() {
        Node base = primary();
        if constexpr (requires { &Reader::index; }) {
            while (language_.indices && token_.is("[")) {
                const Deeper deeper(*this, token_.end);
                advance();
                Node index = choice();
                want("]", InfixWanted::close_index);
                base = reader_.index(std::move(base), std::move(index), token_);
                advance();
            }
        }
        return base;
    }

    Node primary() {
        const InfixToken first = token_;
        if (first.is("(")) {
            advance();
            Node inner = choice();
            want(")", InfixWanted::close);
            Node group = reader_.group(first, std::move(inner), token_);
            advance();
            return group;
        }
        if (first.kind == InfixToken::Kind::number) return leaf(reader_.number(first));
        if (first.kind == InfixToken::Kind::text) return leaf(reader_.text(first));
        if (first.kind != InfixToken::Kind::word) reader_.unexpected(first, InfixWanted::value);
        if (reader_.is_constant(first)) return leaf(reader_.constant(first));
        if (reader_.is_keyword(first)) reader_.unexpected(first, InfixWanted::value);
        reader_.check_word(first);
        advance();
        if (reader_.is_name(first, token_)) return reader_.name(first, token_);
        reader_.check_function(first);
        return call(first);
    }

    Node leaf(Node node) {
        advance();
        return node;
    }

    Node call(const InfixToken& word) {
        want("(", InfixWanted::open);
        advance();
        if (language_.calls_nest) {
            const Deeper deeper(*this, last_end_);
            return operands(word);
        }
        return operands(word);
    }

    Node operands(const InfixToken& word) {
        std::vector<Node> nodes;
        if (!language_.empty_calls || !token_.is(")")) {
            nodes.push_back(choice());
            while (token_.is(",")) {
                advance();
                nodes.push_back(choice());
            }
        }
        want(")", InfixWanted::comma_or_close);
        Node node = reader_.call(word, std::move(nodes), token_);
        advance();
        return node;
    }

    const InfixLanguage& language_;
    std::string_view text_;
    Reader& reader_;
    InfixToken token_;
    std::size_t last_end_;
    int depth_ = 0;
};

}  // namespace dtnn::compiler
