#include "compiler/frontend/expand/expansion_shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/ops/emit.hpp"

namespace dtnn::compiler {
namespace {

constexpr std::size_t kInputExtents = 3;  // channels, height, width

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
        const std::string text = fmt::format("{}", fmt::join(shape_of(model, source), "x"));
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

const Dims& shape_of(const ModelSpec& model, int source) {
    static const Dims unknown;
    if (source >= 0) return model.layers[std::size_t(source)].shape;
    const bool known = source == -1 && model.input_shape.size() == kInputExtents;
    return known ? model.input_shape : unknown;
}

void infer_shape(const ModelSpec& model, const OpDef& op, LayerSpec& layer,
                 Diagnostics& diagnostics) {
    std::vector<Type> types;
    for (const int source : layer.sources) {
        const Dims& sample = shape_of(model, source);
        if (sample.empty()) return;
        Type& type = types.emplace_back();
        type.dims.reserve(sample.size() + 1);
        type.dims.push_back(1);
        type.dims.insert(type.dims.end(), sample.begin(), sample.end());
    }
    if (types.empty()) return;
    const Type input = types.front();
    for (const std::vector<ParameterRule>* rules :
         {&op.parameters, &std::as_const(layer).parameters}) {
        for (const ParameterRule& rule : *rules) {
            Dims dims = rule.dims(input, layer.fields);
            if (!dims.empty()) types.push_back({input.dtype, std::move(dims), {}});
        }
    }
    Attributes attributes = layer.fields;
    std::vector<Type> results;
    if (const auto error = infer(op, types, attributes, results))
        report(model, layer, *error, diagnostics);
    else
        layer.shape.assign(results.front().dims.begin() + 1, results.front().dims.end());
}

}  // namespace dtnn::compiler
