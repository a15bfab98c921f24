#include "compiler/frontend/expand/blocks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/compose/spec_files.hpp"
#include "compiler/frontend/expand/layers.hpp"
#include "compiler/frontend/expand/standard_blocks.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "compiler/ops/op.hpp"

namespace dtnn::compiler {
namespace {

constexpr const char* kOperatorHelp =
    "such as `swish: {parameters: {beta: {type: real, default: 1}}, forward: \"x * sigmoid(beta * "
    "x)\"}`";
constexpr const char* kFormHelp =
    "such as `basic: {parameters: {filters: integer}, layers: [conv2d: {filters: \"${filters}\", "
    "kernel: 3}, relu]}`";

void bad_block(Diagnostics& diagnostics, const Span& span, std::string text, std::string help) {
    diagnostics.error(Code::bad_block, span, std::move(text), std::move(help));
}

/// Null after a diagnostic about the type.
const ParameterType* type_named(std::string_view name) {
    for (const ParameterType& type : parameter_types())
        if (type.name == name) return &type;
    return nullptr;
}

/// The names of the blocks that the layers of a list use, by their literal names.
void collect_uses(const SourceNode& list, const Blocks& blocks, std::set<std::string>& uses) {
    for (const SourceNode& item : list.items) {
        const RawEntry entry = raw_entry(item);
        if (blocks.find(entry.type)) uses.insert(std::string(entry.type));
        for (const SourceNode* inner : nested_lists(entry))
            collect_uses(*inner, blocks, uses);
    }
}

}  // namespace

Blocks::Blocks(const SourceNode* declared, const SourceNode* operators, Diagnostics& diagnostics) {
    Diagnostics standard;  // texts of ours, sound by test
    for (const SourceEntry& entry : standard_blocks().entries)
        read(entry, false, standard);
    if (operators) read_all(*operators, true, diagnostics);
    if (declared) read_all(*declared, false, diagnostics);
    break_cycles(diagnostics);
}

void Blocks::read_all(const SourceNode& declared, bool operators, Diagnostics& diagnostics) {
    const char* const kind = operators ? "operator" : "block";
    if (!declared.is_map()) {
        bad_block(diagnostics, declared.span,
                  fmt::format("`{}s` of model is {}; it must be a map from names to {}s", kind,
                              describe(declared), kind),
                  operators ? kOperatorHelp : kFormHelp);
        return;
    }
    for (const SourceEntry& entry : declared.entries) {
        const auto refuse = [&](const char* what) {
            bad_block(diagnostics, entry.key_span,
                      fmt::format("the {}'s name is `{}`, which is {}", kind, entry.key, what),
                      "choose another name");
        };
        const Block* known = find(entry.key);
        if (find_op(entry.key))
            refuse("an operator");
        else if (control_word(entry.key) || entry.key == "input")
            refuse("a word of the language");
        else if (standard_blocks().find(entry.key))
            refuse("a block that is built in");
        else if (known)
            refuse("an operator of this model");
        else if (!is_variable_name(entry.key))
            diagnostics.error(Code::bad_name, entry.key_span,
                              fmt::format("the {}'s name is `{}`; it must be a letter, then "
                                          "letters, digits and `_`, and no word of expressions",
                                          kind, entry.key));
        else
            read(entry, operators, diagnostics);
    }
}

const Block* Blocks::find(std::string_view name) const {
    const auto found = blocks_.find(name);
    return found == blocks_.end() ? nullptr : &found->second;
}

std::vector<std::string> Blocks::names() const {
    std::vector<std::string> names;
    for (const auto& [name, block] : blocks_)
        names.push_back(name);
    return names;
}

void Blocks::read(const SourceEntry& entry, bool is_operator, Diagnostics& diagnostics) {
    Block& block = blocks_[entry.key];
    block.name = entry.key;
    block.span = entry.key_span;
    block.is_operator = is_operator;
    const std::string what =
        fmt::format("the {} {}", is_operator ? "operator" : "block", block.name);
    if (is_operator && entry.value.is_scalar() && may_be_reference(entry.value.text)) {
        // A name, which was looked for in vain when specs were put together.
    } else if (!entry.value.is_map()) {
        bad_block(diagnostics, entry.value.span,
                  fmt::format("{} is {}; it must be a map with `{}`", what, describe(entry.value),
                              is_operator ? "forward" : "layers"),
                  is_operator ? kOperatorHelp : kFormHelp);
    } else if (is_operator) {
        read_operator(entry, block, diagnostics);
    } else {
        const FieldValues values =
            read_fields(entry.value, block_table(), {what, entry.key_span}, diagnostics);
        if (const SourceNode* parameters = values.node("parameters"))
            read_block_parameters(*parameters, what, block, diagnostics);
        if (const SourceNode* layers = values.node("layers")) {
            if (layers->is_list())
                block.layers = layers;
            else
                diagnostics.error(
                    Code::wrong_type, layers->span,
                    fmt::format("`layers` of {} is {}; it must be a list", what, describe(*layers)),
                    "begin every layer with `- `");
        }
    }
    for (const BlockParameter& parameter : block.parameters) {
        block.fields.push_back(parameter.field);
        // Parameters that a use does not give are found by bind_parameters.
        block.fields.back().optional = parameter.fallback != nullptr;
    }
    if (block.is_loss) return;
    for (const Field& field : layer_table())
        block.fields.push_back(field);
}

void read_block_parameters(const SourceNode& map, const std::string& what, Block& block,
                           Diagnostics& diagnostics) {
    if (!map.is_map()) {
        bad_block(diagnostics, map.span,
                  fmt::format("`parameters` of {} is {}; it must be a map from names to types",
                              what, describe(map)),
                  block.is_operator ? kOperatorHelp : kFormHelp);
        return;
    }
    for (const SourceEntry& entry : map.entries) {
        if (!is_variable_name(entry.key) || find_field(layer_table(), entry.key)) {
            diagnostics.error(
                Code::bad_name, entry.key_span,
                fmt::format("a parameter of {} is named `{}`; it must be a letter, then letters, "
                            "digits and `_`, not `name`, `from`, `share` or a word of expressions",
                            what, entry.key));
            continue;
        }
        const std::string whose = fmt::format("the parameter {}", entry.key);
        SourceNode short_form = make_map(entry.value.span);
        if (entry.value.is_scalar())
            short_form.entries.push_back({"type", entry.value.span, entry.value});
        else if (!entry.value.is_map()) {
            bad_block(diagnostics, entry.value.span,
                      fmt::format("{} of {} is {}; it must be a type, or a map with `type`", whose,
                                  what, describe(entry.value)),
                      "such as `filters: integer` or `stride: {type: integer, default: 1}`");
            continue;
        }
        const SourceNode& form = entry.value.is_map() ? entry.value : short_form;
        FieldScope scope{whose, entry.key_span};
        scope.elsewhere["trainable"] =
            "only parameters of operators by formula are learned, which are elementwise";
        const FieldValues values = read_fields(form,
                                               block.is_loss       ? loss_parameter_table()
                                               : block.is_operator ? operator_parameter_table()
                                                                   : block_parameter_table(),
                                               scope, diagnostics);
        BlockParameter& parameter = block.parameters.emplace_back();
        parameter.name = entry.key;
        parameter.doc = values.text("doc");
        parameter.field.name = parameter.name;
        parameter.field.doc = parameter.doc;
        const ParameterType* type = type_named(values.text("type"));
        if (type) parameter.field.type = type->type;
        if (BlockParameter::Training trained = {}; parse_name(values.text("trainable"), trained))
            parameter.trained = trained;
        for (const char* bound : {"minimum", "maximum"}) {
            if (!values.values.contains(bound)) continue;
            if (!type || !type->is_number) {
                diagnostics.error(Code::misplaced_field, values.spans.at(bound),
                                  fmt::format("`{}` of {} belongs to numbers; this one is {}",
                                              bound, whose, values.text("type")),
                                  "remove it");
                continue;
            }
            (bound[1] == 'i' ? parameter.field.minimum : parameter.field.maximum) =
                values.real(bound);
        }
        if (const SourceNode* fallback = values.node("default")) {
            parameter.fallback = fallback;
            if (values.values.contains("type") && !any_formula(*fallback))
                read_value(*fallback, parameter.field, what, diagnostics);
        }
    }
}

/// Blocks in a circle, or nested too deep, lose their layers, so that nothing walks them for ever.
void Blocks::break_cycles(Diagnostics& diagnostics) {
    std::map<std::string, std::set<std::string>> uses;
    for (auto& [name, block] : blocks_)
        if (block.layers) collect_uses(*block.layers, *this, uses[name]);
    std::map<std::string, std::size_t> heights;
    std::vector<std::string> path;
    const auto visit = [&](const auto& self, const std::string& name) -> std::size_t {
        if (const auto done = heights.find(name); done != heights.end()) return done->second;
        const auto begin = std::find(path.begin(), path.end(), name);
        if (begin != path.end()) {
            std::string circle;
            for (auto at = begin; at != path.end(); ++at)
                circle += fmt::format("`{}` uses ", *at);
            diagnostics.error(
                Code::block_cycle, blocks_.at(*begin).span,
                fmt::format("blocks use each other in a circle: {}`{}`", circle, name),
                "a block's layers must come to an end; `repeat` does a thing many times");
            for (auto at = begin; at != path.end(); ++at)
                blocks_.at(*at).layers = nullptr;
            return 0;
        }
        std::size_t height = 1;
        path.push_back(name);
        if (path.size() <= kMaximumBlockDepth)
            for (const std::string& used : uses[name])
                height = std::max(height, self(self, used) + 1);
        else
            height = kMaximumBlockDepth + 1;
        path.pop_back();
        if (height > kMaximumBlockDepth) {
            diagnostics.error(
                Code::too_deep, blocks_.at(name).span,
                fmt::format("the block `{}` uses blocks that use blocks, deeper than {}", name,
                            kMaximumBlockDepth));
            blocks_.at(name).layers = nullptr;
            height = 0;
        }
        heights[name] = height;
        return height;
    };
    for (const auto& [name, block] : blocks_)
        visit(visit, name);
}

void UseFields::add_misspelt(const std::set<std::string, std::less<>>& fields) {
    for (const std::string& field : fields) {
        if (map.find(field)) continue;
        given.insert(field);
        unknown = true;
    }
}

void UseFields::add(const SourceEntry& entry, const Environment& environment,
                    const SampleShape& input, Diagnostics& diagnostics) {
    if (!any_formula(entry.value)) {
        map.entries.push_back(entry);
        return;
    }
    plain = false;
    if (reads_shape(entry.value, environment)) shaped.insert(entry.key);
    if (auto value = evaluated(entry.value, InReach(environment, input), diagnostics)) {
        map.entries.push_back({entry.key, entry.key_span, std::move(*value)});
    } else {
        given.insert(entry.key);
        unknown = true;
    }
}

Environment bind_parameters(const Block& block, const UseFields& use, const Span& place,
                            const Environment& model, const SampleShape& input,
                            Diagnostics& diagnostics) {
    Environment environment(&model);
    FieldScope scope{block.name, place};
    scope.given = use.given;
    const FieldValues values = read_fields(use.map, block.fields, scope, diagnostics);
    for (const BlockParameter& parameter : block.parameters) {
        Binding binding;
        binding.shaped = use.shaped.contains(parameter.name);
        if (const auto value = values.values.find(parameter.name); value != values.values.end()) {
            binding.value = formula_value(value->second, parameter.field.type);
        } else if (parameter.fallback && !use.given.contains(parameter.name) &&
                   !values.node(parameter.name)) {
            binding.shaped = reads_shape(*parameter.fallback, environment);
            const auto node =
                evaluated(*parameter.fallback, InReach(environment, input), diagnostics);
            if (node)
                if (const auto made = read_value(*node, parameter.field, block.name, diagnostics))
                    binding.value = formula_value(*made, parameter.field.type);
        }
        environment.bind(parameter.name, std::move(binding));
    }
    return environment;
}

}  // namespace dtnn::compiler
