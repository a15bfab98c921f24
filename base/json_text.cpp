#include "base/json_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "base/text.hpp"
#include "base/utf8.hpp"

namespace dtnn {
namespace {

/// Stands for itself between quotes.
bool is_plain(char c) {
    return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
}

}  // namespace

void append_json(std::string& out, std::string_view text) {
    out += '"';
    for (std::size_t i = 0; i < text.size();) {
        const char c = text[i];
        std::size_t plain = i;
        while (plain < text.size() && is_plain(text[plain]))
            ++plain;
        if (plain > i) {
            out.append(text, i, plain - i);
            i = plain;
            continue;
        }
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
            ++i;
        } else if (c == '\n') {
            out += "\\n";
            ++i;
        } else if (const std::size_t length = utf8_length(text.substr(i))) {
            const std::string_view rest = text.substr(i);
            if (shown_length(rest) > 0)
                out.append(rest, 0, length);
            else
                fmt::format_to(std::back_inserter(out), "\\u{:04x}", code_point(rest, length));
            i += length;
        } else {
            out += "\xEF\xBF\xBD";
            ++i;
        }
    }
    out += '"';
}

void append_json(std::string& out, const std::string& text) {
    append_json(out, std::string_view(text));
}

void append_json(std::string& out, const char* text) {
    append_json(out, std::string_view(text));
}

void append_json(std::string& out, bool value) {
    out += value ? "true" : "false";
}

void append_json(std::string& out, int value) {
    append_json(out, std::int64_t{value});
}

void append_json(std::string& out, std::int64_t value) {
    const fmt::format_int digits(value);
    out.append(digits.data(), digits.size());
}

void append_json(std::string& out, std::uint64_t value) {
    const fmt::format_int digits(value);
    out.append(digits.data(), digits.size());
}

void append_json(std::string& out, double value) {
    if (std::isfinite(value))
        out += real_text(value);
    else
        out += std::isnan(value) ? R"({"real": "nan"})"
               : value > 0       ? R"({"real": "inf"})"
                                 : R"({"real": "-inf"})";
}

}  // namespace dtnn
