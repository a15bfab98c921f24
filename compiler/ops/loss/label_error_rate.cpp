#include "base/saturating.hpp"
#include "compiler/ops/loss/label_sequences.hpp"

namespace dtnn::compiler {

/// errors = the least number of labels to be put in, taken out and replaced so that the best path
/// of each sample becomes its labels, f64: kernels/arguments/ctc.hpp.
OpDef define_label_error_rate() {
    return OpBuilder("label_error_rate")
        .family(Family::loss)
        .kernel_class(KernelClass::memory)
        .attribute(kSteps, std::int64_t{1})
        .attribute(kBlank, std::int64_t{0})
        .reads_order_only()
        .doc("Number of changes that make the best path's labels those of the samples.")
        .shape([](ShapeContext& c) {
            if (expect_label_sequences(c)) result_sum(c);
        })
        .no_gradient(kMetricIsFlat)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            return saturating_sum({in[0].elements(), saturating_product({2, path_states(in, a)})});
        });
}

}  // namespace dtnn::compiler
