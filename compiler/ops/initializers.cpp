#include "compiler/ops/initializers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "compiler/support/check.hpp"
#include "plan/initializer.hpp"

namespace dtnn::compiler {
namespace {

struct Kind {
    std::string_view name;
    std::string_view doc;
    FieldTable numbers;
};

Field number(std::string_view name, std::optional<double> fallback, std::string_view doc) {
    Field field{.name = name, .type = FieldType::real, .doc = doc, .change = kOfLayer};
    if (fallback) field.fallback = *fallback;
    field.minimum = -plan::kLargestInitializerNumber;
    field.maximum = plan::kLargestInitializerNumber;
    return field;
}

Field positive(std::string_view name, double fallback, std::string_view doc) {
    Field field = number(name, fallback, doc);
    field.minimum = 0;
    field.exclusive_minimum = true;
    return field;
}

const std::vector<Kind>& kinds() {
    static const std::vector<Kind> all = {
        {"glorot_uniform", "Uniform within sqrt(6 / (fan_in + fan_out)) of 0.", {}},
        {"glorot_normal", "Normal, deviation sqrt(2 / (fan_in + fan_out)), cut off at 2.", {}},
        {"he_uniform", "Uniform within sqrt(6 / fan_in) of 0.", {}},
        {"he_normal", "Normal, deviation sqrt(2 / fan_in), cut off at 2.", {}},
        {"lecun_uniform", "Uniform within sqrt(3 / fan_in) of 0.", {}},
        {"lecun_normal", "Normal, deviation sqrt(1 / fan_in), cut off at 2.", {}},
        {"orthogonal",
         "Orthonormal rows, or columns when there are fewer of them, of the matrix of the first "
         "extent by the others.",
         {positive("gain", 1, "factor of all values")}},
        {"normal",
         "Normal numbers.",
         {number("mean", 0, "the mean"), positive("deviation", 0.05, "the standard deviation")}},
        {"truncated_normal",
         "Normal numbers, none farther than two deviations from the mean.",
         {number("mean", 0, "the mean"),
          positive("deviation", 0.05, "the standard deviation before the cut; 0.88 of it remain")}},
        {"uniform",
         "Uniform numbers from low to high.",
         {number("low", -0.05, "the least value"), number("high", 0.05, "the largest value")}},
        {"constant", "One number everywhere.", {number("value", {}, "the number")}},
        {"zeros", "0 everywhere.", {}},
        {"ones", "1 everywhere.", {}},
    };
    return all;
}

const Kind* find_kind(std::string_view name) {
    for (const Kind& kind : kinds())
        if (kind.name == name) return &kind;
    return nullptr;
}

}  // namespace

std::vector<std::string_view> initializer_names() {
    std::vector<std::string_view> names;
    for (const Kind& kind : kinds())
        names.push_back(kind.name);
    return names;
}

const FieldTable* initializer_table(std::string_view kind) {
    const Kind* found = find_kind(kind);
    return found ? &found->numbers : nullptr;
}

std::string_view initializer_doc(std::string_view kind) {
    const Kind* found = find_kind(kind);
    return found ? found->doc : std::string_view();
}

std::string initializer_text(std::string_view kind, const Attributes& numbers) {
    const FieldTable* table = initializer_table(kind);
    DTNN_CHECK(table != nullptr, "`{}` is no initializer", kind);
    std::string list;
    bool defaults = true;
    for (const Field& field : *table) {
        const double value = std::get<double>(numbers.at(std::string(field.name)));
        defaults = defaults && field.fallback && std::get<double>(*field.fallback) == value;
        list += fmt::format("{}{}: {}", list.empty() ? "" : ", ", field.name, value);
    }
    return defaults ? std::string(kind) : fmt::format("{}: {{{}}}", kind, list);
}

plan::Initializer parse_initializer(std::string_view text) {
    plan::Initializer result;
    const std::size_t colon = text.find(": {");
    result.kind = text.substr(0, colon);
    const FieldTable* table = initializer_table(result.kind);
    DTNN_CHECK(table != nullptr, "`{}` is no initializer", text);
    for (const Field& field : *table)
        if (field.fallback) result.numbers[std::string(field.name)] = *field.fallback;
    std::string_view rest = colon == std::string_view::npos ? "" : text.substr(colon + 3);
    while (!rest.empty() && rest != "}") {
        const std::size_t sign = rest.find(": ");
        const std::size_t end = rest.find_first_of(",}");
        DTNN_CHECK(sign < end && end < rest.size(), "`{}` is not as initializers are kept", text);
        const std::string name(rest.substr(0, sign));
        double value = 0;
        const auto read = std::from_chars(rest.data() + sign + 2, rest.data() + end, value);
        DTNN_CHECK(
            find_field(*table, name) && read.ec == std::errc() && read.ptr == rest.data() + end,
            "`{}` is not as initializers are kept", text);
        result.numbers[name] = value;
        rest.remove_prefix(rest[end] == ',' ? std::min(end + 2, rest.size()) : end);
    }
    return result;
}

}  // namespace dtnn::compiler
