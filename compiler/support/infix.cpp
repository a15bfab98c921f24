#include "compiler/support/infix.hpp"

namespace dtnn::compiler {

bool is_infix_digit(char c) {
    return c >= '0' && c <= '9';
}
bool starts_infix_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

namespace {

/// Digits, a point, an exponent: where the number that begins at `at` ends.
std::size_t number_end(std::string_view text, std::size_t at) {
    const auto digits = [&] {
        while (at < text.size() && is_infix_digit(text[at]))
            ++at;
    };
    digits();
    if (at < text.size() && text[at] == '.') {
        ++at;
        digits();
    }
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        std::size_t exponent = at + 1;
        if (exponent < text.size() && (text[exponent] == '+' || text[exponent] == '-')) ++exponent;
        if (exponent < text.size() && is_infix_digit(text[exponent])) {
            at = exponent;
            digits();
        }
    }
    return at;
}

/// The longest sign that stands at the beginning of the text; empty: none.
std::string_view leading_sign(const InfixLanguage& language, std::string_view text) {
    std::string_view longest;
    for (const std::string_view sign : {"-", "(", ")", ","})
        if (text.starts_with(sign)) longest = sign;
    for (const std::string_view sign : {"[", "]"})
        if (language.indices && text.starts_with(sign)) longest = sign;
    if (language.powers && text.starts_with("**")) longest = "**";
    for (const InfixOperator& one : language.operators)
        if (one.sign.size() > longest.size() && text.starts_with(one.sign)) longest = one.sign;
    return longest;
}

}  // namespace

InfixToken next_infix_token(const InfixLanguage& language, std::string_view text, std::size_t at) {
    using Kind = InfixToken::Kind;
    while (at < text.size() && language.blanks.find(text[at]) != std::string_view::npos)
        ++at;
    if (at >= text.size()) return {Kind::end, {}, text.size(), text.size()};
    const auto take = [&](Kind kind, std::size_t end) {
        return InfixToken{kind, text.substr(at, end - at), at, end};
    };
    const char c = text[at];
    const bool leading_dot =
        language.dots && c == '.' && at + 1 < text.size() && is_infix_digit(text[at + 1]);
    if (is_infix_digit(c) || leading_dot) return take(Kind::number, number_end(text, at));
    if (starts_infix_word(c)) {
        std::size_t end = at;
        while (end < text.size() && (starts_infix_word(text[end]) || is_infix_digit(text[end]) ||
                                     (language.dots && text[end] == '.')))
            ++end;
        return take(Kind::word, end);
    }
    if (language.texts && c == '\'') {
        const std::size_t close = text.find('\'', at + 1);
        if (close == std::string_view::npos) return take(Kind::unknown, at + 1);
        return {Kind::text, text.substr(at + 1, close - at - 1), at, close + 1};
    }
    const std::string_view sign = leading_sign(language, text.substr(at));
    return sign.empty() ? take(Kind::unknown, at + 1) : take(Kind::sign, at + sign.size());
}

}  // namespace dtnn::compiler
