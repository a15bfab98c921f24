#include "compiler/ops/spatial.hpp"

namespace dtnn::compiler {
namespace {

void max_pool2d_backward_shape(ShapeContext& c) {
    if (!expect_image(c, "max_pool2d_backward")) return;
    const Dims source = c.integers("source_shape");
    const auto window = resolve_window(c, pair_of(c.attributes(), "kernel"), source);
    if (!window) return;
    Type diff_src = c.input(0);
    diff_src.dims = source;
    const Dims dst = windowed_type(diff_src, source[1], *window).dims;
    if (!expect_dims(c, "diff_dst", dst)) return;
    if (!expect_dims(c, "indices", dst)) return;
    if (!expect_dims(c, "y", dst)) return;
    c.result(diff_src);
}

}  // namespace

/// Each diff_dst goes to the cell that its index names; cells that several windows chose get the
/// sum. With `mask`, a diff_dst whose pool result y is not above 0 goes nowhere.
OpDef define_max_pool2d_backward() {
    return OpBuilder("max_pool2d_backward")
        .family(Family::pooling)
        .kernel_class(max_pool_class)
        .takes({Epilogue::mask})
        .doc("Gradient of max_pool2d.")
        .shape(max_pool2d_backward_shape)
        .no_gradient(kNoSecondDerivative)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            return (flag(a, "mask") ? 2 : 1) * in[0].elements();
        });
}

}  // namespace dtnn::compiler
