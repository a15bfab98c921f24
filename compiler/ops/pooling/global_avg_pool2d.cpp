#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// dst[n,c,0,0] = the mean of src[n,c,:,:].
OpDef define_global_avg_pool2d() {
    return OpBuilder("global_avg_pool2d")
        .family(Family::pooling)
        .keeps_shifts()
        .kernel_class(KernelClass::window_pooling)
        .doc("The mean of each channel over the whole image.")
        .layer("- global_avg_pool2d")
        .shape([](ShapeContext& c) {
            if (!expect_image(c, "global_avg_pool2d")) return;
            Type dst = c.input(0);
            dst.dims[2] = dst.dims[3] = 1;
            c.result(dst);
        })
        .gradient([](GradientContext& g) {
            if (!g.wants(0)) return;
            g.set(0, g.emit("global_avg_pool2d_backward", {g.diff(0)},
                            {{"source_shape", g.graph().type(g.input(0)).dims}}, "diff_src")[0]);
        })
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return in[0].elements();
        });
}

}  // namespace dtnn::compiler
