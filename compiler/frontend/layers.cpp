// The list of layers of a model: what each entry may look like, and its fields by its operator's
// table.

#include <fmt/format.h>

#include <array>
#include <map>
#include <set>

#include "compiler/frontend/tables.hpp"
#include "compiler/frontend/validation.hpp"
#include "compiler/ops/op.hpp"

namespace dtnn::compiler {
namespace {

/// What other frameworks call our operators, where the words are too different to be near.
struct Synonym {
    std::string_view word, op;
};
constexpr std::array kSynonyms = {
    Synonym{"linear", "dense"},       Synonym{"fully_connected", "dense"},
    Synonym{"fc", "dense"},           Synonym{"convolution", "conv2d"},
    Synonym{"conv", "conv2d"},        Synonym{"residual", "add"},
    Synonym{"concatenate", "concat"}, Synonym{"maxpool", "max_pool2d"},
    Synonym{"pool", "max_pool2d"},    Synonym{"avgpool", "avg_pool2d"},
    Synonym{"bn", "batch_norm"},      Synonym{"inception", "concat"},
};

std::string suggest_operator(const std::string& word) {
    for (const Synonym& synonym : kSynonyms)
        if (synonym.word == word) return fmt::format("did you mean `{}`?", synonym.op);
    return suggest(word, layer_names(), "the operators");
}

FieldTable table_of(const OpDef& op) {
    FieldTable table = op.fields;
    for (const Field& field : layer_table())
        table.push_back(field);
    if (op.variadic)
        for (const Field& field : branches_table())
            table.push_back(field);
    return table;
}

class LayerReader {
  public:
    explicit LayerReader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

    std::vector<LayerSpec> list(const SourceNode& node) {
        std::vector<LayerSpec> layers;
        for (const SourceNode& item : node.items) {
            LayerSpec layer;
            if (entry(item, layer)) layers.push_back(std::move(layer));
        }
        return layers;
    }

  private:
    /// True when the entry names an operator, so that what reads it by name finds it even after an
    /// error.
    bool entry(const SourceNode& item, LayerSpec& layer) {
        static const SourceNode no_fields = make_map();
        if (item.is_scalar()) return with_operator(item.text, item.span, no_fields, layer);
        if (!item.is_map())
            return bad_layer(item.span, fmt::format("the layer is {}", describe(item)), "");
        const std::string shape_help = "write `- relu` or `- dense: {units: 10}`";
        if (item.entries.empty())
            return bad_layer(item.span, "the layer is an empty map", shape_help);
        const SourceEntry& first = item.entries.front();
        if (item.entries.size() > 1) {
            const OpDef* op = find_op(first.key);
            const bool sibling_fields = op && op->layer && !first.value.is_map() &&
                                        find_field(table_of(*op), item.entries[1].key);
            if (sibling_fields)
                return bad_layer(
                    item.entries[1].key_span,
                    fmt::format("`{}` stands beside `{}`", item.entries[1].key, first.key),
                    fmt::format("indent it under `{}`, or write `- {}: {{{}: ...}}`", first.key,
                                first.key, item.entries[1].key));
            std::string keys;
            for (const SourceEntry& one : item.entries)
                keys += fmt::format("{}`{}`", keys.empty() ? "" : ", ", one.key);
            return bad_layer(first.key_span, fmt::format("the layer has the keys {}", keys),
                             shape_help);
        }
        return with_operator(first.key, first.key_span, first.value, layer);
    }

    bool bad_layer(const Span& span, const std::string& fact, const std::string& help) {
        diagnostics_
            .error(Code::bad_layer, span,
                   fact + "; a layer is a name, or one operator with its fields")
            .help = help;
        return false;
    }

