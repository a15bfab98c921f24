#pragma once
/// JSON documents as a tree, members in their order. Parsing and writing are compiled here once:
/// in every source that calls the library's own they cost seconds of compile time.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace dtnn {

using Json = nlohmann::ordered_json;

/// Throws Json::parse_error, whose message says where.
Json parse_json(std::string_view text);
/// A discarded value (`is_discarded()`) for text that is not JSON.
Json parse_json_or_discard(std::string_view text);

/// On one line, or with so many spaces a level. Bytes that are not UTF-8 become U+FFFD.
std::string write_json(const Json& value, int indent = -1);

}  // namespace dtnn
