#include "compiler/ops/spatial.hpp"

namespace dtnn::compiler {

/// Each diff_dst goes to the cell that its index names; cells that several windows chose get the
/// sum.
OpDef define_adaptive_max_pool2d_backward() {
    return OpBuilder("adaptive_max_pool2d_backward")
        .family(Family::pooling)
        .kernel_class(max_pool_class)
        .doc("Gradient of adaptive_max_pool2d.")
        .shape([](ShapeContext& c) {
            if (!expect_image(c, "adaptive_max_pool2d_backward")) return;
            const Dims source = c.integers("source_shape");
            const auto size = pair_of(c.attributes(), "size");
            const Dims dst{source[0], source[1], size[0], size[1]};
            if (!expect_dims(c, "diff_dst", dst)) return;
            if (!expect_dims(c, "indices", dst)) return;
            Type diff_src = c.input(0);
            diff_src.dims = source;
            c.result(diff_src);
        })
        .no_gradient(kNoSecondDerivative)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return in[0].elements();
        });
}

}  // namespace dtnn::compiler
