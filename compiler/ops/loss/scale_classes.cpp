#include "compiler/ops/loss/loss.hpp"

namespace dtnn::compiler {

/// dst[n,c] = src[n,c] * class_weights[c].
OpDef define_scale_classes() {
    return OpBuilder("scale_classes")
        .family(Family::loss)
        .kernel_class(KernelClass::memory)
        .doc("Rows with every class scaled by its weight.")
        .shape([](ShapeContext& c) {
            if (!is_rows(c.input(0))) {
                c.fail("scale_classes: rows must be [N,C]");
                return;
            }
            if (expect_class_weights(c, "scale_classes", c.input(0).dims[1], true)) result_like(c);
        })
        .gradient([](GradientContext& g) {
            if (g.wants(0))
                g.set(0, g.emit("scale_classes", {g.diff(0)}, g.node().attributes, "diff_src")[0]);
        })
        .flops(flops_per_number(1))
        .in_place(0, 0);
}

}  // namespace dtnn::compiler
