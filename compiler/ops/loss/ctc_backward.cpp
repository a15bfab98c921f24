#include "base/saturating.hpp"
#include "base/tensor/choices.hpp"
#include "compiler/ops/loss/label_sequences.hpp"

namespace dtnn::compiler {
namespace {

/// Operations of a state at a step: those of a loss from the first step on and from the last, and
/// an exponential.
constexpr std::int64_t kFlopsOfBothWays = 420;

}  // namespace

/// diff[t, c] = minus the probability that, of all steps that the labels may be at, step t is at
/// one of class c, times the sample's weight: kernels/arguments/ctc.hpp. The sums over paths are
/// worked out again: nothing is kept for it.
OpDef define_ctc_backward() {
    return OpBuilder("ctc_backward")
        .family(Family::loss)
        .kernel_class(KernelClass::products)
        .attribute(kSteps, std::int64_t{1})
        .attribute(kBlank, std::int64_t{0})
        .attribute("per", std::string(plan::name_of(LossPer::label)))
        .doc("Gradient of ctc.")
        .shape([](ShapeContext& c) {
            fallback(c, "per");
            if (expect_label_sequences(c)) result_like(c);
        })
        .no_gradient(kNoSecondDerivative)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            return saturating_product({kFlopsOfBothWays, path_states(in, a)});
        });
}

}  // namespace dtnn::compiler
