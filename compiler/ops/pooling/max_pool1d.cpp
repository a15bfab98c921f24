#include <fmt/format.h>

#include "compiler/ops/sequence/step_window.hpp"

namespace dtnn::compiler {
namespace {

void max_pool1d_shape(ShapeContext& c) {
    const std::int64_t kernel = step_kernel_of(c.attributes(), 2);
    if (kernel > kMostPoolCells) {
        c.fail(fmt::format("a pool of {} steps is too long: max_pool1d takes at most {}", kernel,
                           kMostPoolCells),
               "use two pools, or avg_pool1d; `global_max_pool1d` takes all steps", "kernel");
        return;
    }
    fallback(c, "stride", kernel);
    const auto window = resolve_step_window(c, kernel);
    if (!window || !expect_steps(c, *window)) return;
    c.attributes()["kernel"] = kernel;
    Type dst = step_windowed_type(c, c.input(0).dims[2], *window);
    c.result(dst);
    if (!c.flag("indices")) return;
    dst.dtype = DType::u8;
    c.result(dst);
}

}  // namespace

/// dst = the largest step of each window, feature by feature, padding excluded, the first of
/// equals; `indices` as of max_pool2d.
OpDef define_max_pool1d() {
    return OpBuilder("max_pool1d")
        .family(Family::pooling)
        .keeps_shifts()
        .kernel_class(max_pool_class)
        .kept_for_backward("indices")
        .does_nothing(copies_steps)
        .over_images([](const Graph&, Node node) {
            node.op = "max_pool2d";
            node.attributes = image_window(node.attributes);
            return node;
        })
        .doc("The largest number of each feature in each window of steps.")
        .layer("- max_pool1d: {kernel: 2}")
        .field(step_count_field("kernel", 2, "steps of a window, at most 255"))
        .field(step_count_field("stride", {},
                                "steps from one window to the next; the kernel's when not given"))
        .field(step_padding_field())
        .field(step_count_field("dilation", 1, "distance of neighbouring steps of a window"))
        .shape(max_pool1d_shape)
        .no_gradient("abstract: steps_as_images makes it max_pool2d before differentiation")
        .flops([](const std::vector<Type>&, const std::vector<Type>& out, const Attributes& a) {
            return saturating_product({step_kernel_of(a, 1), out[0].elements()});
        });
}

}  // namespace dtnn::compiler
