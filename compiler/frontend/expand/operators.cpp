// Operators that a model declares by their formula: elementwise work of its own, with the gradient
// that follows from it.

#include <fmt/format.h>

#include <algorithm>

#include "base/json_text.hpp"
#include "compiler/frontend/expand/blocks.hpp"
#include "compiler/frontend/read/operator_values.hpp"
#include "compiler/frontend/spec_kind.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "compiler/ops/axis.hpp"
#include "compiler/ops/expression/parse_infix.hpp"

namespace dtnn::compiler {
namespace {

/// The inputs of a formula beside its parameters.
std::vector<std::string> inputs_of(const Block& block) {
    if (block.is_loss) return {"p", "t"};
    return {"x"};
}

/// The names in a formula: what it reads, then the parameters.
std::vector<std::string> names_of(const Block& block) {
    std::vector<std::string> names = inputs_of(block);
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
            diagnostics.error(Code::wrong_type, span,
                              fmt::format("the parameter {} of {} is trained; only real ones are",
                                          parameter.name, what),
                              "give it the type real, or leave `trainable` out");
        const std::vector<std::string> words = expression_words();
        const std::vector<std::string> inputs = inputs_of(block);
        const auto among = [&](const std::vector<std::string>& names) {
            return std::find(names.begin(), names.end(), parameter.name) != names.end();
        };
        if (among(inputs) || among(words))
            diagnostics.error(
                Code::bad_name, span,
                fmt::format("a parameter of {} is named `{}`, which is {}", what, parameter.name,
                            among(words)    ? "a word of formulas"
                            : block.is_loss ? "one of those of every loss"
                                            : "its input"),
                "choose another name");
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
        return Dims{per_channel ? features_of(input) : 1};
    };
    rule.initializer = [value](const Dims&, const Attributes&) {
        return plan::Initializer{.kind = "constant", .numbers = {{"value", value}}};
    };
    return rule;
}

}  // namespace

void read_operator(const SourceEntry& entry, Block& block, Diagnostics& diagnostics) {
    const SourceEntry* kind = entry.value.find("kind");
    block.is_loss = kind && kind->value.is_scalar() && is_kind(kind->value.text, SpecKind::loss);
    const std::string what =
        fmt::format("the {} {}", block.is_loss ? "loss" : "operator", block.name);
    const FieldValues values =
        read_fields(entry.value, block.is_loss ? loss_operator_table() : operator_table(),
                    {what, entry.key_span}, diagnostics);
    if (block.is_loss) block.over = values.text("over");
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
    const std::size_t inputs = inputs_of(block).size();
    for (std::size_t i = 0; i < block.parameters.size(); ++i) {
        if (reads(*block.forward, int(i + inputs))) continue;
        const BlockParameter& parameter = block.parameters[i];
        diagnostics.error(
            Code::misplaced_field, values.node("parameters")->find(parameter.name)->key_span,
            fmt::format("`forward` of {} does not read the parameter {}", what, parameter.name),
            "remove it, or use it in the formula");
    }
    if (!reads(*block.forward, 0))
        diagnostics.error(
            Code::elementwise_syntax, block.forward_span,
            fmt::format("`forward` of {} does not read {}", what,
                        block.is_loss ? "p: nothing would be learnt" : "x"),
            block.is_loss ? "p is a prediction, t its target" : "x is what the operator reads");
}

std::vector<FormulaSpec::Name> loss_inputs() {
    return {{"p", "a prediction", true}, {"t", "its target", false}};
}

std::vector<FormulaSpec> formulas_of(const Blocks& blocks) {
    std::vector<FormulaSpec> formulas;
    for (const std::string& name : blocks.names()) {
        const Block& block = *blocks.find(name);
        if (!block.forward) continue;
        FormulaSpec formula{name,
                            block.doc,
                            block.is_loss,
                            block.forward_text,
                            block.is_loss
                                ? loss_inputs()
                                : std::vector<FormulaSpec::Name>{{"x", "the input", true}},
                            *block.forward,
                            "",
                            block.span};
        std::string declared;
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
            declared += fmt::format(
                "{}{}: {{type: {}{}}}", declared.empty() ? "" : ", ", parameter.name,
                is_real ? "real" : "integer",
                parameter.trained ? fmt::format(", trainable: {}", name_of(*parameter.trained))
                                  : "");
        }
        formula.declaration = fmt::format("{{parameters: {{{}}}, forward: {}}}", declared,
                                          json_text(block.forward_text));
        formulas.push_back(std::move(formula));
    }
    return formulas;
}

std::optional<OperatorUse> use_of_operator(const Block& block, const Environment& parameters) {
    if (!block.forward) return std::nullopt;
    OperatorUse use;
    std::vector<Expression> values;
    for (std::size_t i = 0; i < inputs_of(block).size(); ++i)
        values.push_back(Expression::input_at(int(i)));
    for (const BlockParameter& parameter : block.parameters) {
        const Binding* binding = parameters.find(parameter.name);
        const std::optional<double> value = binding ? number_of(*binding) : std::nullopt;
        if (!value) return std::nullopt;
        if (parameter.field.type == FieldType::real)
            use.values[parameter.name] = *value;
        else
            use.values[parameter.name] = std::int64_t(*value);
        if (parameter.trained) {
            use.trained.push_back(trained(parameter, *value));
            values.push_back(Expression::channel_input_at(int(use.trained.size())));
        } else {
            values.push_back(Expression::constant(*value));
        }
    }
    use.expression = substitute(*block.forward, values);
    return use;
}

}  // namespace dtnn::compiler
