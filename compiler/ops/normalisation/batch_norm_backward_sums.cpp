#include "compiler/ops/emit.hpp"
#include "compiler/ops/normalisation/batch_statistics.hpp"
#include "compiler/ops/update/optimizer.hpp"

namespace dtnn::compiler {

/// kernels/arguments/batch_norm_synchronised.hpp has the formula: diff_dst is of the mean loss
/// of all ranks.
OpDef define_batch_norm_backward_sums() {
    return OpBuilder("batch_norm_backward_sums")
        .family(Family::normalisation)
        .kernel_class(KernelClass::normalization_gradients)
        .attribute("epilogue", std::string("none"))
        .doc(
            "The gradients of gamma and beta, and what a rank's batch adds to the sums of all "
            "ranks "
            "that the gradient of the source takes.")
        .shape([](ShapeContext& c) {
            if (!expect_relu_backward(c, "batch_norm_backward_sums")) return;
            const Type& src = c.input(0);
            const DType wide = wide_of(src.dtype);
            if (!expect_single(c, "batch_weight", wide)) return;
            const Type per_channel{wide, {features_of(src)}, {}};
            c.result(rank_sums(src));
            c.result(per_channel);
            c.result(per_channel);
        })
        .no_gradient(kNoSecondDerivative)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            return (5 + flops_of_epilogue(a)) * in[0].elements();
        });
}

}  // namespace dtnn::compiler
