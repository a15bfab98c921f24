#include "compiler/ops/axis.hpp"

namespace dtnn::compiler {

/// diff_src = diff_dst / extent, at every place along the axis.
OpDef define_mean_backward() {
    return OpBuilder("mean_backward")
        .family(Family::pooling)
        .kernel_class(KernelClass::memory)
        .doc("Gradient of mean.")
        .shape([](ShapeContext& c) {
            const Type diff_src = shaped_type(c, c.input(0).dtype);
            const std::size_t axis = written_axis(c.attributes());
            Dims dims = diff_src.dims;
            if (axis < dims.size()) dims.erase(dims.begin() + std::ptrdiff_t(axis));
            if (expect_dims(c, "diff_dst", dims)) c.result(diff_src);
        })
        .no_gradient(kNoSecondDerivative)
        .flops([](const std::vector<Type>&, const std::vector<Type>& out, const Attributes&) {
            return out[0].elements();
        });
}

}  // namespace dtnn::compiler
