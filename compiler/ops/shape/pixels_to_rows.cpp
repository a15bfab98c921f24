#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// dst[(n*H + y)*W + x, c] = src[n, c, y, x]: what a loss per sample needs to be a loss per pixel.
/// The bytes stay what they are when the source is stored channels last; then no step runs.
OpDef define_pixels_to_rows() {
    return OpBuilder("pixels_to_rows")
        .family(Family::shape)
        .kernel_class(KernelClass::copies)
        .doc("A row of channels for every pixel of an image, as if each were a sample.")
        .inputs({"src"})
        .outputs({"dst"})
        .shape([](ShapeContext& c) {
            if (!expect_operands(c, "pixels_to_rows", 1) || !expect_image(c, "pixels_to_rows"))
                return;
            const Dims& src = c.input(0).dims;
            c.result(
                Type{c.input(0).dtype, {saturating_product({src[0], src[2], src[3]}), src[1]}, {}});
        })
        .gradient([](GradientContext& g) {
            if (!g.wants(0)) return;
            const Dims dims = g.graph().type(g.input(0)).dims;
            g.set(0, g.emit("rows_to_pixels", {g.diff(0)}, {{"shape", dims}}, "diff_src")[0]);
        })
        .flops([](const auto&, const auto&, const Attributes&) { return std::int64_t{0}; })
        .view(View::channels_last_source);
}

}  // namespace dtnn::compiler
