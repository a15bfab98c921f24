#include "compiler/frontend/explain/json_schema_model.hpp"

#include <algorithm>

#include "base/expression/expression.hpp"
#include "compiler/frontend/expand/blocks.hpp"
#include "compiler/frontend/expand/layers.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "compiler/ops/expression/parse_infix.hpp"
#include "compiler/ops/op.hpp"
#include "compiler/support/diagnostics.hpp"

namespace dtnn::compiler {
namespace {

/// Lists of layers differ by what stands elsewhere in the model.
struct LayerRules {
    std::string name;   ///< of the definition
    bool blocks;        ///< other names than ours are blocks
    bool all_required;  ///< no `defaults` elsewhere that give what a layer leaves out
};

const std::vector<LayerRules>& layer_rules() {
    static const std::vector<LayerRules> rules = {
        {"layers", false, true},
        {"layers_with_defaults", false, false},
        {"layers_with_blocks", true, true},
        {"layers_with_blocks_and_defaults", true, false},
    };
    return rules;
}

constexpr const char* kBlockName = "^[A-Za-z][A-Za-z0-9_]*$";

/// A word that a layer may be: an operator, or a block of the standard ones.
struct LayerWord {
    std::string name, doc;
    FieldTable fields;  ///< all but the layer's own name and sources
    std::vector<std::string> required;
    const OpDef* joining = nullptr;  ///< of operators with any number of inputs
};

const std::vector<LayerWord>& layer_words() {
    static const auto words = [] {
        std::vector<LayerWord> list;
        for (const OpDef* op : all_ops())
            if (op->layer)
                list.push_back({op->name, op->doc, op->fields, required_fields(op->fields),
                                op->variadic ? op : nullptr});
        Diagnostics diagnostics;
        static const Blocks standard(nullptr, nullptr, diagnostics);  // fields view its names
        for (const std::string& name : standard.names()) {
            const Block& block = *standard.find(name);
            LayerWord& word = list.emplace_back();
            word.name = name;
            word.required = required_fields(block.fields);
            for (const BlockParameter& parameter : block.parameters)
                word.fields.push_back(parameter.field);
        }
        return list;
    }();
    return words;
}

Json list_of_layers(const LayerRules& rules) {
    return {{"type", "array"}, {"items", reference_to("entry_of_" + rules.name)}};
}

// A use of an operator, block or keyword: its fields, or nothing where none is required.
Json use_schema(Json fields, const std::vector<std::string>& required, const std::string& doc) {
    if (required.empty())
        fields["type"] = Json::array({"object", "null"});
    else
        fields["required"] = required;
    if (!doc.empty()) fields["description"] = doc;
    return fields;
}

// Names that layers and their sources may have, `input` being no layer's.
Json layer_name_schema(bool source) {
    Json form = {{"type", "string"},
                 {"pattern", R"(^[A-Za-z][A-Za-z0-9_-]*(/[A-Za-z][A-Za-z0-9_-]*)*$|\$\{.+\})"}};
    if (!source) form["not"] = {{"const", "input"}};
    return form;
}

// `from`: one name, or a list of `least` to `most` (0: any number) of them.
Json sources_schema(std::size_t least, std::size_t most) {
    const Json name = layer_name_schema(true);
    Json list = {{"type", "array"}, {"items", name}, {"minItems", std::max<std::size_t>(least, 1)}};
    if (most > 0) list["maxItems"] = most;
    if (least > 1) return list;
    return {{"anyOf", {name, list}}};
}

void refine(Json& fields, const char* name, Json form, const FieldTable& table) {
    describe_in(form, *find_field(table, name));
    fields["properties"][name] = std::move(form);
}

// The fields that every layer takes besides its operator's.
void add_layer_fields(Json& fields, std::size_t least, std::size_t most) {
    refine(fields, "name", layer_name_schema(false), layer_table());
    refine(fields, "from", sources_schema(least, most), layer_table());
    refine(fields, "share", layer_name_schema(false), layer_table());
}

// An object of fields that other definitions describe, and of no others. To be closed it must
// repeat their names.
Json closed(const std::vector<std::string>& definitions, const std::vector<std::string>& names) {
    Json all = Json::array(), properties = Json::object();
    for (const std::string& definition : definitions)
        all.push_back(reference_to(definition));
    for (const std::string& name : names)
        properties[name] = true;
    Json schema = {{"type", Json::array({"object", "null"})}};
    if (!all.empty()) schema["allOf"] = all;
    schema["properties"] = properties;
    schema["additionalProperties"] = false;
    return schema;
}

Json closed_fields(const LayerWord& word, bool of_layer) {
    std::vector<std::string> definitions, names;
    if (!word.fields.empty()) definitions.push_back("fields_of_" + word.name);
    for (const Field& field : word.fields)
        names.emplace_back(field.name);
    if (of_layer) {
        definitions.push_back("fields_of_layers");
        for (const Field& field : layer_table())
            names.emplace_back(field.name);
    }
    Json schema = closed(definitions, names);
    if (!word.doc.empty()) schema["description"] = word.doc;
    return schema;
}

// `fields_of_X` alone; `layer_X` with the layer's own fields; `whole_layer_X` with what is
// required.
void add_word(Json& definitions, const LayerWord& word) {
    if (!word.fields.empty())
        definitions["fields_of_" + word.name] = {
            {"properties", table_schema(word.fields, true)["properties"]}};
    if (word.joining) return;
    definitions["layer_" + word.name] = closed_fields(word, true);
    if (word.required.empty()) return;
    Json& whole = definitions["whole_layer_" + word.name];
    whole = {{"allOf", Json::array({reference_to("layer_" + word.name)})},
             {"type", "object"},
             {"required", word.required}};
    if (!word.doc.empty()) whole["description"] = word.doc;
}

// add, concat, ...: the branches may stand alone, as a list.
Json joining_schema(const OpDef& op, const std::vector<std::string>& required,
                    const LayerRules& rules) {
    const auto least = std::size_t(std::max(op.min_inputs, 1));
    const Json branches = {{"type", "array"},
                           {"items", list_of_layers(rules)},
                           {"minItems", least},
                           {"description", std::string(branches_table().front().doc)}};
    Json fields = table_schema(op.fields, true);
    add_layer_fields(fields, least, 0);
    fields["properties"]["branches"] = branches;
    fields["not"] = {{"required", {"from", "branches"}}};
    if (least > 1)
        fields["anyOf"] = {{{"required", Json::array({"from"})}},
                           {{"required", Json::array({"branches"})}}};
    else
        fields["type"] = Json::array({"object", "null"});
    if (rules.all_required && !required.empty()) {
        fields["type"] = "object";
        fields["required"] = required;
        return {{"allOf", {fields}}, {"description", op.doc}};
    }
    return {{"anyOf", {branches, fields}}, {"description", op.doc}};
}

Json control_schema(const FieldTable& table, const LayerRules& rules, const char* doc) {
    Json fields = table_schema(table, true);
    for (const Field& field : table)
        if (field.type == FieldType::layers) {
            Json list = list_of_layers(rules);
            list["description"] = std::string(field.doc);
            fields["properties"][std::string(field.name)] = list;
        }
    refine(fields, "from", sources_schema(1, 1), table);
    if (find_field(table, "name")) refine(fields, "name", layer_name_schema(false), table);
    if (find_field(table, "index"))
        refine(fields, "index", {{"type", "string"}, {"pattern", kBlockName}}, table);
    return use_schema(fields, required_fields(table), doc);
}

// The layers of a model: at least one.
Json model_layers(const LayerRules& rules) {
    Json list = list_of_layers(rules);
    list["minItems"] = 1;
    return list;
}

void add_entry(Json& definitions, const LayerRules& rules) {
    Json plain = Json::array(), uses = Json::object();
    Json keywords = {"repeat", "if"};  // words that never stand alone
    for (const LayerWord& word : layer_words()) {
        const bool whole = rules.all_required && !word.required.empty();
        uses[word.name] = word.joining
                              ? joining_schema(*word.joining, word.required, rules)
                              : reference_to((whole ? "whole_layer_" : "layer_") + word.name);
        const bool alone = !whole && (!word.joining || word.joining->min_inputs <= 1);
        (alone ? plain : keywords).push_back(word.name);
    }
    uses["repeat"] =
        control_schema(repeat_table(), rules, "layers several times, one after another");
    uses["if"] = control_schema(if_table(), rules, "layers that depend on a condition");

    Json map = {{"type", "object"},
                {"minProperties", 1},
                {"maxProperties", 1},
                {"properties", uses},
                {"additionalProperties", false}};
    // The operator itself may be an expression: ${act}.
    map["patternProperties"] = {
        {R"(^\$\{.+\}$)", {{"type", Json::array({"object", "array", "null"})}}}};
    std::vector<Json> forms = {{{"enum", plain}}, expression_schema(), map};
    if (rules.blocks) {
        forms[0] = {
            {"anyOf",
             {{{"enum", plain}},
              {{"type", "string"}, {"pattern", kBlockName}, {"not", {{"enum", keywords}}}}}}};
        forms[2]["additionalProperties"] = {{"type", Json::array({"object", "null"})},
                                            {"description", "a block of the model"}};
        forms[2]["propertyNames"] = {
            {"anyOf", {{{"pattern", kBlockName}}, {{"pattern", R"(^\$\{.+\}$)"}}}}};
    }
    definitions["entry_of_" + rules.name] = {
        {"description", "a layer: a name, or one operator or block with its fields"},
        {"anyOf", forms}};
}

// The names that a model's blocks and operators may have.
Json names_to_give() {
    Json taken = {"repeat", "if", "input"};
    for (const OpDef* op : all_ops())
        taken.push_back(op->name);
    for (const LayerWord& word : layer_words())
        if (!std::count(taken.begin(), taken.end(), word.name)) taken.push_back(word.name);
    return {{"pattern", kBlockName}, {"not", {{"enum", taken}}}};
}

Json block_parameters() {
    const FieldTable& parameter = block_parameter_table();
    Json form = table_schema(parameter, true);
    form["required"] = required_fields(parameter);
    Json types = Json::array();
    for (const std::string_view type : find_field(parameter, "type")->choices)
        types.push_back(std::string(type));
    const Field& field = *find_field(block_table(), "parameters");
    Json schema = {{"type", "object"},
                   {"propertyNames", {{"pattern", kBlockName}}},
                   {"additionalProperties", {{"anyOf", {{{"enum", types}}, form}}}}};
    describe_in(schema, field);
    return schema;
}

// Blocks may be given in part where the rest is in the model that is extended.
Json blocks_schema(const LayerRules& rules, bool whole) {
    Json block = table_schema(block_table(), true);
    block["properties"]["layers"] = list_of_layers(rules);
    block["properties"]["parameters"] = reference_to("block_parameters");
    if (whole) block["required"] = required_fields(block_table());
    return {{"type", "object"},
            {"propertyNames", reference_to("names_to_give")},
            {"additionalProperties", block}};
}

// A formula by itself, or under a name in a model, where it may extend another.
Json formula_form(const FieldTable& table, const FieldTable& parameters, Json words) {
    Json parameter = table_schema(parameters, true);
    parameter["required"] = required_fields(parameters);
    Json form = table_schema(table, true);
    form["if"] = {{"required", Json::array({"extends"})}};
    form["else"] = {{"required", required_fields(table)}};
    form["properties"]["parameters"]["type"] = "object";
    for (const std::string& word : expression_words())
        words.push_back(word);
    form["properties"]["parameters"]["propertyNames"] = {{"pattern", kBlockName},
                                                         {"not", {{"enum", words}}}};
    form["properties"]["parameters"]["additionalProperties"] = {
        {"anyOf", {{{"enum", {"real", "integer"}}}, parameter}}};
    return form;
}

Json operator_form() {
    return formula_form(operator_table(), operator_parameter_table(), {"x"});
}

Json operators_schema() {
    const Json name = {{"type", "string"}, {"pattern", "^[A-Za-z0-9_./-]+$"}};
    // Only the word tells one from an operator.
    const Json loss = {{"allOf", {reference_to("loss"), {{"required", {"kind"}}}}}};
    const Json map = {
        {"type", "object"},
        {"propertyNames", reference_to("names_to_give")},
        {"additionalProperties", {{"anyOf", {name, reference_to("operator"), loss}}}}};
    return {{"anyOf", {map, {{"type", "array"}, {"items", name}}}}};
}

// The defaults of a model whose own blocks may have some too; `defaults` is closed.
Json defaults_with_blocks() {
    Json types = Json::object();
    for (const LayerWord& word : layer_words())
        types[word.name] = closed_fields(word, false);
    return {{"type", "object"},
            {"properties", types},
            {"additionalProperties", {{"type", Json::array({"object", "null"})}}}};
}

Json model_properties() {
    Json schema = table_schema(model_table(), true);
    Json& properties = schema["properties"];
    auto adjust = [&](const char* name, Json form) {
        form["description"] = std::string(find_field(model_table(), name)->doc);
        properties[name] = form;
    };
    adjust("extends", reference_name_schema());
    adjust("name", spec_name_schema());
    adjust("parameters",
           {{"type", "object"},
            {"propertyNames", {{"pattern", kBlockName}}},
            {"additionalProperties", {{"type", Json::array({"number", "boolean", "string"})}}}});
    adjust("operators", operators_schema());
    Json input = table_schema(input_table(), true);
    input["required"] = required_fields(input_table());
    Json named = table_schema(named_input_table(), true);
    named["required"] = required_fields(input_table());
    const Json kind_of_axis = {
        {"anyOf", Json::array({{{"enum", {"channel", "space", "step", "feature"}}},
                               {{"type", "string"}, {"pattern", "\\$\\{.+\\}"}}})}};
    for (Json* form : {&input, &named}) {
        (*form)["properties"]["axes"]["anyOf"] =
            Json::array({kind_of_axis, {{"type", "array"}, {"items", kind_of_axis}}});
        // The list is the first of the forms; the other one is an expression.
        Json& list = (*form)["properties"]["shape"]["anyOf"][0];
        list["minItems"] = 1;
        list["maxItems"] = 7;
        // More extents than three have no usual axes.
        (*form)["if"] = {{"not", {{"required", {"axes"}}}}};
        (*form)["then"] = {{"properties", {{"shape", {{"maxItems", 3}}}}}};
    }
    adjust("input", input);
    adjust("inputs", {{"type", "object"},
                      {"propertyNames", {{"pattern", kBlockName}}},
                      {"additionalProperties", named}});
    properties.erase("kind");
    Json kind = {{"const", "model"}};
    properties["kind"] = kind;
    return schema;
}

}  // namespace

void add_model_definitions(Json& definitions) {
    definitions["initializer"] = initializer_schema();
    definitions["operator"] = operator_form();
    definitions["names_to_give"] = names_to_give();
    definitions["block_parameters"] = block_parameters();
    Json own = Json::object();
    add_layer_fields(own, 1, 1);
    definitions["fields_of_layers"] = own;
    std::vector<std::string> names;
    for (const LayerWord& word : layer_words()) {
        add_word(definitions, word);
        names.push_back(word.name);
    }
    for (const LayerRules& rules : layer_rules()) {
        add_entry(definitions, rules);
        if (rules.blocks) definitions["blocks_of_" + rules.name] = blocks_schema(rules, true);
    }
    const auto& rules = layer_rules();
    definitions["parts_of_blocks"] = blocks_schema(rules[3], false);
    definitions["defaults_with_blocks"] = defaults_with_blocks();
    definitions["defaults"] = closed({"defaults_with_blocks"}, names);
    definitions["defaults"]["type"] = "object";

    // By what the model has: `extends` (nothing is required, any name may be a block), `blocks` or
    // `operators`, `defaults`.
    const auto when = [](const char* field, Json then, Json otherwise) {
        Json has = {{"required", Json::array({field})}};
        if (field == std::string_view("blocks"))
            has = {{"anyOf", {has, {{"required", Json::array({"operators"})}}}}};
        return Json{
            {"if", std::move(has)}, {"then", std::move(then)}, {"else", std::move(otherwise)}};
    };
    const auto with = [](const LayerRules& one, bool whole) {
        Json properties = {
            {"layers", model_layers(one)},
            {"defaults", reference_to(one.blocks ? "defaults_with_blocks" : "defaults")}};
        if (one.blocks)
            properties["blocks"] =
                reference_to(whole ? "blocks_of_" + one.name : "parts_of_blocks");
        Json schema = {{"properties", properties}};
        if (whole) {
            schema["required"] = Json::array();
            for (const std::string& field : required_fields(model_table()))
                if (field != "input") schema["required"].push_back(field);
            schema["anyOf"] = Json::array();
            for (const char* either : {"input", "inputs"})
                schema["anyOf"].push_back({{"required", Json::array({either})}});
        }
        return schema;
    };
    Json model = model_properties();
    Json base = when("extends", with(rules[3], false),
                     when("blocks", when("defaults", with(rules[3], true), with(rules[2], true)),
                          when("defaults", with(rules[1], true), with(rules[0], true))));
    model["description"] = std::string(find_kind("model")->doc);
    for (const auto& [key, value] : base.items())
        model[key] = value;
    definitions["model"] = model;
    // A model within a job that extends another one may be a part of that job's model.
    Json part = model_properties();
    const Json open = with(rules[3], false);
    for (const auto& [name, form] : open["properties"].items())
        part["properties"][name] = form;
    part["properties"]["input"].erase("required");
    definitions["model_part"] = part;
}

Json loss_schema() {
    return formula_form(loss_operator_table(), loss_parameter_table(), {"p", "t"});
}

}  // namespace dtnn::compiler
