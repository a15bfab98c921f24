#include "compiler/frontend/expand/model_language.hpp"

#include <fmt/format.h>

#include "compiler/frontend/read/scalars.hpp"

namespace dtnn::compiler {

FormulaValue scalar_value(const SourceNode& node, const std::string& what,
                          Diagnostics& diagnostics) {
    const auto refuse = [&](const std::string& help) {
        diagnostics.error(
            Code::wrong_type, node.span,
            fmt::format("{} is {}; it must be an integer, a number, true or false, or text", what,
                        describe(node)),
            help);
        return FormulaValue(Unknown{});
    };
    if (const SourceEntry* fallback = node.find("default"); fallback && fallback->value.is_scalar())
        return refuse(fmt::format("write its default alone: {}", fallback->value.text));
    if (!node.is_scalar()) return refuse("");
    if (node.quoted) return node.text;
    if (const auto boolean = parse_boolean(node.text)) return *boolean;
    const ParsedInteger integer = parse_integer(node.text);
    if (integer.value) return *integer.value;
    const ParsedReal real = parse_real(node.text);
    if (integer.overflow || real.overflow) {
        diagnostics.error(
            Code::out_of_range, node.span,
            fmt::format("{} is {}, which does not fit 64 bits", what, describe(node)));
        return Unknown{};
    }
    if (real.value) return *real.value;
    if (node.text.find_first_not_of("0123456789") == std::string::npos && !node.text.empty())
        return refuse("write the number without leading zeros, or a text in quotes");
    for (const std::string& help : {boolean_help(node.text), integer.help, real.help})
        if (!help.empty()) return refuse(help);
    return node.text;
}

ModelLanguage::ModelLanguage(const SourceNode* parameters, const SourceNode* defaults,
                             const SourceNode* blocks, const SourceNode* operators,
                             Diagnostics& diagnostics)
    : blocks_(blocks, operators, diagnostics) {
    if (parameters) read_parameters(*parameters, diagnostics);
    if (defaults) read_defaults(*defaults, diagnostics);
}

void ModelLanguage::read_parameters(const SourceNode& map, Diagnostics& diagnostics) {
    if (!map.is_map()) {
        diagnostics.error(
            Code::wrong_type, map.span,
            fmt::format("`parameters` of model is {}; it must be a map of names", describe(map)),
            "such as `parameters: {depth: 18, width: 1.0}`");
        return;
    }
    for (const SourceEntry& entry : map.entries) {
        if (!is_variable_name(entry.key)) {
            diagnostics.error(
                Code::bad_name, entry.key_span,
                fmt::format("a parameter of the model is named `{}`; it must be a letter, then "
                            "letters, digits and `_`, and no word of expressions",
                            entry.key));
            continue;
        }
        Binding binding;
        const SourceNode& node = entry.value;
        if (node.is_scalar() && has_formula(node.text)) {
            // It may be made from those above it.
            if (auto value = evaluate_value(node, InReach(parameters_), diagnostics))
                binding.value = std::move(*value);
        } else {
            binding.value =
                scalar_value(node, fmt::format("`{}` of parameters", entry.key), diagnostics);
        }
        parameters_.bind(entry.key, std::move(binding));
    }
}

void ModelLanguage::read_defaults(const SourceNode& map, Diagnostics& diagnostics) {
    if (!map.is_map()) {
        diagnostics.error(
            Code::wrong_type, map.span,
            fmt::format("`defaults` of model is {}; it must be a map from types of layers to "
                        "fields",
                        describe(map)),
            "such as `defaults: {conv2d: {bias: false}}`");
        return;
    }
    for (const SourceEntry& entry : map.entries) {
        const OpDef* op = find_op(entry.key);
        const Block* block = blocks_.find(entry.key);
        if (!block && !(op && op->layer)) {
            diagnostics.error(
                Code::unknown_operator, entry.key_span,
                fmt::format("`{}` is not an operator for layers or a block", entry.key),
                worth_suggesting(diagnostics, blocks_.size()) ? suggest_type(entry.key, blocks_)
                                                              : std::string());
            continue;
        }
        if (entry.value.is_null()) continue;
        if (!entry.value.is_map()) {
            diagnostics.error(Code::wrong_type, entry.value.span,
                              fmt::format("`{}` of defaults is {}; it must be a map of fields",
                                          entry.key, describe(entry.value)));
            continue;
        }
        FieldTable table;
        if (block)
            for (const BlockParameter& parameter : block->parameters)
                table.push_back(parameter.field);
        else
            table = op->fields;
        for (Field& field : table)
            field.optional = true;
        // Expressions are evaluated where the default is used; the names of fields are checked
        // here.
        SourceNode plain = make_map(entry.value.span);
        for (const SourceEntry& field : entry.value.entries)
            if (!any_formula(field.value) || !find_field(table, field.key))
                plain.entries.push_back(field);
        FieldValues read = read_fields(plain, table, {entry.key, entry.key_span}, diagnostics);
        if (!read.mistyped.empty()) misspelt_[entry.key] = std::move(read.mistyped);
        defaults_[entry.key] = &entry.value;
    }
}

const std::set<std::string, std::less<>>& ModelLanguage::misspelt_of(
    const std::string& type) const {
    static const std::set<std::string, std::less<>> none;
    const auto found = misspelt_.find(type);
    return found == misspelt_.end() ? none : found->second;
}

std::vector<const SourceEntry*> ModelLanguage::fields_of(const LayerEntry& entry) const {
    std::vector<const SourceEntry*> fields;
    if (entry.fields)
        for (const SourceEntry& field : entry.fields->entries)
            fields.push_back(&field);
    if (const auto defaults = defaults_.find(entry.type); defaults != defaults_.end())
        for (const SourceEntry& field : defaults->second->entries) {
            const FieldTable& table =
                entry.block ? entry.block->fields : fields_of_operator(*entry.op);
            // A field that defaults do not know has been reported with them.
            if (find_field(table, field.key) && !(entry.fields && entry.fields->find(field.key)))
                fields.push_back(&field);
        }
    return fields;
}

}  // namespace dtnn::compiler
