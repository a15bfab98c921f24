#include "compiler/ops/spatial.hpp"

namespace dtnn::compiler {

/// Each diff_dst is shared equally by the cells that its window had inside the image, or by all its
/// cells (count_include_pad), padded ones included.
OpDef define_avg_pool2d_backward() {
    return OpBuilder("avg_pool2d_backward")
        .family(Family::pooling)
        .kernel_class(KernelClass::window_pooling)
        .doc("Gradient of avg_pool2d.")
        .shape([](ShapeContext& c) {
            if (!expect_image(c, "avg_pool2d_backward")) return;
            const Dims source = c.integers("source_shape");
            const auto window = resolve_window(c, pair_of(c.attributes(), "kernel"), source, false);
            if (!window) return;
            Type diff_src = c.input(0);
            diff_src.dims = source;
            const Dims dst = windowed_type(diff_src, source[1], *window).dims;
            if (expect_dims(c, "diff_dst", dst)) c.result(diff_src);
        })
        .no_gradient(kNoSecondDerivative)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            const auto kernel = pair_of(a, "kernel");
            return saturating_product({kernel[0], kernel[1], in[0].elements()});
        });
}

}  // namespace dtnn::compiler
