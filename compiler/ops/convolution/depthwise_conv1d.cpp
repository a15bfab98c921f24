#include <fmt/format.h>

#include "compiler/ir/printer.hpp"
#include "compiler/ops/sequence/step_window.hpp"

namespace dtnn::compiler {
namespace {

std::int64_t filters_of_a_feature(const Attributes& attributes) {
    const auto found = attributes.find("multiplier");
    return found == attributes.end() ? 1 : std::get<std::int64_t>(found->second);
}

std::int64_t features_made(const Type& input, const Attributes& attributes) {
    return (input.dims.size() > 2 ? input.dims[2] : 1) * filters_of_a_feature(attributes);
}

/// [features*multiplier, 1, K], as of conv1d with as many groups as features.
Dims feature_weights_dims(const Type& input, const Attributes& attributes) {
    return {features_made(input, attributes), 1, step_kernel_of(attributes, 3)};
}

plan::Initializer feature_weights_initializer(const Dims& dims, const Attributes& attributes) {
    return initializer(attributes, "weights_initializer", "glorot_uniform", dims[2],
                       filters_of_a_feature(attributes) * dims[2]);
}

void depthwise_conv1d_shape(ShapeContext& c) {
    fallback(c, "bias", false);
    if (!expect_step_filters(c)) return;
    const Dims& weights = c.input(1).dims;
    const std::int64_t features = c.input(0).dims[2];
    if (weights[1] != 1 || weights[0] % features != 0) {
        c.fail(fmt::format("depthwise_conv1d: weights {} do not fit {} features",
                           shape_text(weights), features));
        return;
    }
    const auto window = resolve_step_window(c, weights[3]);
    if (!window || !expect_dims(c, "bias", {weights[0]})) return;
    for (const char* name : {"kernel", "multiplier", "weights_initializer", "bias_initializer"})
        c.attributes().erase(name);
    c.result(step_windowed_type(c, weights[0], *window));
}

}  // namespace

/// dst[n,t,c*m+j] = sum over i of src[n, t*s + i*d - p, c] * weights[c*m+j,0,i] + bias[c*m+j], m
/// being the multiplier.
OpDef define_depthwise_conv1d() {
    return OpBuilder("depthwise_conv1d")
        .family(Family::convolution)
        .kernel_class(convolution_class)
        .keeps_channels_apart()
        .over_images([](const Graph& graph, Node node) {
            node.op = "conv2d";
            node.attributes = image_window(node.attributes);
            node.attributes["groups"] = graph.type(node.inputs[0]).dims[2];
            return node;
        })
        .next_step(next_of_step_filters)
        .with_lengths(lengths_of_step_filters)
        .doc(
            "Convolution of each feature along the steps of a sequence with filters of its own; "
            "results of the same feature are neighbours. Weights are [features * multiplier, 1, "
            "kernel].")
        .layer("- depthwise_conv1d: {kernel: 3, padding: same}")
        .field(step_count_field("kernel", 3, "steps of a filter"))
        .field(step_count_field("stride", 1, "steps from one window to the next"))
        .field(step_padding_field())
        .field(step_count_field("dilation", 1, "distance of neighbouring steps of a filter"))
        .field(integer_field("multiplier", 1, "number of filters, and of results, per feature", 1,
                             kLargestWindow))
        .weights_and_bias("whether a learned number per filter is added", feature_weights_dims,
                          feature_weights_initializer, features_made,
                          [](const Type& input, const Attributes& attributes) {
                              return filters_over_a_row(feature_weights_dims(input, attributes));
                          })
        .shape(depthwise_conv1d_shape)
        .no_gradient("abstract: steps_as_images makes it conv2d before differentiation")
        .flops([](const std::vector<Type>& in, const std::vector<Type>& out, const Attributes& a) {
            return saturating_product({2, out[0].elements(), in[1].dims[3]}) +
                   (flag(a, "bias") ? out[0].elements() : 0);
        });
}

}  // namespace dtnn::compiler
