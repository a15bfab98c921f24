#pragma once
/// JSON documents as a tree, members in their order. Parsing and writing are compiled here once:
/// in every source that calls the library's own they cost seconds of compile time. They take time
/// in proportion to the text, however many members an object has.

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace dtnn {

using Json = nlohmann::ordered_json;

/// How deep lists and objects may stand in each other in text that is parsed: whatever walks a tree
/// may call itself for what is inside.
inline constexpr std::size_t kMostJsonDepth = 256;

/// Throws Json::exception, whose message says where: for text that is not JSON, is nested deeper
/// than kMostJsonDepth, or has an object with two members of one name.
Json parse_json(std::string_view text);
/// A discarded value (`is_discarded()`) for text that parse_json() throws for.
Json parse_json_or_discard(std::string_view text);

/// Puts a member behind those that the object has; the caller knows that none has its name.
/// (`object[name] = value` looks through all of them.)
void add_member(Json& object, std::string name, Json value);

/// An integer from `least` to `most`. Throws Json::exception for anything else: the library's own
/// get<int>() takes what does not fit for another number.
std::int64_t whole_number_of(const Json& value,
                             std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                             std::int64_t most = std::numeric_limits<std::int64_t>::max());

/// On one line, or with so many spaces a level. Texts are escaped as append_json() of json_text.hpp
/// escapes them.
std::string write_json(const Json& value, int indent = -1);

}  // namespace dtnn
