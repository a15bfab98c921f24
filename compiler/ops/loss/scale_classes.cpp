#include <fmt/format.h>

#include "compiler/ops/loss/loss.hpp"

namespace dtnn::compiler {

/// dst[n,c] = src[n,c] * class_weights[c] + offsets[c]; without `offsets` nothing is added.
OpDef define_scale_classes() {
    return OpBuilder("scale_classes")
        .family(Family::loss)
        .kernel_class(KernelClass::memory)
        .doc("Rows with every class scaled by its weight, and moved by its offset.")
        .shape([](ShapeContext& c) {
            if (!is_rows(c.input(0))) {
                c.fail("scale_classes: rows must be [N,C]");
                return;
            }
            const std::int64_t classes = c.input(0).dims[1];
            if (!expect_class_weights(c, "scale_classes", classes, true)) return;
            const auto offsets = c.attributes().find("offsets");
            const auto* list = offsets == c.attributes().end()
                                   ? nullptr
                                   : std::get_if<std::vector<double>>(&offsets->second);
            if (offsets != c.attributes().end() &&
                (list == nullptr || std::int64_t(list->size()) != classes))
                c.fail(fmt::format("scale_classes has {} offsets, but there are {} classes",
                                   list == nullptr ? 0 : list->size(), classes),
                       "", "offsets");
            else
                result_like(c);
        })
        .gradient([](GradientContext& g) {
            if (!g.wants(0)) return;
            Attributes weights = g.node().attributes;
            weights.erase("offsets");
            g.set(0, g.emit("scale_classes", {g.diff(0)}, std::move(weights), "diff_src")[0]);
        })
        .flops(flops_per_number(1))
        .in_place(0, 0);
}

}  // namespace dtnn::compiler
