#include "base/escape.hpp"

#include <charconv>
#include <system_error>

#include "base/utf8.hpp"

namespace dtnn {
namespace {

/// Line ends and tabs as spaces, and nothing that may not be shown as it is.
std::string on_one_line(std::string_view text) {
    constexpr std::string_view kSpaces = "\n\r\t";
    std::string line = shown(text, kSpaces);
    for (char& c : line)
        if (kSpaces.find(c) != std::string_view::npos) c = ' ';
    return line;
}

bool is_number(const std::string& text) {
    double ignored = 0;
    const char* const begin =
        text.c_str() + (text.starts_with('+') && !text.starts_with("+-") ? 1 : 0);
    const char* const end = text.c_str() + text.size();
    const auto [stop, error] = std::from_chars(begin, end, ignored);
    return stop == end && error != std::errc::invalid_argument;
}

/// A letter or digit of ASCII, or a byte of a longer character.
bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

std::string html_escaped(std::string_view text) {
    std::string result;
    for (const char c : on_one_line(text)) {
        switch (c) {
            case '&':
                result += "&amp;";
                break;
            case '<':
                result += "&lt;";
                break;
            case '>':
                result += "&gt;";
                break;
            case '"':
                result += "&quot;";
                break;
            case '\'':
                result += "&#39;";
                break;
            default:
                result += c;
        }
    }
    return result;
}

std::string dot_escaped(std::string_view text) {
    std::string result;
    for (const char c : on_one_line(text)) {
        if (c == '"' || c == '\\') result += '\\';
        result += c;
    }
    return result;
}

std::string markdown_escaped(std::string_view cell) {
    const std::string text = on_one_line(cell);
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        // An underscore within a word is only itself (CommonMark 6.2), and names are full of them.
        const bool within_word =
            i > 0 && i + 1 < text.size() && is_word(text[i - 1]) && is_word(text[i + 1]);
        if (std::string_view("\\`*[]<>|~&").find(c) != std::string_view::npos ||
            (c == '_' && !within_word))
            result += '\\';
        result += c;
    }
    return result;
}

std::string csv_quoted(std::string_view cell) {
    std::string text = shown(cell);
    if (text.find_first_of("=+-@") == 0 && !is_number(text)) text.insert(0, 1, '\'');
    if (text.find_first_of(",\"") == std::string::npos) return text;
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"') result += '"';
        result += c;
    }
    return result + '"';
}

std::string shell_quoted(std::string_view text) {
    std::string result = "'";
    for (const char c : text) {
        if (c == '\'')
            result += "'\\''";
        else
            result += c;
    }
    return result + '\'';
}

}  // namespace dtnn
