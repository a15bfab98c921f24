#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/printer.hpp"
#include "compiler/ops/sequence/step_window.hpp"

namespace dtnn::compiler {
namespace {

/// [F, features/groups, K]. When groups do not divide the features the shape rule says so, from the
/// same numbers.
Dims step_weights_dims(const Type& input, const Attributes& attributes) {
    const std::int64_t features = input.dims.size() > 2 ? input.dims[2] : 1;
    const std::int64_t per_group = std::max<std::int64_t>(features / groups_of(attributes), 1);
    return {std::get<std::int64_t>(attributes.at("filters")), per_group,
            step_kernel_of(attributes, 3)};
}

plan::Initializer step_weights_initializer(const Dims& dims, const Attributes& attributes) {
    return initializer(attributes, "weights_initializer", "glorot_uniform", dims[1] * dims[2],
                       dims[0] / groups_of(attributes) * dims[2]);
}

void conv1d_shape(ShapeContext& c) {
    fallback(c, "groups");
    fallback(c, "bias", false);
    if (!expect_step_filters(c)) return;
    const Dims& weights = c.input(1).dims;
    const std::int64_t groups = c.integer("groups"), features = c.input(0).dims[2];
    if (!expect_divided(c, groups, features, "features of the input")) return;
    if (!expect_divided(c, groups, weights[0], "filters")) return;
    if (weights[1] != features / groups) {
        c.fail(fmt::format("conv1d: weights {} do not fit {} features in {} groups",
                           shape_text(weights), features, groups));
        return;
    }
    const auto window = resolve_step_window(c, weights[3]);
    if (!window || !expect_dims(c, "bias", {weights[0]})) return;
    for (const char* name : {"filters", "kernel", "weights_initializer", "bias_initializer"})
        c.attributes().erase(name);
    c.result(step_windowed_type(c, weights[0], *window));
}

}  // namespace

/// dst[n,t,f] = sum over c,i of src[n, t*s + i*d - p, c] * weights[f,c,i] + bias[f], c over f's
/// group.
OpDef define_conv1d() {
    return OpBuilder("conv1d")
        .family(Family::convolution)
        .kernel_class(convolution_class)
        .over_images([](const Graph&, Node node) {
            node.op = "conv2d";
            node.attributes = image_window(node.attributes);
            return node;
        })
        .next_step(next_of_step_filters)
        .with_lengths(lengths_of_step_filters)
        .doc(
            "Convolution along the steps of a sequence with learned filters over all features. "
            "Weights are [filters, features, kernel].")
        .layer("- conv1d: {filters: 32, kernel: 3, padding: same}")
        .field(integer_field("filters", {}, "number of output features", 1, kLargestExtent))
        .field(step_count_field("kernel", 3, "steps of a filter"))
        .field(step_count_field("stride", 1, "steps from one window to the next"))
        .field(step_padding_field())
        .field(step_count_field("dilation", 1, "distance of neighbouring steps of a filter"))
        .field(integer_field("groups", 1,
                             "the features are split into this many groups, convolved apart", 1,
                             kLargestExtent))
        .weights_and_bias("whether a learned number per filter is added", step_weights_dims,
                          step_weights_initializer, units_in("filters"),
                          [](const Type& input, const Attributes& attributes) {
                              return filters_over_a_row(step_weights_dims(input, attributes));
                          })
        .shape(conv1d_shape)
        .no_gradient("abstract: steps_as_images makes it conv2d before differentiation")
        .flops([](const std::vector<Type>& in, const std::vector<Type>& out, const Attributes& a) {
            const Dims& w = in[1].dims;
            return saturating_product({2, out[0].elements(), w[1], w[3]}) +
                   (flag(a, "bias") ? out[0].elements() : 0);
        });
}

}  // namespace dtnn::compiler
