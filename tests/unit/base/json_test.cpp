#include "base/json.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <limits>
#include <string>

namespace json_test {

using namespace dtnn;

namespace {

std::string nested(std::size_t depth, char open, char close) {
    return std::string(depth, open) + std::string(depth, close);
}

std::string refusal(const std::string& text) {
    try {
        parse_json(text);
    } catch (const Json::exception& error) {
        return error.what();
    }
    return "";
}

/// An object of so many members.
std::string wide(int members) {
    std::string text = "{";
    for (int i = 0; i < members; ++i)
        text += (i == 0 ? "\"name_" : ", \"name_") + std::to_string(i) + "\": [1, 2]";
    return text + "}";
}

}  // namespace

TEST_CASE("what is parsed is what was written, members in their order") {
    for (const char* text :
         {R"({"b":[1,-2,3.5,"x\u00e9\n",null,true,false],"a":{"c":{},"d":[]}})", "[]", "{}", "3",
          "\"\"", "null", "18446744073709551615", "[[[1],2],[3]]"}) {
        CAPTURE(text);
        CHECK(parse_json(text) == Json::parse(text));
        CHECK(write_json(parse_json(text)) == Json::parse(text).dump());
    }
    for (const char* text : {"", "{", "[1,]", "{\"a\":1,}", "nul", "1 2", "[1e999]", "\"\xff\""}) {
        CAPTURE(text);
        CHECK(refusal(text).find("exception") != std::string::npos);
        CHECK(parse_json_or_discard(text).is_discarded());
    }
}

TEST_CASE("an integer is read as it is written, or not at all") {
    CHECK(whole_number_of(parse_json("-9223372036854775808")) ==
          std::numeric_limits<std::int64_t>::min());
    CHECK(whole_number_of(parse_json("9223372036854775807")) ==
          std::numeric_limits<std::int64_t>::max());
    CHECK(whole_number_of(parse_json("7"), 7, 7) == 7);
    for (const char* text : {"9223372036854775808", "18446744073709551615", "-9223372036854775809",
                             "8.5e64", "1.5", "1e2", "\"1\"", "true", "null", "[1]", "{}"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(whole_number_of(parse_json(text)), Json::exception);
    }
    CHECK_THROWS_AS(whole_number_of(parse_json("6"), 7, 9), Json::exception);
    CHECK_THROWS_AS(whole_number_of(parse_json("10"), 7, 9), Json::exception);
}

TEST_CASE("nesting is bounded") {
    CHECK(refusal(nested(kMostJsonDepth, '[', ']')).empty());
    CHECK(refusal(nested(kMostJsonDepth + 1, '[', ']')).find("deep") != std::string::npos);
    CHECK(refusal(std::string(1'000'000, '[')).find("deep") != std::string::npos);
    std::string objects;
    for (int i = 0; i < 60'000; ++i)
        objects += "{\"a\":";
    CHECK(refusal(objects).find("deep") != std::string::npos);
}

TEST_CASE("a name that an object has twice is refused, few members or many") {
    CHECK(refusal(R"({"a": 1, "b": {"x": 1, "y": 2, "x": 3}})").find("\"x\" comes twice") !=
          std::string::npos);
    CHECK(refusal(R"({"a": {"b": 1}, "b": {"a": 1}})").empty());
    std::string many = wide(1000);
    many.back() = ',';
    CHECK(refusal(many + "\"name_7\": 0}").find("\"name_7\" comes twice") != std::string::npos);
}

TEST_CASE("an object of many members takes time in proportion") {
    // Looking through all members for each new one takes minutes.
    const auto begin = std::chrono::steady_clock::now();
    const Json object = parse_json(wide(300'000));
    CHECK(object.size() == 300'000);
    Json made = Json::object();
    for (const auto& [name, value] : object.items())
        add_member(made, name, value);
    CHECK(made == object);
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(60));
}

}  // namespace json_test
