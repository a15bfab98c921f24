#include "compiler/ops/update/optimizer.hpp"

namespace dtnn::compiler {

/// kernels/arguments/update.hpp has the formula. The results overwrite weights and sum, always.
OpDef define_adagrad_update() {
    return OpBuilder("adagrad_update")
        .family(Family::update)
        .kernel_class(KernelClass::updates)
        .doc("A step of AdaGrad.")
        .inputs({"weights", "diff", "learning_rate", "update", "square_sum", "scale?"})
        .outputs({"weights", "square_sum"})
        .shape([](ShapeContext& c) {
            update_shape(c, "adagrad_update", {{"update", UpdateOperand::count}, {"square_sum"}});
        })
        .no_gradient(kUpdatesAreFinal)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            return (7 + common_update_flops(a)) * in[0].elements();
        })
        .in_place(0, 0)
        .in_place(1, 4);
}

}  // namespace dtnn::compiler
