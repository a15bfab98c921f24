#include "compiler/ops/sequence/step_window.hpp"

namespace dtnn::compiler {
namespace {

/// In a node only where it is true.
constexpr const char* kCountPaddedSteps = "count_include_pad";

void avg_pool1d_shape(ShapeContext& c) {
    const std::int64_t kernel = step_kernel_of(c.attributes(), 2);
    fallback(c, "stride", kernel);
    const auto window = resolve_step_window(c, kernel, false);
    if (!window || !expect_steps(c, *window)) return;
    c.attributes()["kernel"] = kernel;
    if (!c.flag(kCountPaddedSteps)) c.attributes().erase(kCountPaddedSteps);
    c.result(step_windowed_type(c, c.input(0).dims[2], *window));
}

}  // namespace

/// dst = the sum of each window, feature by feature, over its steps inside the sequence, or over
/// all its steps.
OpDef define_avg_pool1d() {
    return OpBuilder("avg_pool1d")
        .family(Family::pooling)
        .keeps_shifts([](const Attributes& fields) { return !flag(fields, kCountPaddedSteps); })
        .kernel_class(KernelClass::window_pooling)
        .does_nothing(copies_steps)
        .over_images([](const Graph&, Node node) {
            node.op = "avg_pool2d";
            node.attributes = image_window(node.attributes);
            return node;
        })
        .doc(
            "The mean of each feature in each window of steps; padded steps are not counted "
            "unless asked for.")
        .layer("- avg_pool1d: {kernel: 2}")
        .field(step_count_field("kernel", 2, "steps of a window"))
        .field(step_count_field("stride", {},
                                "steps from one window to the next; the kernel's when not given"))
        .field(step_padding_field())
        .field(boolean_field(kCountPaddedSteps, false,
                             "padded steps count as zeros, as PyTorch has it by default and "
                             "TensorFlow does not"))
        .shape(avg_pool1d_shape)
        .no_gradient("abstract: steps_as_images makes it avg_pool2d before differentiation")
        .flops([](const std::vector<Type>&, const std::vector<Type>& out, const Attributes& a) {
            return saturating_product({step_kernel_of(a, 1), out[0].elements()});
        });
}

}  // namespace dtnn::compiler
