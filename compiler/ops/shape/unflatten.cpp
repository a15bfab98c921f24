#include <fmt/format.h>

#include "compiler/ir/printer.hpp"
#include "compiler/ops/axis.hpp"

namespace dtnn::compiler {

/// The reverse of flatten; a view under the same conditions, of the destination.
OpDef define_unflatten() {
    return OpBuilder("unflatten")
        .family(Family::shape)
        .kernel_class(KernelClass::copies)
        .results_lie(Wish::row_major)
        .doc(
            "Gives each row of numbers the shape of an image: flatten's backward, and part of "
            "reshape.")
        .shape([](ShapeContext& c) {
            const Type& src = c.input(0);
            const Type dst = shaped_type(c, src.dtype);
            const Dims& dims = dst.dims;
            if (dims.empty() || src.dims.empty() || dims[0] != src.dims[0] ||
                element_count(dims) != src.elements()) {
                c.fail(fmt::format("unflatten: {} has not the elements of {}", shape_text(src.dims),
                                   shape_text(dims)));
                return;
            }
            c.result(dst);
        })
        .gradient([](GradientContext& g) {
            if (g.wants(0)) g.set(0, g.emit("flatten", {g.diff(0)}, {}, "diff_src")[0]);
        })
        .flops([](const auto&, const auto&, const Attributes&) { return std::int64_t{0}; })
        .view(View::row_major);
}

}  // namespace dtnn::compiler
