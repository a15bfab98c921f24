#include "compiler/frontend/explain/json_schema.hpp"

#include <fmt/format.h>

#include <array>

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

// What a spec must have unless it extends one that has it.
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

// The fields of each type of dataset are its own. Without `type` (the rest is in the dataset that
// is extended) all fields may stand.
Json dataset_schema(bool part) {
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
        // What a field is may differ from type to type: its range, its default, its text.
        Json then = {{"propertyNames", {{"enum", names}}},
                     {"properties", table_schema(*type.fields, false)["properties"]}};
        const std::vector<std::string> required = required_fields(*type.fields);
        if (!part && !required.empty()) require_unless_extended(then, requirement(required));
        cases.push_back({{"if",
                          {{"properties", {{"type", {{"const", std::string(type.name)}}}}},
                           {"required", Json::array({"type"})}}},
                         {"then", then}});
    }
    schema["allOf"] = cases;
    if (!part) require_unless_extended(schema, requirement({"type"}));
    return schema;
}

// A reference is a name, a path, or the spec itself; in a job that extends another one, the fields
// that are to be changed.
Json reference_schema(const std::string& kind, bool part) {
    const Field& field = *find_field(job_table(), kind);
    const bool has_part = kind == "model" || kind == "dataset";
    Json schema = {
        {"anyOf", Json::array({reference_name_schema(),
                               reference_to(part && has_part ? kind + "_part" : kind)})}};
    describe_in(schema, field);
    return schema;
}

constexpr std::array kReferences = {"model", "dataset", "training", "machine"};

Json job_schema() {
    Json schema = kind_properties(job_table(), "job");
    const auto references = [](bool part) {
        Json properties = Json::object();
        for (const char* kind : kReferences)
            properties[kind] = reference_schema(kind, part);
        return Json{{"properties", properties}};
    };
    // Which form they may have depends on `extends`.
    for (const char* kind : kReferences)
        schema["properties"][kind] = Json::object();
    schema["if"] = requirement({"extends"});
    schema["then"] = references(true);
    schema["else"] = references(false);
    schema["else"]["required"] = required_fields(job_table());
    return schema;
}

// The definitions that a file of the kind needs.
Json definitions_of(std::string_view kind) {
    Json definitions = Json::object();
    const bool job = kind == "job";
    if (job) definitions["job"] = job_schema();
    if (job || kind == "model") add_model_definitions(definitions);
    if (job || kind == "dataset") definitions["dataset"] = dataset_schema(false);
    if (job) definitions["dataset_part"] = dataset_schema(true);
    if (job || kind == "training") definitions["training"] = training_schema();
    if (job || kind == "machine")
        definitions["machine"] = kind_properties(machine_table(), "machine");
    if (kind == "operator") definitions["operator"] = operator_schema();
    if (job || kind == "model" || kind == "loss") definitions["loss"] = loss_schema();
    if (kind == "model") definitions.erase("model_part");
    const auto add_sets = [&](const FieldTable& table) {
        for (const Field& field : table)
            if (field.components)
                definitions[std::string(field.components->plural)] =
                    component_schema(*field.components);
    };
    if (job || kind == "training") add_sets(training_table());
    if (job || kind == "dataset") add_sets(dataset_table());
    for (const KindInfo& one : all_kinds())
        if (const std::string name(one.name); definitions.contains(name))
            definitions[name]["description"] = std::string(one.doc);
    return definitions;
}

std::string text_of(const Json& schema) {
    return schema.dump(1) + "\n";
}

}  // namespace

std::string json_schema_of_kind(std::string_view kind) {
    const std::string name(kind);
    return text_of({{"$schema", kDraft},
                    {"title", fmt::format("dtnn {} spec", name)},
                    {"allOf", Json::array({reference_to(name), requirement({"kind"})})},
                    {"definitions", definitions_of(kind)}});
}

std::string json_schema_of_all_kinds() {
    Json kinds = Json::array(), cases = Json::array();
    for (const KindInfo& kind : all_kinds()) {
        const std::string name(kind.name);
        kinds.push_back(name);
        cases.push_back({{"if", {{"properties", {{"kind", {{"const", name}}}}}}},
                         {"then", reference_to(name)}});
    }
    return text_of(
        {{"$schema", kDraft},
         {"title", "dtnn spec"},
         {"type", "object"},
         {"properties", {{"kind", {{"enum", kinds}, {"description", "the kind of spec"}}}}},
         {"required", Json::array({"kind"})},
         {"allOf", cases},
         {"definitions", definitions_of("job")}});
}

std::vector<SchemaFile> json_schema_files() {
    std::vector<SchemaFile> files = {{"dtnn.schema.json", json_schema_of_all_kinds()}};
    for (const KindInfo& kind : all_kinds())
        files.push_back({fmt::format("{}.schema.json", kind.name), json_schema_of_kind(kind.name)});
    return files;
}

}  // namespace dtnn::compiler
