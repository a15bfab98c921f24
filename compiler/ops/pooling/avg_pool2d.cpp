#include "compiler/ops/spatial.hpp"

namespace dtnn::compiler {
namespace {

/// In a node only where it is true.
constexpr const char* kCountIncludePad = "count_include_pad";

void avg_pool2d_shape(ShapeContext& c) {
    if (!expect_image(c, "avg_pool2d")) return;
    const auto kernel = pair_of(c.attributes(), "kernel", 2);
    fallback(c, "stride", std::vector<std::int64_t>{kernel[0], kernel[1]});
    const Type& src = c.input(0);
    const auto window = resolve_window(c, kernel, src.dims, false);
    if (!window || !expect_cells(c, "avg_pool2d", *window, src.dims)) return;
    c.attributes()["kernel"] = std::vector<std::int64_t>{kernel[0], kernel[1]};
    if (!c.flag(kCountIncludePad)) c.attributes().erase(kCountIncludePad);
    c.result(windowed_type(src, src.dims[1], *window));
}

}  // namespace

/// dst = the sum of each window over its cells inside the image, or over all its cells.
OpDef define_avg_pool2d() {
    return OpBuilder("avg_pool2d")
        .family(Family::pooling)
        .keeps_shifts([](const Attributes& fields) { return !flag(fields, kCountIncludePad); })
        .kernel_class(KernelClass::window_pooling)
        .does_nothing(copies_cells)
        .doc("The mean of each window; padded cells are not counted unless asked for.")
        .layer("- avg_pool2d: {kernel: 2}")
        .field(pair_field("kernel", 2, "extents of a window"))
        .field(pair_field("stride", {},
                          "cells from one window to the next; the kernel's when not given"))
        .field(padding_field())
        .field(boolean_field(kCountIncludePad, false,
                             "padded cells count as zeros, as PyTorch has it by default and "
                             "TensorFlow does not"))
        .shape(avg_pool2d_shape)
        .gradient([](GradientContext& g) {
            if (!g.wants(0)) return;
            Attributes attributes =
                pick(g.node().attributes, {"kernel", "stride", "padding", kCountIncludePad});
            attributes["source_shape"] = g.graph().type(g.input(0)).dims;
            g.set(0,
                  g.emit("avg_pool2d_backward", {g.diff(0)}, std::move(attributes), "diff_src")[0]);
        })
        .flops([](const std::vector<Type>&, const std::vector<Type>& out, const Attributes& a) {
            const auto kernel = pair_of(a, "kernel");
            return saturating_product({kernel[0], kernel[1], out[0].elements()});
        });
}

}  // namespace dtnn::compiler
