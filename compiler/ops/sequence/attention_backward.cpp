#include "compiler/ops/sequence/attention.hpp"
#include "compiler/ops/sequence/lengths.hpp"
#include "compiler/ops/sequence/sequence.hpp"

namespace dtnn::compiler {
namespace {

void attention_backward_shape(ShapeContext& c) {
    const auto shape = expect_attention(c);
    if (!shape) return;
    if (!expect_dims(c, "dst", shape->results()) || !expect_dims(c, "diff_dst", shape->results()) ||
        !expect_dims(c, "logsumexp", shape->statistics()) || !expect_lengths(c))
        return;
    for (std::size_t i = 0; i < (c.flag("joined") ? 1 : 3); ++i)
        result_like(c, i);
}

}  // namespace

/// The probabilities are worked out again from logsumexp: kernels/arguments/attention.hpp.
OpDef define_attention_backward() {
    return OpBuilder("attention_backward")
        .family(Family::sequence)
        .kernel_class(KernelClass::products)
        .attribute("joined", false)
        .attribute("dropout", 0.0)
        .attribute(kDrops, false)
        .attribute(kPlaced, false)
        .attribute(kPadded, false)
        .operands_by("joined")
        .doc("Gradient of attention.")
        .shape(attention_backward_shape)
        .no_gradient(kNoSecondDerivative)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            return attention_flops(in, a, 5);
        });
}

}  // namespace dtnn::compiler
