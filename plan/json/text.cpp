#include "plan/json/text.hpp"

#include <fmt/format.h>

#include <cmath>

namespace dtnn::plan {

namespace {

// The length of the valid UTF-8 sequence at the start of `text`, or 0 (Unicode 15, table 3-7).
std::size_t utf8_length(std::string_view text) {
    auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
        return i < text.size() && byte(i) >= low && byte(i) <= high;
    };
    unsigned first = byte(0);
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
        unsigned low = first == 0xE0 ? 0xA0 : 0x80, high = first == 0xED ? 0x9F : 0xBF;
        return follows(1, low, high) && follows(2) ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        unsigned low = first == 0xF0 ? 0x90 : 0x80, high = first == 0xF4 ? 0x8F : 0xBF;
        return follows(1, low, high) && follows(2) && follows(3) ? 4 : 0;
    }
    return 0;
}

// Stands for itself between quotes.
bool is_plain(char c) {
    return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
}

template <class T>
void append_list(std::string& out, const std::vector<T>& values) {
    out += '[';
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i) out += ", ";
        append_json(out, values[i]);
    }
    out += ']';
}

}  // namespace

void append_json(std::string& out, std::string_view text) {
    out += '"';
    for (std::size_t i = 0; i < text.size();) {
        char c = text[i];
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
        } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
            fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
            ++i;
        } else if (std::size_t length = utf8_length(text.substr(i))) {
            out.append(text, i, length);
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
    fmt::format_int digits(value);
    out.append(digits.data(), digits.size());
}

void append_json(std::string& out, std::uint64_t value) {
    fmt::format_int digits(value);
    out.append(digits.data(), digits.size());
}

void append_json(std::string& out, double value) {
    if (!std::isfinite(value)) {
        out += std::isnan(value) ? R"({"real": "nan"})"
               : value > 0       ? R"({"real": "inf"})"
                                 : R"({"real": "-inf"})";
        return;
    }
    std::string digits = fmt::format("{}", value);
    if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
    out += digits;
}

void append_json(std::string& out, const std::vector<std::int64_t>& values) {
    append_list(out, values);
}
void append_json(std::string& out, const std::vector<int>& values) {
    append_list(out, values);
}
void append_json(std::string& out, const std::vector<double>& values) {
    append_list(out, values);
}
void append_json(std::string& out, const std::vector<std::string>& values) {
    append_list(out, values);
}

void append_json(std::string& out, const AttributeValue& value) {
    std::visit([&](const auto& v) { append_json(out, v); }, value);
}

void append_json(std::string& out, const Attributes& attributes) {
    out += '{';
    const char* separator = "";
    for (const auto& [name, value] : attributes) {
        out += separator;
        append_json(out, name);
        out += ": ";
        append_json(out, value);
        separator = ", ";
    }
    out += '}';
}

}  // namespace dtnn::plan
