#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// Logically the identity; `order` is the physical order of the destination, empty or [0,1,...] for
/// row-major.
OpDef define_reorder() {
    return OpBuilder("reorder")
        .family(Family::shape)
        .kernel_class(KernelClass::copies)
        .view(View::same_order)
        .doc(
            "Stores a tensor in another physical order; the numbers and their logical places stay.")
        .shape([](ShapeContext& c) {
            Type result = c.input(0);
            result.order.clear();
            bool row_major = true;
            for (const std::int64_t axis : c.integers("order")) {
                row_major = row_major && axis == std::int64_t(result.order.size());
                result.order.push_back(int(axis));
            }
            if (!result.order.empty() && result.order.size() != result.dims.size()) {
                c.fail("reorder: the order has not as many axes as the source");
                return;
            }
            if (row_major) result.order.clear();
            c.result(result);
        })
        .no_gradient("placed by the layout pass, which runs after differentiation")
        .flops([](const auto&, const auto&, const Attributes&) { return std::int64_t{0}; });
}

}  // namespace dtnn::compiler