    bool with_operator(const std::string& type, const Span& span, const SourceNode& value,
                       LayerSpec& layer) {
        if (type == "repeat" || type.find("${") != std::string::npos) {
            diagnostics_
                .error(Code::not_available, span,
                       fmt::format("`{}` is a part of the language that this version does not have",
                                   type))
                .help = "write the layers out";
            return false;
        }
        const OpDef* op = find_op(type);
        layer.type = type;
        layer.span = span;
        if (!op || !op->layer) {
            diagnostics_
                .error(Code::unknown_operator, span,
                       fmt::format("`{}` is not an operator for layers", type))
                .help = suggest_operator(type);
            // Its name still exists, so that `from` it is not a second mistake.
            if (value.is_map())
                if (const SourceEntry* name = value.find("name"); name && name->value.is_scalar()) {
                    layer.name = name->value.text;
                    layer.named = true;
                    layer.type.clear();
                    return true;
                }
            return false;
        }
        static const SourceNode no_fields = make_map();
        if (value.is_null() || value.is_map()) {
            fields(*op, value.is_null() ? no_fields : value, layer);
        } else if (op->variadic && value.is_list()) {
            fields(*op, no_fields, layer);
            branches(*op, value, layer);
        } else {
            diagnostics_
                .error(Code::wrong_type, value.span,
                       fmt::format("`{}` is given {}; it takes {}", type, describe(value),
                                   op->variadic ? "a list of branches or a map of fields"
                                                : "a map of fields"))
                .help = op->fields.empty() ? "" : fmt::format("such as `{}`", op->example);
        }
        return true;
    }

    void fields(const OpDef& op, const SourceNode& map, LayerSpec& layer) {
        const FieldTable table = table_of(op);
        FieldValues values = read_fields(map, table, {op.name, layer.span}, diagnostics_);
        if (const auto name = values.values.extract("name")) {
            layer.name = std::get<std::string>(name.mapped());
            layer.named = true;
            check_name(layer.name, values.spans["name"]);
        }
        if (const SourceNode* from = values.node("from"))
            if (const auto texts =
                    read_texts(*from, *find_field(table, "from"), op.name, diagnostics_))
                for (const LocatedText& text : *texts) {
                    layer.from.push_back(text.text);
                    layer.from_spans.push_back(text.span);
                }
        if (const SourceNode* node = values.node("branches")) branches(op, *node, layer);
        layer.fields = std::move(values.values);
        layer.spans = std::move(values.spans);
    }

    void branches(const OpDef& op, const SourceNode& list, LayerSpec& layer) {
        if (!list.is_list()) {
            diagnostics_.error(
                Code::wrong_type, list.span,
                fmt::format("`branches` of {} is {}; it must be a list of lists of layers", op.name,
                            describe(list)));
            return;
        }
        for (const SourceNode& branch : list.items) {
            if (branch.is_list()) {
                layer.branches.push_back(this->list(branch));
                continue;
            }
            diagnostics_
                .error(Code::bad_layer, branch.span,
                       fmt::format("a branch of {} is {}; it must be a list of layers", op.name,
                                   describe(branch)))
                .help = "put the branch in brackets; `[]` is identity";
        }
    }

    void check_name(const std::string& name, const Span& span) {
        const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
        bool sound = !name.empty() && letter(name[0]);
        for (const char c : name)
            sound = sound && (letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-');
        if (!sound)
            diagnostics_.error(
                Code::bad_name, span,
                fmt::format("the layer's name is `{}`; it must be a letter, then letters, digits, "
                            "`_` and `-`",
                            name));
        else if (name == "input")
            diagnostics_.error(Code::bad_name, span,
                               "the layer's name is `input`, which is the model's input");
    }

    Diagnostics& diagnostics_;
};

void collect_names(const std::vector<LayerSpec>& layers, std::set<std::string>& names) {
    for (const LayerSpec& layer : layers) {
        for (const auto& branch : layer.branches)
            collect_names(branch, names);
        if (layer.named) names.insert(layer.name);
    }
}

void make_names(std::vector<LayerSpec>& layers, std::map<std::string, int>& counts,
                std::set<std::string>& names) {
    for (LayerSpec& layer : layers) {
        // Branches come before the layer that joins them, as in the layer table.
        for (auto& branch : layer.branches)
            make_names(branch, counts, names);
        std::string made = fmt::format("{}_{}", layer.type, ++counts[layer.type]);
        if (layer.named) continue;
        while (!names.insert(made).second)
            made += "_";
        layer.name = made;
    }
}

}  // namespace

std::vector<LayerSpec> read_layers(const SourceNode& list, Diagnostics& diagnostics) {
    return LayerReader(diagnostics).list(list);
}

void name_layers(std::vector<LayerSpec>& layers) {
    std::set<std::string> names;
    std::map<std::string, int> counts;
    collect_names(layers, names);
    make_names(layers, counts, names);
}

}  // namespace dtnn::compiler
