#include "compiler/ops/dense/dense.hpp"

namespace dtnn::compiler {
namespace {

void dense_backward_data_shape(ShapeContext& c) {
    const bool mask = c.flag("mask");
    if (!expect_operands(c, "dense_backward_data", mask ? 3 : 2)) return;
    const Dims source = c.integers("source_shape");
    Dims weights(source.begin() + 1, source.end());
    weights.push_back(c.input(0).dims.back());
    if (!expect_dims(c, "dense_backward_data", 0, "diff_dst", {source[0], weights.back()})) return;
    if (!expect_dims(c, "dense_backward_data", 1, "weights", weights)) return;
    if (mask && !expect_dims(c, "dense_backward_data", 2, "y", source)) return;
    Type result{c.input(0).dtype, source, {}};
    // Weights stored H,W,C,units belong to a source stored channels last.
    if (source.size() == 4 && !c.input(1).order.empty()) result.order = {0, 2, 3, 1};
    c.result(result);
}

}  // namespace

/// diff_src[n,k] = sum over u of diff_dst[n,u] * weights[k,u]; times (y > 0) when `mask`.
OpDef define_dense_backward_data() {
    return OpBuilder("dense_backward_data")
        .family(Family::dense)
        .kernel_class(product_class)
        .multiplies()
        .takes({Epilogue::mask})
        .weights_operand(1, kDenseOrder)
        .doc("Gradient of a fully connected layer by its source.")
        .inputs({"diff_dst", "weights", "y?"})
        .outputs({"diff_src"})
        .shape(dense_backward_data_shape)
        .no_gradient(kNoSecondDerivative)
        .flops([](const std::vector<Type>& in, const std::vector<Type>& out, const Attributes& a) {
            return saturating_product({2, out[0].elements(), in[0].dims[1]}) +
                   (flag(a, "mask") ? out[0].elements() : 0);
        });
}

}  // namespace dtnn::compiler
