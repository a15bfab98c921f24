#include "compiler/ops/loss/loss.hpp"

namespace dtnn::compiler {

/// dst[n,c] = 1 where c is the label, else 0; `dtype` ("f32" unless given) is the result's.
OpDef define_one_hot() {
    return OpBuilder("one_hot")
        .family(Family::loss)
        .kernel_class(KernelClass::memory)
        .doc("Labels as rows with a single 1.")
        .inputs({"labels"})
        .outputs({"dst"})
        .shape([](ShapeContext& c) {
            if (!expect_operands(c, "one_hot", 1)) return;
            if (!expect_labels(c, "one_hot")) return;
            const Type& labels = c.input(0);
            fallback(c, "dtype", std::string("f32"));
            Type dst{DType::f32, {labels.dims[0], c.integer("classes")}, {}, usual_axes(1)};
            if (!plan::parse_name(c.text("dtype"), dst.dtype)) {
                c.fail("one_hot: `" + c.text("dtype") + "` is no dtype", "", "dtype");
                return;
            }
            c.result(dst);
        })
        .no_gradient("labels are integers")
        .flops([](const auto&, const auto&, const Attributes&) { return std::int64_t{0}; });
}

}  // namespace dtnn::compiler
