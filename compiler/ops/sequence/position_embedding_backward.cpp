#include "compiler/ops/sequence/sequence.hpp"

namespace dtnn::compiler {

/// diff_weights[t, f] = sum over n of diff_dst[n, t, f]; zeros for positions behind the last step.
OpDef define_position_embedding_backward() {
    return OpBuilder("position_embedding_backward")
        .family(Family::sequence)
        .kernel_class(KernelClass::memory)
        .doc("Gradient of position_embedding by its rows.")
        .shape([](ShapeContext& c) {
            const Type& diff = c.input(0);
            const Dims table = c.integers("weights_shape");
            if (!is_sequence(diff) || table.size() != 2 || table[1] != diff.dims[2] ||
                table[0] < diff.dims[1]) {
                c.fail("position_embedding_backward takes a row of the table for each step");
                return;
            }
            c.result({wide_of(diff.dtype), table, {}});
        })
        .no_gradient(kNoSecondDerivative)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return in[0].elements();
        });
}

}  // namespace dtnn::compiler
