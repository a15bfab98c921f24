#include "base/saturating.hpp"
#include "base/tensor/choices.hpp"
#include "compiler/ops/loss/label_sequences.hpp"

namespace dtnn::compiler {
namespace {

/// Operations of a state at a step: three exponentials of 40 each and a logarithm of 60, as series
/// of vectors are.
constexpr std::int64_t kFlopsOfState = 190;

}  // namespace

/// loss = mean over samples of -log of the probability of the labels, whatever steps they are at
/// (Graves et al., 2006), divided by their number where `per` is label: kernels/arguments/ctc.hpp.
OpDef define_ctc() {
    return OpBuilder("ctc")
        .family(Family::loss)
        .kernel_class(KernelClass::products)
        .attribute(kSteps, std::int64_t{1})
        .attribute(kBlank, std::int64_t{0})
        .attribute("per", std::string(plan::name_of(LossPer::label)))
        .doc(
            "Mean of -log of the probability that a sample's steps give to its labels, summed over "
            "all steps that these may be at.")
        .shape([](ShapeContext& c) {
            fallback(c, "per");
            if (expect_label_sequences(c)) result_scalar(c);
        })
        .gradient([](GradientContext& g) {
            if (!g.wants(0)) return;
            ValueList operands;
            for (std::size_t i = 0; i < g.node().inputs.size(); ++i)
                operands.push_back(g.input(i));
            g.set(0, g.emit("ctc_backward", std::move(operands), g.node().attributes,
                            "diff_predictions")[0]);
        })
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            return saturating_product({kFlopsOfState, path_states(in, a)});
        });
}

}  // namespace dtnn::compiler
