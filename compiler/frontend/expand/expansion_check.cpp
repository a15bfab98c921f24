#include "compiler/frontend/expand/expansion_check.hpp"

#include <fmt/format.h>

#include "compiler/frontend/tables/tables.hpp"

namespace dtnn::compiler {
namespace {

void check_formulas(const SourceNode& tree, Diagnostics& diagnostics) {
    if (tree.is_scalar() && has_formula(tree.text)) check_syntax(tree, diagnostics);
    for (const SourceNode& item : tree.items)
        check_formulas(item, diagnostics);
    for (const SourceEntry& entry : tree.entries)
        check_formulas(entry.value, diagnostics);
}

const FieldTable& table_of(const LayerEntry& entry) {
    if (entry.op) return fields_of_operator(*entry.op);
    if (entry.block) return entry.block->fields;
    return table_of(*entry.control);
}

void check_fields(const LayerEntry& entry, const ModelLanguage& language,
                  Diagnostics& diagnostics) {
    const FieldTable& table = table_of(entry);
    SourceNode plain = make_map();
    FieldScope scope{entry.type, entry.span};
    for (const SourceEntry* field : language.fields_of(entry)) {
        const Field* known = find_field(table, field->key);
        const bool list = known && is_structural_list(*known);
        if (!list && !any_formula(field->value)) {
            plain.entries.push_back(*field);
            continue;
        }
        if (!list) check_formulas(field->value, diagnostics);
        if (known)
            scope.given.insert(field->key);
        else
            plain.entries.push_back(*field);
    }
    for (const std::string& field : language.misspelt_of(entry.type))
        scope.given.insert(field);
    read_fields(plain, table, scope, diagnostics);
}

}  // namespace

void check_unexpanded(const SourceNode& list, const ModelLanguage& language,
                      Diagnostics& diagnostics) {
    for (const SourceNode& item : list.items) {
        const RawEntry raw = raw_entry(item);
        if (has_formula(raw.type)) {
            const Span& span = item.is_map() ? item.entries[0].key_span : item.span;
            check_syntax(make_scalar(std::string(raw.type), span), diagnostics);
        } else if (const auto entry = read_entry(item, language.blocks(),
                                                 InReach(language.parameters()), diagnostics)) {
            check_fields(*entry, language, diagnostics);
        }
        for (const SourceNode* inner : nested_lists(raw))
            check_unexpanded(*inner, language, diagnostics);
    }
}

void check_all_read(const ModelSpec& model, int output, Diagnostics& diagnostics) {
    std::vector<bool> read(model.layers.size(), false), fed(model.inputs.size(), false);
    for (const LayerSpec& layer : model.layers)
        for (const int source : layer.sources)
            if (source >= 0)
                read[std::size_t(source)] = true;
            else
                fed[std::size_t(-1 - source)] = true;
    for (std::size_t i = 0; i < fed.size(); ++i)
        if (!fed[i] && !model.inputs[i].name.empty() && !model.layers.empty())
            diagnostics.error(Code::unused_layer, model.inputs[i].span,
                              fmt::format("no layer reads the input `{}`", model.inputs[i].name),
                              "read it by `from`, or remove it");
    if (output >= 0) read[std::size_t(output)] = true;
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
        if (read[i]) continue;
        const LayerSpec& layer = model.layers[i];
        const auto name = layer.spans.find("name");
        diagnostics.error(
            Code::unused_layer, name == layer.spans.end() ? layer.span : name->second,
            fmt::format("no layer reads `{}`; only the last layer is the model's output",
                        layer.name),
            "read it by `from`, or remove it");
    }
}

}  // namespace dtnn::compiler
