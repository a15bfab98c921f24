#include "compiler/frontend/explain/field_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/frontend/read/quantity.hpp"
#include "compiler/frontend/read/value_reader.hpp"

namespace dtnn::compiler {

namespace {

bool is_list_of_names(const Field& field) {
    return field.type == FieldType::text_list || field.type == FieldType::variant_list;
}

}  // namespace

std::string values_text(const Field& field) {
    if (field.type == FieldType::quantity)
        return fmt::format("a number with its unit, such as {}", quantity_example(field.unit));
    // The names of initializers are many, and have a page of their own.
    if (field.choices.empty() || field.type == FieldType::initializer)
        return std::string(describe(field.type));
    const std::string choices =
        fmt::format("{}{}", field.type == FieldType::integer_or_choice ? "an integer | " : "",
                    fmt::join(field.choices, " | "));
    return is_list_of_names(field) ? "a list of " + choices : choices;
}

std::string default_text(const Field& field) {
    if (!field.fallback) return "";
    if (const auto* text = std::get_if<std::string>(&*field.fallback)) return *text;
    if (const auto* bytes = std::get_if<std::int64_t>(&*field.fallback);
        bytes && field.type == FieldType::quantity)
        return quantity_text(double(*bytes), field.unit);
    if (const auto* pair = std::get_if<std::vector<std::int64_t>>(&*field.fallback);
        pair && field.type == FieldType::integer_pair && pair->size() == 2 &&
        pair->front() == pair->back())
        return fmt::format("{}", pair->front());
    return to_json(*field.fallback);
}

std::string presence_text(const Field& field) {
    if (field.fallback) return "default " + default_text(field);
    return field.optional ? "optional" : field.found ? "found in the files" : "must be given";
}

std::string range_text(const Field& field) {
    std::string text = describe_range(field);
    // The bounds of a quantity have units of their own.
    if (!field.unit.empty() && field.type != FieldType::quantity)
        text += (text.empty() ? "in " : " ") + std::string(field.unit);
    std::string usual;
    if (field.usual_least) usual += fmt::format(" at least {:.6g}", *field.usual_least);
    if (field.usual_most)
        usual += fmt::format("{} at most {:.6g}", usual.empty() ? "" : " and", *field.usual_most);
    if (!usual.empty()) text += fmt::format("{}usually{}", text.empty() ? "" : ", ", usual);
    return text;
}

std::string change_text(const Field& field) {
    if (field.change.reason.empty()) return "";
    return fmt::format("a change of it {}: {}",
                       field.change.meaning == plan::Meaning::mathematics
                           ? "changes what is trained"
                       : field.change.meaning == plan::Meaning::unread ? "counts by the files"
                                                                       : "leaves what is trained",
                       field.change.reason);
}

std::string markdown_cell(std::string_view text) {
    std::string cell;
    for (const char c : text) {
        if (c == '|') cell += '\\';
        cell += c == '\n' ? ' ' : c;
    }
    return cell;
}

std::string fields_markdown(const FieldTable& table, const std::string& initializers) {
    if (table.empty()) return "";
    std::string text = "| field | values | default | range | what it is |\n|---|---|---|---|---|\n";
    for (const Field& field : table) {
        std::string values;
        if (field.type == FieldType::initializer) {
            values = fmt::format("an [initializer]({})", initializers);
        } else if (field.choices.empty()) {
            values = values_text(field);
        } else {
            if (field.type == FieldType::integer_or_choice) values = "an integer";
            for (const std::string_view choice : field.choices)
                values += fmt::format("{}`{}`", values.empty() ? "" : ", ", choice);
            if (is_list_of_names(field)) values = "a list of " + values;
        }
        const std::string fallback = default_text(field);
        text += fmt::format("| `{}` | {} | {} | {} | {} |\n", field.name, markdown_cell(values),
                            !fallback.empty() ? fmt::format("`{}`", markdown_cell(fallback))
                            : field.optional  ? "optional"
                            : field.found     ? "found in the files"
                                              : "**must be given**",
                            markdown_cell(range_text(field)), markdown_cell(field.doc));
    }
    return text;
}

}  // namespace dtnn::compiler
