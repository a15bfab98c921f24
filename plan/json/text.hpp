#pragma once
/// Writing JSON text piece by piece: strings, exact numbers, attributes. Deterministic: equal
/// values give equal bytes.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn::plan {

/// In quotes, with escapes. Bytes that are not UTF-8 become U+FFFD, because JSON text must be
/// UTF-8.
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
void append_json(std::string& out, const std::vector<std::int64_t>& values);
void append_json(std::string& out, const std::vector<int>& values);
void append_json(std::string& out, const std::vector<double>& values);
void append_json(std::string& out, const std::vector<std::string>& values);
void append_json(std::string& out, const AttributeValue& value);
void append_json(std::string& out, const Attributes& attributes);

template <class T>
std::string json_text(const T& value) {
    std::string out;
    append_json(out, value);
    return out;
}

}  // namespace dtnn::plan
