#include <fmt/format.h>

#include <cmath>

#include "base/json_text.hpp"
#include "base/text.hpp"
#include "compiler/frontend/read/quantity.hpp"
#include "compiler/frontend/read/value_reader.hpp"
#include "compiler/support/other_words.hpp"

namespace dtnn::compiler {
namespace {

std::string number(double value) {
    // Large bounds read better as powers of ten would: 65536, 1000000.
    if (std::floor(value) == value && std::fabs(value) < 1e15) return fmt::format("{:.0f}", value);
    return fmt::format("{}", value);
}

}  // namespace

std::string yaml_text(const std::string& text) {
    const auto letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    const auto other = [](char c) {
        return (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '/';
    };
    bool bare = !text.empty() && letter(text[0]);
    for (const char c : text)
        bare = bare && (letter(c) || other(c));
    const std::string word = lower(text);
    for (const std::string_view reserved :
         {"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
        bare = bare && word != reserved;
    return bare ? text : json_text(text);
}

std::string_view describe(FieldType type) {
    switch (type) {
        case FieldType::boolean:
            return "true or false";
        case FieldType::integer:
            return "an integer";
        case FieldType::real:
            return "a number";
        case FieldType::quantity:
            return "a number with its unit";
        case FieldType::text:
            return "text";
        case FieldType::choice:
            return "one of its choices";
        case FieldType::integer_or_choice:
            return "an integer or one of its choices";
        case FieldType::integer_pair:
            return "an integer or [vertical, horizontal]";
        case FieldType::padding:
            return "valid, same, an integer, [vertical, horizontal] or [top, bottom, left, right]";
        case FieldType::step_padding:
            return "valid, same, causal, an integer or [before, behind]";
        case FieldType::integer_list:
            return "a list of integers";
        case FieldType::real_list:
            return "a list of numbers";
        case FieldType::initializer:
            return "an initializer's name, or one name with its numbers";
        case FieldType::expression:
            return "arithmetic over its inputs";
        case FieldType::text_list:
            return "a name or a list of names";
        case FieldType::reference:
            return "a name, a path or the spec itself";
        case FieldType::variant:
            return "a name, or one name with its fields";
        case FieldType::variant_list:
            return "a list of names, each alone or with its fields";
        case FieldType::record:
            return "a map of fields";
        case FieldType::record_list:
            return "a list of maps of fields";
        case FieldType::layers:
            return "a list of layers";
        case FieldType::branches:
            return "a list of lists of layers";
        case FieldType::mapping:
            return "a map of names";
        case FieldType::any:
            return "a value";
    }
    return "";
}

std::string describe_range(const Field& field) {
    const auto bound = [&](double value) {
        return field.type == FieldType::quantity ? quantity_text(value, field.unit) : number(value);
    };
    std::string text;
    if (field.minimum)
        text = fmt::format("{} {}", field.exclusive_minimum ? "more than" : "at least",
                           bound(*field.minimum));
    if (field.maximum)
        text +=
            fmt::format("{}{} {}", text.empty() ? "" : " and ",
                        field.exclusive_maximum ? "less than" : "at most", bound(*field.maximum));
    return text;
}

std::string suggest(std::string_view word, const std::vector<std::string>& candidates,
                    std::string_view plural) {
    if (std::string help = help_by_name(word, candidates); !help.empty()) return help;
    if (const auto near = did_you_mean(word, candidates))
        return fmt::format("did you mean `{}`?", *near);
    if (plural.empty() || candidates.empty() || candidates.size() > 24) return "";
    if (candidates.size() == 1) return fmt::format("there is only `{}`", candidates[0]);
    return fmt::format("{} are {}", plural, fmt::join(candidates, ", "));
}

std::string suggest_word(std::string_view word, const std::vector<std::string>& candidates,
                         std::string_view plural) {
    if (std::string help = help_by_name(word, candidates); !help.empty()) return help;
    if (std::string help = help_by_remark(word); !help.empty()) return help;
    if (std::string help = suggest(word, candidates, ""); !help.empty()) return help;
    if (std::string help = help_elsewhere(word); !help.empty()) return help;
    return suggest(word, candidates, plural);
}

bool worth_suggesting(const Diagnostics& diagnostics, std::size_t candidates) {
    constexpr std::size_t kMistakes = 200, kComparisons = 50'000;
    const std::size_t mistakes = diagnostics.all().size();
    return mistakes < kMistakes && (mistakes + 1) * candidates <= kComparisons;
}

std::string to_json(const AttributeValue& value) {
    struct Printer {
        std::string operator()(bool v) const { return v ? "true" : "false"; }
        std::string operator()(std::int64_t v) const { return fmt::format("{}", v); }
        std::string operator()(double v) const { return fmt::format("{}", v); }
        std::string operator()(const std::string& v) const { return json_text(v); }
        std::string operator()(const std::vector<std::int64_t>& v) const {
            return fmt::format("[{}]", fmt::join(v, ", "));
        }
        std::string operator()(const std::vector<double>& v) const {
            return fmt::format("[{}]", fmt::join(v, ", "));
        }
    };
    return std::visit(Printer{}, value);
}

std::string yaml_value(const AttributeValue& value) {
    const auto* text = std::get_if<std::string>(&value);
    return text ? yaml_text(*text) : to_json(value);
}

// An initializer with numbers is kept as the inside of a map.
std::string yaml_value(const Field& field, const AttributeValue& value) {
    const auto* text = std::get_if<std::string>(&value);
    if (field.type != FieldType::initializer || !text || text->find(": {") == std::string::npos)
        return yaml_value(value);
    return fmt::format("{{{}}}", *text);
}

WrittenValue written_member(const Field& row, const AttributeValue& content) {
    if (row.type != FieldType::quantity) return {yaml_value(content), to_json(content)};
    const auto* whole = std::get_if<std::int64_t>(&content);
    const std::string text =
        quantity_text(whole ? double(*whole) : std::get<double>(content), row.unit);
    return {text, json_text(text)};
}

}  // namespace dtnn::compiler
