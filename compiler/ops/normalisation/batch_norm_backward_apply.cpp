#include "compiler/ops/emit.hpp"
#include "compiler/ops/normalisation/batch_statistics.hpp"
#include "compiler/ops/update/optimizer.hpp"

namespace dtnn::compiler {

/// kernels/arguments/batch_norm_synchronised.hpp has the formula; `sums` are those of all ranks.
OpDef define_batch_norm_backward_apply() {
    return OpBuilder("batch_norm_backward_apply")
        .family(Family::normalisation)
        .kernel_class(KernelClass::normalization_gradients)
        .attribute("epilogue", std::string("none"))
        .doc("Gradient of the source of a batch norm over the batches of all ranks.")
        .shape([](ShapeContext& c) {
            if (!expect_relu_backward(c, "batch_norm_backward_apply")) return;
            const Type& src = c.input(0);
            if (!expect_dims(c, "sums", rank_sums(src).dims)) return;
            if (!expect_single(c, "batch_weight", wide_of(src.dtype))) return;
            c.result(src);
            if (c.flag("residual")) c.result(src);
        })
        .no_gradient(kNoSecondDerivative)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            return (5 + flops_of_epilogue(a)) * in[0].elements();
        })
        .in_place(0, 1);
}

}  // namespace dtnn::compiler
