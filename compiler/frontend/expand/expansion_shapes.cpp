#include "compiler/frontend/expand/expansion_shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/frontend/expand/expansion_scope.hpp"
#include "compiler/ops/define.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/ops/expression/formula_fault.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {
namespace {

void report(const ModelSpec& model, const LayerSpec& layer, const ShapeError& shape_error,
            Diagnostics& diagnostics) {
    const auto field = layer.spans.find(shape_error.field);
    Diagnostic& error = diagnostics.error(Code::shape_error,
                                          field == layer.spans.end() ? layer.span : field->second,
                                          shape_error.text);
    for (auto read = layer.sources.begin(); read != layer.sources.end(); ++read) {
        const int source = *read;
        // Several empty branches read one layer.
        if (std::find(layer.sources.begin(), read, source) != read) continue;
        const SampleShape sample = shape_of(model, source);
        const std::string text = sample_text(sample.dims, sample.axes);
        if (source < 0) {
            const InputSpec& input = model.input_of(source);
            error.notes.push_back(
                {input.span, input.name.empty()
                                 ? fmt::format("the model's input is {}", text)
                                 : fmt::format("the input `{}` is {}", input.name, text)});
        } else {
            const LayerSpec& other = model.layers[std::size_t(source)];
            error.notes.push_back({other.span, fmt::format("`{}` gives {}", other.name, text)});
        }
    }
    error.help = shape_error.help;
}

void refuse_integers(const ModelSpec& model, int source, const LayerSpec& layer,
                     Diagnostics& diagnostics) {
    const InputSpec& input = model.input_of(source);
    Diagnostic& error = diagnostics.error(
        Code::shape_error, layer.span,
        fmt::format("{} takes real numbers, and the input{} is of integers", layer.type,
                    input.name.empty() ? std::string() : fmt::format(" `{}`", input.name)));
    error.notes.push_back({input.span, "the input is here"});
    error.help =
        fmt::format("`one_hot: {{classes: {}}}` makes numbers of them, `embedding` rows of a table",
                    input.values);
}

/// The layer knows fewer values than the integers may have.
bool refuse_values(const ModelSpec& model, int source, const LayerSpec& layer, const OpDef& op,
                   Diagnostics& diagnostics) {
    const InputSpec& input = model.input_of(source);
    const auto known = layer.fields.find(op.integers_of);
    if (known == layer.fields.end() || std::get<std::int64_t>(known->second) >= input.values)
        return false;
    const auto field = layer.spans.find(op.integers_of);
    Diagnostic& error = diagnostics.error(
        Code::shape_error, field == layer.spans.end() ? layer.span : field->second,
        fmt::format("{} knows the integers 0 to {}, and those of the input{} are 0 to {}",
                    layer.type, std::get<std::int64_t>(known->second) - 1,
                    input.name.empty() ? std::string() : fmt::format(" `{}`", input.name),
                    input.values - 1));
    error.notes.push_back({input.span, "the input is here"});
    error.help = fmt::format("write `{}: {}`", op.integers_of, input.values);
    return true;
}

}  // namespace

SampleShape shape_of(const ModelSpec& model, int source) {
    if (source == kUnknownSource) return unknown_shape();
    if (source < 0) {
        const InputSpec& input = model.input_of(source);
        return {input.shape, input.axes};
    }
    const LayerSpec& layer = model.layers[std::size_t(source)];
    return {layer.shape, layer.axes};
}

Type type_of_batch(std::int64_t batch, DType dtype, const SampleShape& sample) {
    Type type{dtype, {batch}, {}, {AxisKind::batch}};
    type.dims.insert(type.dims.end(), sample.dims.begin(), sample.dims.end());
    type.axes.insert(type.axes.end(), sample.axes.begin(), sample.axes.end());
    return type;
}

void infer_shape(const ModelSpec& model, const OpDef& op, LayerSpec& layer,
                 Diagnostics& diagnostics) {
    std::vector<Type> types;
    for (const int source : layer.sources) {
        const SampleShape sample = shape_of(model, source);
        if (sample.axes.empty()) return;
        const bool integers = source < 0 && model.input_of(source).integers();
        if (integers && !op.takes_integers())
            return refuse_integers(model, source, layer, diagnostics);
        if (integers && refuse_values(model, source, layer, op, diagnostics)) return;
        types.push_back(type_of_batch(1, integers ? DType::i32 : DType::f32, sample));
    }
    if (types.empty()) return;
    const Type input = types.front();
    for (const std::vector<ParameterRule>* rules :
         {&op.parameters, &std::as_const(layer).parameters}) {
        for (const ParameterRule& rule : *rules) {
            Type type = rule.type(input, layer.fields, DType::f32);
            if (!type.dims.empty()) types.push_back(std::move(type));
        }
    }
    Attributes attributes = layer.fields;
    std::vector<Type> results;
    if (const auto error = infer(op, types, attributes, results)) {
        report(model, layer, *error, diagnostics);
        return;
    }
    for (const Field& field : op.fields) {
        if (field.type != FieldType::expression) continue;
        if (const auto fault = formula_fault(
                parse_postfix(std::get<std::string>(attributes.at(std::string(field.name))))))
            return report(model, layer, *fault, diagnostics);
    }
    const Type& result = results.front();
    DTNN_CHECK(result.axes.size() == result.dims.size(), "axes of `{}`", op.name);
    layer.shape.assign(result.dims.begin() + 1, result.dims.end());
    layer.axes.assign(result.axes.begin() + 1, result.axes.end());
}

}  // namespace dtnn::compiler
