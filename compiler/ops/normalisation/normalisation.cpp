#include "compiler/ops/normalisation/normalisation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/axes.hpp"
#include "compiler/ir/printer.hpp"
#include "compiler/ops/axis.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {
namespace {

constexpr const char* kAxis = "axis";
constexpr const char* kAxes = "axes";

ParameterRule affine_rule(std::string_view role, const char* kind, ParameterDims dims,
                          ParameterView view) {
    ParameterRule rule{std::string(role), true,
                       [dims](const Type& input, const Attributes& attributes) {
                           return flag(attributes, "affine") ? dims(input, attributes) : Dims{};
                       },
                       [kind](const Dims&, const Attributes&) {
                           plan::Initializer result;
                           result.kind = kind;
                           return result;
                       }};
    if (view) rule.view = view;
    return rule;
}

/// The logical axes that are normalised together, in order.
std::vector<std::int64_t> layer_norm_axes(const Type& input, const Attributes& attributes) {
    const auto given = attributes.find(kAxes);
    if (given != attributes.end()) return std::get<std::vector<std::int64_t>>(given->second);
    const bool all = axis_name_of(attributes) != AxisName::channels;
    std::vector<std::int64_t> together;
    for (std::size_t i = 0; i < input.axes.size(); ++i) {
        const AxisKind kind = input.axes[i];
        if (all ? kind != AxisKind::batch && kind != AxisKind::step
                : int(i) == feature_axis(input.axes))
            together.push_back(std::int64_t(i));
    }
    return together;
}

/// Whether these axes lie one behind the other where values are stored in this order; none: as it
/// is written.
bool are_neighbours(const std::vector<std::int64_t>& axes, const Order& order) {
    std::vector<std::int64_t> places = axes;
    for (std::int64_t& place : places)
        if (!order.empty()) place = std::find(order.begin(), order.end(), place) - order.begin();
    const auto [first, last] = std::minmax_element(places.begin(), places.end());
    return places.empty() || *last - *first + 1 == std::int64_t(places.size());
}

/// Kernels walk along what is normalised together as along one axis, in the order in which it is
/// written as well as in the one in which it may be stored.
bool expect_neighbours(ShapeContext& c) {
    if (!c.has("axes")) return true;
    const std::vector<std::int64_t> axes = c.integers("axes");
    const Type& input = c.input(0);
    if (are_neighbours(axes, {}) && are_neighbours(axes, usual_order(input.axes))) return true;
    c.fail(fmt::format("{} takes all but steps together, and these are no neighbours in {}, whose "
                       "channels may be stored last",
                       c.op().name, sample_text(input)),
           "`axis: channels` normalises the features of every place", "axis");
    return false;
}

}  // namespace

Field epsilon_field() {
    Field field = real_field("epsilon", 1e-5, "added to the variance, against division by zero");
    field.minimum = 0;
    field.maximum = 1;
    field.exclusive_minimum = true;
    return field;
}

Field affine_field() {
    return boolean_field("affine", true,
                         "whether the result is scaled and shifted by learned "
                         "numbers, gamma and beta");
}

ParameterRule gamma_rule(ParameterDims dims, ParameterView view) {
    return affine_rule("gamma", "ones", dims, view);
}

ParameterRule beta_rule(ParameterDims dims, ParameterView view) {
    return affine_rule("beta", "zeros", dims, view);
}

bool expect_normalisation(ShapeContext& c, const char* op) {
    fallback(c, "epsilon");
    return expect_features(c, op);
}

bool expect_normalisation_backward(ShapeContext& c, const char* op, const Dims& statistics) {
    if (!expect_features(c, op)) return false;
    return expect_dims(c, "diff_dst", c.input(0).dims) && expect_dims(c, "mean", statistics) &&
           expect_dims(c, "inverse_deviation", statistics);
}

void normalisation_results(ShapeContext& c, const Dims& statistics) {
    result_like(c);
    if (!c.flag("statistics")) return;
    // One for each sample, or for each of its groups, as channels of a row are.
    const Axes axes = usual_axes(statistics.size() - 1);
    for (int i = 0; i < 2; ++i)
        c.result(Type{c.input(0).dtype, statistics, {}, axes});
}

