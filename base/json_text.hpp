#pragma once
/// JSON text, written piece by piece. Deterministic: equal values give equal bytes.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dtnn {

/// A string in its quotes, with escapes for all that shown() of utf8.hpp would change, so that JSON
/// text is the same on a terminal. Bytes that are not UTF-8 become U+FFFD, because JSON text must
/// be UTF-8.
void append_json(std::string& out, std::string_view text);
void append_json(std::string& out, const std::string& text);
void append_json(std::string& out, const char* text);
void append_json(std::string& out, bool value);
void append_json(std::string& out, int value);
void append_json(std::string& out, std::int64_t value);
void append_json(std::string& out, std::uint64_t value);
/// The shortest digits that read back as the same double, always with a point or an exponent, so
/// that a real never reads back as an integer. What JSON cannot write is {"real": "inf"}, "-inf" or
/// "nan".
void append_json(std::string& out, double value);

/// A list: [1, 2].
template <class T>
requires requires(std::string& text, const T& value) {
    append_json(text, value);
}
void append_json(std::string& out, const std::vector<T>& values) {
    out += '[';
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i > 0) out += ", ";
        append_json(out, values[i]);
    }
    out += ']';
}

/// The value that the variant holds.
template <class... T>
void append_json(std::string& out, const std::variant<T...>& value) {
    std::visit([&](const auto& held) { append_json(out, held); }, value);
}

/// An object of the members of a map: {"a": 1, "b": 2}.
template <class Map>
requires requires(const Map& map) {
    map.begin()->first;
    map.begin()->second;
}
void append_json(std::string& out, const Map& members) {
    out += '{';
    const char* separator = "";
    for (const auto& [name, value] : members) {
        out += separator;
        append_json(out, name);
        out += ": ";
        append_json(out, value);
        separator = ", ";
    }
    out += '}';
}

template <class T>
std::string json_text(const T& value) {
    std::string out;
    append_json(out, value);
    return out;
}

}  // namespace dtnn
