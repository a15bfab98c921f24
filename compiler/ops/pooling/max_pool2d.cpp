#include <fmt/format.h>

#include "compiler/ops/spatial.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {
namespace {

void max_pool2d_shape(ShapeContext& c) {
    if (!expect_image(c, "max_pool2d")) return;
    const auto kernel = pair_of(c.attributes(), "kernel", 2);
    if (kernel[0] * kernel[1] > kMostPoolCells) {
        c.fail(fmt::format("a {}x{} pool has {} cells; max_pool2d takes at most 255", kernel[0],
                           kernel[1], kernel[0] * kernel[1]),
               "use two pools, or avg_pool2d", "kernel");
        return;
    }
    fallback(c, "stride", std::vector<std::int64_t>{kernel[0], kernel[1]});
    const Type& src = c.input(0);
    const auto window = resolve_window(c, kernel, src.dims);
    if (!window || !expect_cells(c, "max_pool2d", *window, src.dims)) return;
    c.attributes()["kernel"] = std::vector<std::int64_t>{kernel[0], kernel[1]};
    Type dst = windowed_type(src, src.dims[1], *window);
    c.result(dst);
    if (c.flag("indices")) {
        dst.dtype = DType::u8;
        c.result(dst);
    }
}

void max_pool2d_gradient(GradientContext& g) {
    if (!g.wants(0)) return;
    DTNN_CHECK(flag(g.node().attributes, "indices"),
               "max_pool2d is differentiated without indices: specialise_phase must run first");
    Attributes attributes = pick(g.node().attributes, {"kernel", "stride", "padding", "dilation"});
    attributes["source_shape"] = g.graph().type(g.input(0)).dims;
    g.set(0, g.emit("max_pool2d_backward", {g.diff(0), g.output(1)}, std::move(attributes),
                    "diff_src")[0]);
}

}  // namespace

/// dst = the largest cell of each window, padded cells excluded, the first of equals; `indices`
/// (when asked for, and needed by the gradient) is its place in the window, row by row.
OpDef define_max_pool2d() {
    return OpBuilder("max_pool2d")
        .family(Family::pooling)
        .keeps_shifts()
        .kernel_class(max_pool_class)
        .kept_for_backward("indices")
        .does_nothing(copies_cells)
        .doc("The largest number of each window.")
        .layer("- max_pool2d: {kernel: 2}")
        .field(pair_field("kernel", 2, "extents of a window, at most 255 cells"))
        .field(pair_field("stride", {},
                          "cells from one window to the next; the kernel's when not given"))
        .field(padding_field())
        .field(pair_field("dilation", 1, "distance of neighbouring window cells in the image"))
        .shape(max_pool2d_shape)
        .gradient(max_pool2d_gradient)
        .flops([](const std::vector<Type>&, const std::vector<Type>& out, const Attributes& a) {
            const auto kernel = pair_of(a, "kernel");
            return saturating_product({kernel[0], kernel[1], out[0].elements()});
        });
}

}  // namespace dtnn::compiler
