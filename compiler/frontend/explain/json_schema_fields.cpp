#include "compiler/frontend/explain/json_schema_fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "compiler/frontend/explain/field_text.hpp"
#include "compiler/frontend/read/quantity.hpp"
#include "compiler/frontend/read/value_reader.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "compiler/ops/initializers.hpp"

namespace dtnn::compiler {
namespace {

// A whole number stays one, so that editors show 64 and not 64.0.
Json json_number(double value) {
    if (value == double(std::int64_t(value))) return std::int64_t(value);
    return value;
}

void add_range(Json& schema, const Field& field) {
    if (field.minimum)
        schema[field.exclusive_minimum ? "exclusiveMinimum" : "minimum"] =
            json_number(*field.minimum);
    if (field.maximum)
        schema[field.exclusive_maximum ? "exclusiveMaximum" : "maximum"] =
            json_number(*field.maximum);
}

Json number_schema(const Field& field, const char* type) {
    Json schema = {{"type", type}};
    add_range(schema, field);
    if (std::string_view(type) == "integer") {
        // Integers have 64 bits.
        if (!field.minimum) schema["minimum"] = std::numeric_limits<std::int64_t>::min();
        if (!field.maximum) schema["maximum"] = std::numeric_limits<std::int64_t>::max();
    }
    return schema;
}

Json any_of(std::vector<Json> choices) {
    if (choices.size() == 1) return choices.front();
    return {{"anyOf", choices}};
}

Json choices_schema(const std::vector<std::string_view>& choices) {
    Json list = Json::array();
    for (const std::string_view choice : choices)
        list.push_back(std::string(choice));
    return {{"enum", list}};
}

Json list_schema(const Json& item, std::size_t least, std::size_t most) {
    Json schema = {{"type", "array"}, {"items", item}};
    if (least > 0) schema["minItems"] = least;
    if (most > 0) schema["maxItems"] = most;
    return schema;
}

// The forms in which a text may be written: our reader takes any scalar by its text (name: 18).
Json text_schema() {
    return {{"type", Json::array({"string", "number", "boolean"})}};
}

// A text with a unit, whose range is the reader's: a pattern has none; bytes also as a plain
// number.
Json quantity_schema(const Field& field) {
    const bool bytes = field.unit == "bytes";
    const std::string number = R"([0-9]*\.?[0-9]+([eE][+-]?[0-9]+)?)";
    Json schema = {
        {"pattern", fmt::format("^{} *({}){}$", number, fmt::join(units_of(field.unit), "|"),
                                bytes ? "?" : "")}};
    if (bytes) {
        schema["type"] = Json::array({"string", "integer"});
        add_range(schema, field);
        schema["minimum"] = std::max(double(kFewestPlainBytes), field.minimum.value_or(0));
    } else {
        schema["type"] = "string";
    }
    return schema;
}

}  // namespace

Json initializer_schema() {
    constexpr bool expressions = true;
    std::vector<Json> forms = {choices_schema(initializer_names())};
    for (const std::string_view name : initializer_names()) {
        const FieldTable* table = initializer_table(name);
        if (!table) continue;
        Json fields = table_schema(*table, expressions);
        fields["type"] = Json::array({"object", "null"});
        if (const auto required = required_fields(*table); !required.empty()) {
            fields["required"] = required;
            fields["type"] = "object";
        }
        const std::string key(name);
        forms.push_back({{"type", "object"},
                         {"description", std::string(initializer_doc(name))},
                         {"properties", {{key, fields}}},
                         {"required", Json::array({key})},
                         {"additionalProperties", false}});
    }
    forms.push_back(expression_schema());
    return any_of(forms);
}

namespace {

Json record_schema(const FieldTable& table) {
    Json schema = table_schema(table, false);
    if (const auto required = required_fields(table); !required.empty())
        schema["required"] = required;
    return schema;
}

Json default_of(const AttributeValue& value) {
    return Json::parse(to_json(value));
}

}  // namespace

Json component_schema(const ComponentSet& set) {
    std::vector<std::string_view> bare;
    std::vector<Json> forms;
    for (const ComponentInfo& member : set.members) {
        const std::string key(member.name);
        Json fields = table_schema(*member.fields, false);
        fields["type"] = Json::array({"object", "null"});
        if (const auto required = required_fields(*member.fields); !required.empty()) {
            fields["required"] = required;
            fields["type"] = "object";
        } else {
            bare.push_back(member.name);
        }
        fields["description"] = std::string(member.doc);
        forms.push_back({{"type", "object"},
                         {"properties", {{key, fields}}},
                         {"required", Json::array({key})},
                         {"additionalProperties", false}});
    }
    if (!bare.empty()) forms.insert(forms.begin(), choices_schema(bare));
    if (set.open) {
        std::vector<std::string_view> names = set.names();
        forms.push_back({{"type", "string"},
                         {"minLength", 1},
                         {"not", {{"anyOf", {{{"pattern", R"(\$\{)"}}, choices_schema(names)}}}}});
        forms.push_back({{"type", "object"},
                         {"propertyNames", {{"not", choices_schema(names)}}},
                         {"additionalProperties", {{"type", Json::array({"object", "null"})}}},
                         {"minProperties", 1},
                         {"maxProperties", 1}});
    }
    return any_of(forms);
}

Json reference_to(const std::string& name) {
    return {{"$ref", "#/definitions/" + name}};
}

Json reference_name_schema() {
    // Names and paths have no expressions: which files belong to a job is known before any value.
    return {{"type", "string"}, {"minLength", 1}, {"not", {{"pattern", R"(\$\{)"}}}};
}

Json spec_name_schema() {
    return {{"type", Json::array({"string", "number", "boolean"})},
            {"pattern", "^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$"}};
}

Json expression_schema() {
    return {{"type", "string"}, {"pattern", R"(\$\{.+\})"}};
}

Json element_schema(const Field& field, const char* type, bool expressions) {
    std::vector<Json> element = {number_schema(field, type)};
    if (expressions) element.push_back(expression_schema());
    return any_of(element);
}

// Integers of which there may be one, two, four, or any number, as the type says.
void add_integers(const Field& field, bool expressions, std::vector<Json>& forms) {
    const Json item = element_schema(field, "integer", expressions);
    if (field.type == FieldType::integer_list) {
        forms.push_back(list_schema(item, 0, 0));
        return;
    }
    const bool padding = field.type == FieldType::padding;
    if (padding || field.type == FieldType::step_padding)
        forms.push_back(choices_schema(padding_words(field.type)));
    forms.push_back(number_schema(field, "integer"));
    forms.push_back(list_schema(item, 2, 2));
    if (padding) forms.push_back(list_schema(item, 4, 4));
}

Json field_schema(const Field& field, bool expressions) {
    std::vector<Json> forms;
    bool open = expressions;
    switch (field.type) {
        case FieldType::boolean:
            forms.push_back({{"type", "boolean"}});
            break;
        case FieldType::integer:
            forms.push_back(number_schema(field, "integer"));
            break;
        case FieldType::real:
            forms.push_back(number_schema(field, "number"));
            break;
        case FieldType::text:
        case FieldType::expression:
            forms.push_back(text_schema());
            open = false;
            break;
        case FieldType::quantity:
            forms.push_back(quantity_schema(field));
            open = false;
            break;
        case FieldType::choice:
            forms.push_back(choices_schema(field.choices));
            break;
        case FieldType::integer_or_choice:
            forms.push_back(choices_schema(field.choices));
            forms.push_back(number_schema(field, "integer"));
            break;
        case FieldType::variant:
            if (field.components)
                forms.push_back(reference_to(std::string(field.components->plural)));
            else
                open = false;
            break;
        case FieldType::variant_list: {
            const Json item = reference_to(std::string(field.components->plural));
            forms.push_back(item);
            forms.push_back(list_schema(item, 0, 0));
            break;
        }
        case FieldType::record:
            forms.push_back(record_schema(*field.fields));
            break;
        case FieldType::record_list:
            forms.push_back(list_schema(record_schema(*field.fields), 0, 0));
            break;
        case FieldType::real_list:
            forms.push_back(list_schema(element_schema(field, "number", expressions), 0, 0));
            break;
        case FieldType::integer_pair:
        case FieldType::padding:
        case FieldType::step_padding:
        case FieldType::integer_list:
            add_integers(field, expressions, forms);
            break;
        case FieldType::text_list: {
            const Json item = field.choices.empty() ? text_schema() : choices_schema(field.choices);
            forms.push_back(item);
            forms.push_back(list_schema(item, 0, 0));
            open = open && !field.choices.empty();
            break;
        }
        case FieldType::initializer:
            // Every layer with weights has some, and each is long.
            forms.push_back(reference_to("initializer"));
            open = false;
            break;
        case FieldType::reference:
            forms.push_back(reference_name_schema());
            open = false;
            break;
        case FieldType::layers:
        case FieldType::branches:
        case FieldType::mapping:
        case FieldType::any:
            open = false;
            break;
    }
    if (open) forms.push_back(expression_schema());
    return forms.empty() ? Json::object() : any_of(forms);
}

void describe_in(Json& schema, const Field& field) {
    // In draft-07 nothing beside a reference counts.
    if (schema.contains("$ref")) schema = {{"allOf", Json::array({schema})}};
    std::string text(field.doc);
    if (!field.unit.empty()) text += fmt::format(" ({})", field.unit);
    if (!text.empty()) schema["description"] = text;
    if (field.fallback)
        schema["default"] = field.type == FieldType::quantity ? Json(default_text(field))
                                                              : default_of(*field.fallback);
}

Json table_schema(const FieldTable& table, bool expressions) {
    Json properties = Json::object();
    for (const Field& field : table) {
        Json schema = field_schema(field, expressions);
        describe_in(schema, field);
        properties[std::string(field.name)] = schema;
    }
    return {{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
}

std::vector<std::string> required_fields(const FieldTable& table) {
    std::vector<std::string> names;
    for (const Field& field : table)
        if (!field.optional && !field.found && !field.fallback) names.emplace_back(field.name);
    return names;
}

}  // namespace dtnn::compiler