void normalisation_backward_results(ShapeContext& c) {
    result_like(c);
    if (!c.flag("affine")) return;
    for (int i = 0; i < (c.flag(kUncentred) ? 1 : 2); ++i)
        result_like(c, 4);
}

void emit_normalisation_backward(GradientContext& g, const char* backward,
                                 std::initializer_list<const char*> attributes) {
    const Attributes& of_node = g.node().attributes;
    const bool affine = flag(of_node, "affine");
    DTNN_CHECK(flag(of_node, "statistics"), "`{}` was not specialised before differentiation",
               g.node().op);
    if (!g.wants(0) && !(affine && (g.wants(1) || g.wants(2)))) return;
    ValueList inputs{g.input(0), g.diff(0), g.output(1), g.output(2)};
    if (affine) inputs.push_back(g.input(1));
    const auto diffs = g.emit(backward, inputs, pick(of_node, attributes), "diff_src");
    for (std::size_t i = 0; i < diffs.size(); ++i)
        g.set(i, diffs[i]);
}

void settle_layer_norm_axes(ShapeContext& c) {
    if (c.has(kAxes)) return;
    fallback(c, kAxis, std::string("features"));
    if (is_image(c.input(0)) || is_rows(c.input(0))) return;
    c.attributes()[kAxes] = layer_norm_axes(c.input(0), c.attributes());
    c.attributes().erase(kAxis);
}

void settle_layer_norm(ShapeContext& c) {
    const char* const op = c.op().name.c_str();
    if (!expect_normalisation(c, op)) return;
    settle_layer_norm_axes(c);
    if (!expect_neighbours(c)) return;
    for (std::size_t i = 1; i < c.inputs().size(); ++i)
        if (!expect_layer_norm_parameter(c, op, i)) return;
}

Field layer_norm_axis_field() {
    return choice_field("axis", "features", {"features", "channels"},
                        "what is normalised together: all numbers of a sample, or of each step "
                        "of a sequence (features), or the channels of each pixel (channels, as "
                        "in ConvNeXt)");
}

Dims layer_norm_parameter_dims(const Type& input, const Attributes& attributes) {
    Dims dims;
    for (const std::int64_t axis : layer_norm_axes(input, attributes))
        dims.push_back(input.dims[std::size_t(axis)]);
    return dims.empty() ? Dims{1} : dims;
}

Type layer_norm_parameter(const Type& input, const Attributes& attributes) {
    const std::vector<std::int64_t> together = layer_norm_axes(input, attributes);
    if (together.size() <= 1)
        return {input.dtype, layer_norm_parameter_dims(input, attributes), {}};
    Type type{input.dtype, Dims(input.dims.size(), 1), {}, input.axes};
    for (const std::int64_t axis : together)
        type.dims[std::size_t(axis)] = input.dims[std::size_t(axis)];
    return type;
}

Dims layer_norm_statistics(const Type& input, const Attributes& attributes) {
    return {input.elements() / element_count(layer_norm_parameter_dims(input, attributes))};
}

bool expect_layer_norm_parameter(ShapeContext& c, const char* op, std::size_t i) {
    return expect_dims(c, op, i, fmt::format("operand {}", i).c_str(),
                       layer_norm_parameter(c.input(0), c.attributes()).dims);
}

bool expect_groups(ShapeContext& c) {
    const std::int64_t groups = c.integer("groups"), channels = features_of(c.input(0));
    if (groups >= 1 && channels % groups == 0) return true;
    std::string divisors;
    for (std::int64_t d = 2; d < channels && d <= 64; ++d)
        if (channels % d == 0) divisors += fmt::format("{}{}", divisors.empty() ? "" : ", ", d);
    c.fail(
        fmt::format("{} groups do not divide the {} channels of the input: {} mod {} = {}", groups,
                    channels, channels, groups, groups < 1 ? channels : channels % groups),
        divisors.empty() ? fmt::format("write 1 or {} groups", channels)
                         : fmt::format("{} can be divided by {}", channels, divisors),
        "groups");
    return false;
}

Dims group_norm_statistics(ShapeContext& c) {
    return {c.input(0).dims[0], c.integer("groups")};
}

}  // namespace dtnn::compiler
