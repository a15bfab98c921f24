#include "compiler/ops/dense/dense.hpp"

namespace dtnn::compiler {
namespace {

void dense_backward_weights_shape(ShapeContext& c) {
    fallback(c, "bias", false);
    const Type& src = c.input(0);
    const Dims weights = c.integers("weights_shape");
    Dims source = c.input(1).dims, result = source;
    if (source.empty() || weights.empty()) {
        c.fail("dense_backward_weights: diff_dst has no rows");
        return;
    }
    source.pop_back();
    source.insert(source.end(), weights.begin(), weights.end() - 1);
    result.back() = weights.back();
    if (!expect_dims(c, "src", source)) return;
    if (!expect_dims(c, "diff_dst", result)) return;
    Type diff_weights{wide_of(src.dtype), weights, {}};
    // Rows follow the source's physical order: channels last means H, W, C, units.
    if (is_image(src) && !src.order.empty()) diff_weights.order = kDenseOrder;
    c.result(diff_weights);
    if (c.flag("bias")) c.result(Type{diff_weights.dtype, {weights.back()}, {}});
}

}  // namespace

/// diff_weights[k,u] = sum over n of src[n,k] * diff_dst[n,u]; diff_bias[u] = sum over n of
/// diff_dst[n,u].
OpDef define_dense_backward_weights() {
    return OpBuilder("dense_backward_weights")
        .family(Family::dense)
        .kernel_class(product_gradient_class)
        .multiplies()
        .weights_result(0, kDenseOrder)
        .doc("Gradient of a fully connected layer by its weights, and by its bias when it has one.")
        .shape(dense_backward_weights_shape)
        .no_gradient(kNoSecondDerivative)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            return saturating_product({2, in[0].elements(), in[1].dims.back()}) +
                   (flag(a, "bias") ? in[1].elements() : 0);
        });
}

}  // namespace dtnn::compiler
