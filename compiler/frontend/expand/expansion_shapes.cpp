#include "compiler/frontend/expand/expansion_shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/ops/define.hpp"
#include "compiler/ops/emit.hpp"
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
            error.notes.push_back({model.input_span, fmt::format("the model's input is {}", text)});
        } else {
            const LayerSpec& other = model.layers[std::size_t(source)];
            error.notes.push_back({other.span, fmt::format("`{}` gives {}", other.name, text)});
        }
    }
    error.help = shape_error.help;
}

}  // namespace

SampleShape shape_of(const ModelSpec& model, int source) {
    if (source == -1) return {model.input_shape, model.input_axes};
    if (source < 0) return unknown_shape();
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
        types.push_back(type_of_batch(1, DType::f32, sample));
    }
    if (types.empty()) return;
    const Type input = types.front();
    for (const std::vector<ParameterRule>* rules :
         {&op.parameters, &std::as_const(layer).parameters}) {
        for (const ParameterRule& rule : *rules) {
            Type type = rule.type(input, layer.fields);
            if (!type.dims.empty()) types.push_back(std::move(type));
        }
    }
    Attributes attributes = layer.fields;
    std::vector<Type> results;
    if (const auto error = infer(op, types, attributes, results)) {
        report(model, layer, *error, diagnostics);
        return;
    }
    const Type& result = results.front();
    DTNN_CHECK(result.axes.size() == result.dims.size(), "axes of `{}`", op.name);
    layer.shape.assign(result.dims.begin() + 1, result.dims.end());
    layer.axes.assign(result.axes.begin() + 1, result.axes.end());
}

}  // namespace dtnn::compiler
