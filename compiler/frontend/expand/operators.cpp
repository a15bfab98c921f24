// Operators that a model declares by their formula: elementwise work of its own, with the gradient
// that follows from it.

#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/expand/blocks.hpp"
#include "compiler/frontend/read/operator_values.hpp"
#include "compiler/frontend/tables/tables.hpp"

namespace dtnn::compiler {
namespace {

/// The names in a formula: the input, then the parameters.
std::vector<std::string> names_of(const Block& block) {
    std::vector<std::string> names{"x"};
    for (const BlockParameter& parameter : block.parameters)
        names.push_back(parameter.name);
    return names;
}

void check_parameters(const Block& block, const std::string& what, const SourceNode& map,
                      Diagnostics& diagnostics) {
    for (const BlockParameter& parameter : block.parameters) {
        const Span& span = map.find(parameter.name)->key_span;
        const FieldType type = parameter.field.type;
        if (parameter.trained && type != FieldType::real)
            diagnostics
                .error(Code::wrong_type, span,
                       fmt::format("the parameter {} of {} is trained; only real ones are",
                                   parameter.name, what))
                .help = "give it the type real, or leave `trainable` out";
        const std::vector<std::string> words = expression_words();
        const bool is_word = std::find(words.begin(), words.end(), parameter.name) != words.end();
        if (parameter.name == "x" || is_word)
            diagnostics
                .error(Code::bad_name, span,
                       fmt::format("a parameter of {} is named `{}`, which is {}", what,
                                   parameter.name,
                                   parameter.name == "x" ? "its input" : "a word of formulas"))
                .help = "choose another name";
    }
}

std::optional<double> number_of(const Binding& binding) {
    if (const auto* real = std::get_if<double>(&binding.value)) return *real;
    if (const auto* whole = std::get_if<std::int64_t>(&binding.value)) return double(*whole);
    return std::nullopt;
}

/// The parameter of a layer that learns it, all numbers of which begin with one value.
ParameterRule trained(const BlockParameter& parameter, double value) {
    const bool per_channel = parameter.trained == BlockParameter::Training::per_channel;
    ParameterRule rule;
    rule.role = parameter.name;
    rule.dims = [per_channel](const Type& input, const Attributes&) {
        return Dims{per_channel && input.dims.size() > 1 ? input.dims[1] : 1};
    };
    rule.initializer = [value](const Dims&, const Attributes&) {
        return plan::Initializer{.kind = "constant", .numbers = {{"value", value}}};
    };
    return rule;
}

}  // namespace

void read_operator(const SourceEntry& entry, Block& block, Diagnostics& diagnostics) {
    const std::string what = fmt::format("the operator {}", block.name);
    const FieldValues values =
        read_fields(entry.value, operator_table(), {what, entry.key_span}, diagnostics);
    const int errors = diagnostics.error_count();
    if (const SourceNode* parameters = values.node("parameters")) {
        read_block_parameters(*parameters, what, block, diagnostics);
        if (diagnostics.error_count() == errors)
            check_parameters(block, what, *parameters, diagnostics);
    }
    const SourceEntry* forward = entry.value.find("forward");
    if (!forward || !values.values.contains("forward") || diagnostics.error_count() != errors)
        return;
    block.forward_span = forward->value.span;
    block.forward_text = forward->value.text;
    block.doc = values.text("description");
    block.forward = read_formula(forward->value, "forward", what, names_of(block), diagnostics);
    if (!block.forward) return;
    for (std::size_t i = 0; i < block.parameters.size(); ++i) {
        if (reads(*block.forward, int(i) + 1)) continue;
        const BlockParameter& parameter = block.parameters[i];
        diagnostics
            .error(
                Code::misplaced_field, values.node("parameters")->find(parameter.name)->key_span,
                fmt::format("`forward` of {} does not read the parameter {}", what, parameter.name))
            .help = "remove it, or use it in the formula";
    }
    if (!reads(*block.forward, 0))
        diagnostics
            .error(Code::elementwise_syntax, block.forward_span,
                   fmt::format("`forward` of {} does not read x", what))
            .help = "x is what the operator reads";
}

std::vector<FormulaSpec> formulas_of(const Blocks& blocks) {
    std::vector<FormulaSpec> formulas;
    for (const std::string& name : blocks.names()) {
        const Block& block = *blocks.find(name);
        if (!block.forward) continue;
        FormulaSpec formula{
            name,           block.doc, block.forward_text, {{"x", "the input", true}},
            *block.forward, block.span};
        for (const BlockParameter& parameter : block.parameters) {
            const bool is_real = parameter.field.type == FieldType::real;
            std::string kind = is_real ? "a real number" : "an integer";
            if (parameter.trained)
                kind += *parameter.trained == BlockParameter::Training::one
                            ? ", learned, one for a layer"
                            : ", learned, one for each channel";
            if (parameter.fallback)
                kind += fmt::format(", {} by default", parameter.fallback->text);
            formula.names.push_back(
                {parameter.name, std::move(kind), parameter.trained.has_value()});
        }
        formulas.push_back(std::move(formula));
    }
    return formulas;
}

std::optional<OperatorUse> use_of_operator(const Block& block, const Environment& parameters) {
    if (!block.forward) return std::nullopt;
    OperatorUse use;
    std::vector<Expression> values{Expression::input_at(0)};
    for (const BlockParameter& parameter : block.parameters) {
        const Binding* binding = parameters.find(parameter.name);
        const std::optional<double> value = binding ? number_of(*binding) : std::nullopt;
        if (!value) return std::nullopt;
        if (parameter.trained) {
            use.trained.push_back(trained(parameter, *value));
            values.push_back(Expression::channel_input_at(int(use.trained.size())));
        } else {
            values.push_back(Expression::constant(*value));
        }
    }
    use.expression = to_postfix(simplify(substitute(*block.forward, values)));
    return use;
}

}  // namespace dtnn::compiler
