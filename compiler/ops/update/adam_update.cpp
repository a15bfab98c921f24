#include "compiler/ops/update/optimizer.hpp"

namespace dtnn::compiler {

/// kernels/arguments/update.hpp has the formula. The results overwrite weights and moments, always.
OpDef define_adam_update() {
    return update_operator("adam_update")
        .attribute("beta1", 0.9)
        .attribute("beta2", 0.999)
        .attribute("epsilon", 1e-8)
        .doc("A step of Adam or AdamW, and of AMSGrad.")
        .inputs({"weights", "diff", "learning_rate", "update", "first_moment", "second_moment",
                 "largest_moment?", "scale?"})
        .outputs({"weights", "first_moment", "second_moment", "largest_moment?"})
        .shape([](ShapeContext& c) {
            std::vector<UpdateOperand> others{
                {"update", UpdateOperand::count}, {"first_moment"}, {"second_moment"}};
            if (flag(c.attributes(), "amsgrad")) others.push_back({"largest_moment"});
            update_shape(c, "adam_update", others);
        })
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            return (13 + (flag(a, "amsgrad") ? 1 : 0) + common_update_flops(a)) * in[0].elements();
        })
        .in_place(0, 0)
        .in_place(1, 4)
        .in_place(2, 5)
        .in_place(3, 6);
}

}  // namespace dtnn::compiler
