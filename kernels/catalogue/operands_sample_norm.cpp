/// Normalisation within a sample and across neighbouring channels, log_softmax, and their
/// gradients.

#include "kernels/catalogue/operand_rule.hpp"

namespace dtnn::kernels::operands {
namespace {

/// What layer_norm normalises: lines along axes of tensors of one shape.
bool normalised_lines(Rule& rule, const std::vector<const TensorDesc*>& tensors) {
    const Problem& p = rule.problem();
    if (p.integers("axes").empty()) {
        const std::string axis = p.text("axis");
        rule.require(axis == "features" || axis == "channels", "it has no axis `" + axis + "`");
    }
    for (const TensorDesc* tensor : tensors)
        rule.shape(*tensor, tensors[0]->dims);
    const AxisRange range = normalised_axes(p);
    const std::vector<std::int64_t> axes = p.integers("axes");
    for (std::size_t i = 0; i < axes.size(); ++i)
        rule.require(axes[i] == std::int64_t(range.first + i), "its `axes` are no neighbours");
    return !rule.broken() && rule.lines(range, tensors);
}

/// gamma, beta and their gradients: one number for each place of a line, stored as lines of `src`
/// are, with one element along the other axes or in one axis.
void layer_norm_parameter(Rule& rule, const TensorDesc& src, const TensorDesc& parameter) {
    const AxisRange range = normalised_axes(rule.problem());
    TensorDesc line = src;
    for (std::size_t axis = 0; axis < line.dims.size(); ++axis)
        if (axis < range.first || axis >= range.first + range.count) line.dims[axis] = 1;
    if (parameter.dims.size() == 1) {
        rule.shape(parameter, {line.elements()});
        rule.require(is_row_major(line), "its lines are not stored in the order of their axes");
    } else {
        rule.shape(parameter, line.dims);
        if (!rule.broken()) rule.same_place(parameter, line);
    }
}

void layer_norm_statistics(Rule& rule, const TensorDesc& src, const TensorDesc& statistics) {
    rule.shape(statistics, {views_of(normalised_axes(rule.problem()), src)[0].lines()});
}

/// Samples whose channels groups divide.
bool divided(Rule& rule, const TensorDesc& image) {
    rule.type(image, rule.problem().dtype);
    const AxisRange axis = axis_of(rule.problem());
    rule.require(sample_layout(image, axis).has_value(),
                 "an operand " + text_of(image.dims) + " has no samples with channels");
    if (rule.broken()) return false;
    const std::int64_t groups = rule.problem().integer("groups");
    rule.require(groups >= 1 && image.dims[axis.first] % std::max<std::int64_t>(1, groups) == 0,
                 std::to_string(groups) + " groups do not divide its channels");
    return !rule.broken();
}

}  // namespace

void layer_norm(Rule& rule) {
    const Problem& p = rule.problem();
    const bool affine = p.flag("affine"), statistics = p.flag("statistics");
    if (!rule.counts(affine ? 3 : 1, statistics ? 3 : 1)) return;
    const TensorDesc& src = p.sources[0];
    if (!normalised_lines(rule, {&src, &p.destinations[0]})) return;
    for (std::size_t i = 1; i < p.sources.size(); ++i)
        layer_norm_parameter(rule, src, p.sources[i]);
    for (std::size_t i = 1; i < p.destinations.size(); ++i)
        layer_norm_statistics(rule, src, p.destinations[i]);
}

void layer_norm_backward(Rule& rule) {
    const Problem& p = rule.problem();
    const bool affine = p.flag("affine");
    if (!rule.counts(affine ? 5 : 4, affine ? 3 : 1)) return;
    const TensorDesc& src = p.sources[0];
    if (!normalised_lines(rule, {&src, &p.sources[1], &p.destinations[0]})) return;
    for (const std::size_t i : {2u, 3u})
        layer_norm_statistics(rule, src, p.sources[i]);
    if (!affine) return;
    for (const TensorDesc* parameter : {&p.sources[4], &p.destinations[1], &p.destinations[2]})
        layer_norm_parameter(rule, src, *parameter);
}

void group_norm(Rule& rule) {
    const Problem& p = rule.problem();
    const bool statistics = p.flag("statistics");
    if (!rule.counts(p.flag("affine") ? 3 : 1, statistics ? 3 : 1)) return;
    const TensorDesc& src = p.sources[0];
    if (!divided(rule, src)) return;
    for (std::size_t i = 1; i < p.sources.size(); ++i)
        rule.shape(p.sources[i], {src.dims[axis_of(p).first]});
    rule.shape(p.destinations[0], src.dims);
    for (std::size_t i = 1; i < p.destinations.size(); ++i)
        rule.shape(p.destinations[i], {src.dims[0], p.integer("groups")});
}

void group_norm_backward(Rule& rule) {
    const Problem& p = rule.problem();
    const bool affine = p.flag("affine");
    if (!rule.counts(affine ? 5 : 4, affine ? 3 : 1)) return;
    const TensorDesc& src = p.sources[0];
    if (!divided(rule, src)) return;
    rule.shape(p.sources[1], src.dims);
    for (const std::size_t i : {2u, 3u})
        rule.shape(p.sources[i], {src.dims[0], p.integer("groups")});
    rule.shape(p.destinations[0], src.dims);
    if (!affine) return;
    rule.shape(p.sources[4], {src.dims[axis_of(p).first]});
    for (const std::size_t i : {1u, 2u})
        rule.shape(p.destinations[i], {src.dims[axis_of(p).first]});
}

void local_response_norm(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(p.op.ends_with("_backward") ? 2 : 1, 1)) return;
    if (!rule.rank(p.sources[0], 4, 4)) return;
    for (const auto* tensors : {&p.sources, &p.destinations}) {
        for (const TensorDesc& tensor : *tensors)
            rule.shape(tensor, p.sources[0].dims);
    }
    const std::int64_t size = p.integer("size");
    rule.require(size >= 1 && size <= 1 << 20, "a window of " + std::to_string(size) + " channels");
}

void spatial_dropout2d_apply(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(2, 1) || !rule.rank(p.sources[0], 4, 4)) return;
    rule.elements(p.sources[1], 2, DType::i64);
    rule.type(p.sources[0], p.dtype);
    rule.shape(p.destinations[0], p.sources[0].dims);
    rule.same_place(p.destinations[0], p.sources[0]);
    const double rate = p.real("rate");
    rule.require(rate >= 0 && rate <= 1, "its rate is not from 0 to 1");
}

}  // namespace dtnn::kernels::operands
