#include "compiler/ops/define.hpp"

namespace dtnn::compiler {
namespace {

void embedding_backward_shape(ShapeContext& c) {
    const Type& diff = c.input(1);
    const Dims table = c.integers("weights_shape");
    if (c.input(0).dtype != DType::i32 || table.size() != 2 || diff.dims.empty() ||
        diff.elements() != saturating_product({c.input(0).elements(), table[1]})) {
        c.fail("embedding_backward takes integers and a row of the table's width for each");
        return;
    }
    c.result({wide_of(diff.dtype), table, {}});
}

}  // namespace

/// diff_weights[e, u] = sum of diff_dst[..., u] over the places whose index is e.
OpDef define_embedding_backward() {
    return OpBuilder("embedding_backward")
        .family(Family::sequence)
        .kernel_class(KernelClass::memory)
        .doc("Gradient of embedding by its table.")
        .shape(embedding_backward_shape)
        .no_gradient(kNoSecondDerivative)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return in[1].elements();
        });
}

}  // namespace dtnn::compiler
