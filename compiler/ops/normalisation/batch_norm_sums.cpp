#include "compiler/ops/normalisation/batch_statistics.hpp"
#include "compiler/ops/update/optimizer.hpp"

namespace dtnn::compiler {

/// kernels/arguments/rank_moments.hpp has the formula. With `statistics`, sums and sums
/// of squares that the node before has made, src is read for its shape only.
OpDef define_batch_norm_sums() {
    return OpBuilder("batch_norm_sums")
        .family(Family::normalisation)
        .kernel_class(KernelClass::normalizations)
        .doc("What a rank's batch adds to the batch statistics of all ranks.")
        .shape([](ShapeContext& c) {
            if (!settle_features(c, "batch_norm_sums")) return;
            const Type& src = c.input(0);
            if (!expect_single(c, "batch_weight", wide_of(src.dtype))) return;
            if (!expect_dims(c, "statistics", {3, features_of(src)})) return;
            c.result(rank_moments(src));
        })
        .no_gradient(kSynchronisedLate)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            return flag(a, "statistics") ? 0 : 4 * in[0].elements();
        });
}

}  // namespace dtnn::compiler
