#include "compiler/ops/update/optimizer.hpp"

namespace dtnn::compiler {

/// kernels/arguments/update.hpp has the formulas. The results overwrite weights and states, always.
OpDef define_nadam_update() {
    return update_operator("nadam_update")
        .attribute("beta1", 0.9)
        .attribute("beta2", 0.999)
        .attribute("epsilon", 1e-8)
        .attribute("momentum_decay", 0.004)
        .doc("A step of NAdam: Adam with Nesterov's momentum.")
        .inputs({"weights", "diff", "learning_rate", "update", "first_moment", "second_moment",
                 "momentum_product?", "scale?"})
        .outputs({"weights", "first_moment", "second_moment", "momentum_product?"})
        .shape([](ShapeContext& c) {
            std::vector<UpdateOperand> others{
                {"update", UpdateOperand::count}, {"first_moment"}, {"second_moment"}};
            if (text_or(c.attributes(), "variant", "dozat") == "dozat")
                others.push_back({"momentum_product", UpdateOperand::number});
            update_shape(c, "nadam_update", others);
        })
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            return (15 + common_update_flops(a)) * in[0].elements();
        })
        .in_place(0, 0)
        .in_place(1, 4)
        .in_place(2, 5)
        .in_place(3, 6);
}

}  // namespace dtnn::compiler
