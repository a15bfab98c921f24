#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// With s = gamma / sqrt(running_variance + epsilon): weights'[f,...] = weights[f,...] * s[f],
/// bias'[f] = (bias[f] - running_mean[f]) * s[f] + beta[f]. One convolution then does both.
OpDef define_fold_batch_norm() {
    return OpBuilder("fold_batch_norm")
        .family(Family::normalisation)
        .kernel_class(KernelClass::memory)
        .attribute("epsilon", 1e-5)
        .lie_alike()
        .doc("Weights and bias of the convolution that equals a convolution and its batch norm.")
        .shape([](ShapeContext& c) {
            fallback(c, "epsilon");
            const Type& weights = c.input(0);
            if (weights.dims.empty()) {
                c.fail("fold_batch_norm: weights must be a convolution's");
                return;
            }
            const Dims per_filter{weights.dims[0]};
            for (std::size_t i = 1; i < c.inputs().size(); ++i)
                if (!expect_dims(c, "fold_batch_norm", i, "a per-filter operand", per_filter))
                    return;
            c.result(weights);
            c.result(Type{weights.dtype, per_filter, {}});
        })
        .no_gradient("inference only: training keeps convolution and batch norm apart")
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return in[0].elements() + 6 * in[1].elements();
        });
}

}  // namespace dtnn::compiler
