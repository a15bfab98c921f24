/// Normalisation within a sample and across neighbouring channels, log_softmax, and their
/// gradients.

#include "kernels/catalogue/operand_rule.hpp"

namespace dtnn::kernels::operands {
namespace {

/// What layer_norm normalises: lines along axes of tensors of one shape.
bool normalised_lines(Rule& rule) {
    const Problem& p = rule.problem();
    std::vector<const TensorType*> tensors;
    for (const char* name : {"src", "dst", "diff_dst", "diff_src"})
        if (const TensorType* tensor = rule.operand(name)) tensors.push_back(tensor);
    if (p.integers("axes").empty()) {
        const std::string word = p.text("axis");
        const auto axis = choice<AxisName>(p.attributes, "axis");
        rule.require(axis == AxisName::features || axis == AxisName::channels,
                     "it has no axis `" + word + "`");
    }
    for (const TensorType* tensor : tensors)
        rule.shape(*tensor, tensors[0]->dims);
    const AxisRange range = normalised_axes(p);
    const std::vector<std::int64_t> axes = p.integers("axes");
    for (std::size_t i = 0; i < axes.size(); ++i)
        rule.require(axes[i] == std::int64_t(range.first + i), "its `axes` are no neighbours");
    return !rule.broken() && rule.lines(range, tensors);
}

/// gamma, beta and their gradients: one number for each place of a line, stored as lines of `src`
/// are, with one element along the other axes or in one axis.
void layer_norm_parameter(Rule& rule, const TensorType& parameter) {
    const TensorType& src = rule.first_source();
    const AxisRange range = normalised_axes(rule.problem());
    TensorType line = src;
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

/// Samples whose channels groups divide.
bool divided(Rule& rule, const TensorType& image) {
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

/// Of the gradient, too.
void layer_norm(Rule& rule) {
    if (!normalised_lines(rule)) return;
    const AxisRange axes = normalised_axes(rule.problem());
    const std::int64_t lines = views_of(axes, rule.first_source())[0].lines();
    for (const char* name : {"mean", "inverse_deviation"})
        rule.shape(rule.operand(name), {lines});
    for (const char* name : {"gamma", "beta", "diff_gamma", "diff_beta"})
        if (const TensorType* parameter = rule.operand(name))
            layer_norm_parameter(rule, *parameter);
}

/// Of the gradient, too.
void group_norm(Rule& rule) {
    const TensorType& src = rule.first_source();
    if (!divided(rule, src)) return;
    for (const char* name : {"dst", "diff_dst", "diff_src"})
        rule.shape(rule.operand(name), src.dims);
    for (const char* name : {"mean", "inverse_deviation"})
        rule.shape(rule.operand(name), {src.dims[0], rule.problem().integer("groups")});
    for (const char* name : {"gamma", "beta", "diff_gamma", "diff_beta"})
        rule.shape(rule.operand(name), {src.dims[axis_of(rule.problem()).first]});
}

void local_response_norm(Rule& rule) {
    const TensorType& src = rule.first_source();
    if (!rule.image(src)) return;
    for (const TensorType* tensor : rule.all())
        rule.shape(tensor, src.dims);
    const std::int64_t size = rule.problem().integer("size");
    rule.require(size >= 1 && size <= 1 << 20, "a window of " + std::to_string(size) + " channels");
}

}  // namespace dtnn::kernels::operands
