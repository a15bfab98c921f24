#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// diff_src[n,c,y,x] = diff_dst[n,c,0,0] / (H*W).
OpDef define_global_avg_pool2d_backward() {
    return OpBuilder("global_avg_pool2d_backward")
        .family(Family::pooling)
        .kernel_class(KernelClass::window_pooling)
        .doc("Gradient of global_avg_pool2d.")
        .shape([](ShapeContext& c) {
            if (!expect_image(c, "global_avg_pool2d_backward")) return;
            Type diff_src = c.input(0);
            diff_src.dims = c.integers("source_shape");
            if (!expect_dims(c, "diff_dst", {diff_src.dims[0], diff_src.dims[1], 1, 1})) return;
            c.result(diff_src);
        })
        .no_gradient(kNoSecondDerivative)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return in[0].elements();
        });
}

}  // namespace dtnn::compiler
