#include "compiler/frontend/explain/json_schema.hpp"

#include <fmt/format.h>

#include <set>

#include "compiler/frontend/explain/json_schema_model.hpp"
#include "compiler/frontend/tables/components.hpp"
#include "compiler/frontend/tables/tables.hpp"

namespace dtnn::compiler {
namespace {

constexpr const char* kDraft = "http://json-schema.org/draft-07/schema#";

// `kind` says itself.
Json kind_properties(const FieldTable& table, std::string_view kind) {
    Json schema = table_schema(table, false);
    schema["properties"]["kind"] = {{"const", std::string(kind)}};
    describe_in(schema["properties"]["name"] = spec_name_schema(), *find_field(table, "name"));
    return schema;
}

Json requirement(std::vector<std::string> names) {
    return {{"required", std::move(names)}};
}

// The fields that a spec must have unless it extends one that has it.
void require_unless_extended(Json& schema, const Json& then) {
    schema["if"] = requirement({"extends"});
    schema["then"] = true;
    schema["else"] = then;
}

Json training_schema() {
    Json schema = kind_properties(training_table(), "training");
    // A group is a pattern and what holds for its parameters.
    Json& group = schema["properties"]["groups"]["items"];
    group["minProperties"] = 2;
    group["properties"]["parameters"]["minLength"] = 1;
    const std::vector<std::string> required = required_fields(training_table());
    if (!required.empty()) require_unless_extended(schema, requirement(required));
    return schema;
}

// When `type` is the name of the member, `then` holds.
Json when_type(const ComponentInfo& type, Json then) {
    return {{"if",
             {{"properties", {{"type", {{"const", std::string(type.name)}}}}},
              {"required", Json::array({"type"})}}},
            {"then", std::move(then)}};
}

// The fields of each type of dataset are its own. Without `type` (the rest is in the dataset that
// is extended) all fields may stand.
Json dataset_part_schema() {
    Json schema = kind_properties(dataset_table(), "dataset");
    if (schema["properties"].contains("shape"))
        for (const char* bound : {"minItems", "maxItems"})
            schema["properties"]["shape"][bound] = 3;
    Json cases = Json::array();
    for (const ComponentInfo& type : dataset_types().members) {
        Json names = Json::array();
        for (const FieldTable* table : {&dataset_head_table(), type.fields, &dataset_tail_table()})
            for (const Field& field : *table)
                names.push_back(std::string(field.name));
        // A field may differ from type to type: its range, its default, its text.
        const Json own = table_schema(*type.fields, false)["properties"];
        Json differing = Json::object();
        for (const auto& [name, form] : own.items())
            if (form != schema["properties"][name]) differing[name] = form;
        cases.push_back(
            when_type(type, {{"propertyNames", {{"enum", names}}}, {"properties", differing}}));
    }
    schema["allOf"] = cases;
    return schema;
}

Json dataset_schema() {
    Json all = Json::array({reference_to("dataset_part")});
    for (const ComponentInfo& type : dataset_types().members)
        if (const auto required = required_fields(*type.fields); !required.empty()) {
            Json then = Json::object();
            require_unless_extended(then, requirement(required));
            all.push_back(when_type(type, then));
        }
    Json schema = {{"allOf", all}};
    require_unless_extended(schema, requirement({"type"}));
    return schema;
}

// A spec of another kind in a job: a name, a path, or the spec itself; in a job that extends
// another one, the fields that are to be changed (`part`, where that is another definition).
struct Reference {
    const char *kind, *part;
};
constexpr Reference kReferences[] = {{"model", "model_part"},
                                     {"dataset", "dataset_part"},
                                     {"training", "training"},
                                     {"machine", "machine"}};

Json reference_schema(const Reference& reference, bool part) {
    Json schema = {{"anyOf", Json::array({reference_name_schema(),
                                          reference_to(part ? reference.part : reference.kind)})}};
    describe_in(schema, *find_field(job_table(), reference.kind));
    return schema;
}

Json job_schema() {
    Json schema = kind_properties(job_table(), "job");
    const auto references = [](bool part) {
        Json properties = Json::object();
        for (const Reference& reference : kReferences)
            properties[reference.kind] = reference_schema(reference, part);
        return Json{{"properties", properties}};
    };
    // Which form they may have depends on `extends`.
    for (const Reference& reference : kReferences)
        schema["properties"][reference.kind] = Json::object();
    schema["if"] = requirement({"extends"});
    schema["then"] = references(true);
    schema["else"] = references(false);
    schema["else"]["required"] = required_fields(job_table());
    return schema;
}

// Everything that specs of any kind are made of, by name.
Json all_definitions() {
    Json definitions = {{"job", job_schema()}};
    add_model_definitions(definitions);
    definitions["dataset"] = dataset_schema();
    definitions["dataset_part"] = dataset_part_schema();
    definitions["training"] = training_schema();
    definitions["machine"] = kind_properties(machine_table(), "machine");
    definitions["loss"] = loss_schema();
    for (const FieldTable* table : {&training_table(), &dataset_table()})
        for (const Field& field : *table)
            if (field.components)
                definitions[std::string(field.components->plural)] =
                    component_schema(*field.components);
    for (const KindInfo& kind : all_kinds())
        definitions[std::string(kind.name)]["description"] = std::string(kind.doc);
    return definitions;
}

// A schema without the definitions that it refers to: of one kind, or of all with `kind` empty.
Json head_of(std::string_view kind) {
    if (!kind.empty())
        return {{"$schema", kDraft},
                {"title", fmt::format("dtnn {} spec", kind)},
                {"allOf", Json::array({reference_to(std::string(kind)), requirement({"kind"})})}};
    Json kinds = Json::array(), cases = Json::array();
    for (const KindInfo& one : all_kinds()) {
        const std::string name(one.name);
        kinds.push_back(name);
        cases.push_back({{"if", {{"properties", {{"kind", {{"const", name}}}}}}},
                         {"then", reference_to(name)}});
    }
    return {{"$schema", kDraft},
            {"title", "dtnn spec"},
            {"type", "object"},
            {"properties", {{"kind", {{"enum", kinds}, {"description", "the kind of spec"}}}}},
            {"required", Json::array({"kind"})},
            {"allOf", cases}};
}

// Calls `visit` with the text of every `$ref`.
template <class Visit>
void each_reference(Json& schema, const Visit& visit) {
    if (schema.is_object() && schema.contains("$ref"))
        visit(schema["$ref"].get_ref<std::string&>());
    else if (schema.is_structured())
        for (Json& part : schema)
            each_reference(part, visit);
}

// Adds to `wanted` the definitions that `schema` refers to, and those that these refer to.
void find_definitions(Json& schema, Json& definitions, std::set<std::string>& wanted) {
    each_reference(schema, [&](const std::string& reference) {
        const std::string name = reference.substr(reference.rfind('/') + 1);
        if (wanted.insert(name).second) find_definitions(definitions[name], definitions, wanted);
    });
}

/// Definitions (1), a definition's keywords (2) and each of its properties (3) begin a line.
constexpr std::size_t kDeepestLine = 3;
constexpr std::size_t kColumns = 120;

std::string on_one_line(const Json& value) {
    if (!value.is_structured()) return value.dump();
    std::string text;
    for (const auto& [key, part] : value.items()) {
        if (!text.empty()) text += ", ";
        if (value.is_object()) text += Json(key).dump() + ": ";
        text += on_one_line(part);
    }
    return value.is_object() ? "{" + text + "}" : "[" + text + "]";
}

// Writes a value behind `start` (its indentation and key). Editors read schemas, people what has
// changed in one: a property is a line.
void write_lines(std::string& text, const std::string& start, const Json& value, std::size_t depth,
                 std::string_view end) {
    const std::string line = start + on_one_line(value);
    if (depth > kDeepestLine || !value.is_structured() || line.size() <= kColumns) {
        text += line;
        text += end;
        return;
    }
    const std::string indent(depth + 1, ' ');
    text += start + (value.is_object() ? "{\n" : "[\n");
    std::size_t left = value.size();
    for (const auto& [key, part] : value.items()) {
        const std::string name = value.is_object() ? Json(key).dump() + ": " : "";
        write_lines(text, indent + name, part, depth + 1, --left > 0 ? ",\n" : "\n");
    }
    text += std::string(depth, ' ') + (value.is_object() ? "}" : "]");
    text += end;
}

std::string text_of(const Json& schema) {
    std::string text;
    write_lines(text, "", schema, 0, "\n");
    return text;
}

constexpr const char* kDefinitionsFile = "definitions.schema.json";

}  // namespace

std::string json_schema(std::string_view kind) {
    Json schema = head_of(kind), definitions = all_definitions();
    std::set<std::string> wanted;
    find_definitions(schema, definitions, wanted);
    schema["definitions"] = Json::object();
    for (const auto& [name, definition] : definitions.items())
        if (wanted.contains(name)) schema["definitions"][name] = definition;
    return text_of(schema);
}

std::vector<SchemaFile> json_schema_files(std::string_view kind) {
    std::vector<SchemaFile> files = {
        {kDefinitionsFile, text_of({{"$schema", kDraft},
                                    {"title", "what dtnn specs are made of"},
                                    {"definitions", all_definitions()}})}};
    const auto add = [&](std::string_view name, std::string_view of) {
        Json schema = head_of(of);
        each_reference(schema, [](std::string& to) { to = kDefinitionsFile + to; });
        files.push_back({fmt::format("{}.schema.json", name), text_of(schema)});
    };
    if (kind.empty()) add("dtnn", "");
    for (const KindInfo& one : all_kinds())
        if (kind.empty() || kind == one.name) add(one.name, one.name);
    return files;
}

}  // namespace dtnn::compiler
