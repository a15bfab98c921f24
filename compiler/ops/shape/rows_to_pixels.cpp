#include <fmt/format.h>

#include "compiler/ir/printer.hpp"
#include "compiler/ops/axis.hpp"

namespace dtnn::compiler {

/// The reverse of pixels_to_rows: dst[n, c, y, x] = src[(n*H + y)*W + x, c]; a view when the
/// destination is stored channels last.
OpDef define_rows_to_pixels() {
    return OpBuilder("rows_to_pixels")
        .family(Family::shape)
        .kernel_class(KernelClass::copies)
        .doc("Puts rows of channels into an image or a sequence; pixels_to_rows' backward.")
        .shape([](ShapeContext& c) {
            const Type& src = c.input(0);
            const Type dst = shaped_type(c, src.dtype);
            if (!is_rows(src) || feature_axis(dst.axes) < 1 ||
                features_of(dst) != features_of(src) || dst.elements() != src.elements()) {
                c.fail(fmt::format("rows_to_pixels: the rows {} do not make {}",
                                   shape_text(src.dims), shape_text(dst.dims)));
                return;
            }
            write_axis(c.attributes(), std::size_t(feature_axis(dst.axes)));
            c.result(dst);
        })
        .gradient([](GradientContext& g) {
            if (g.wants(0)) g.set(0, g.emit("pixels_to_rows", {g.diff(0)}, {}, "diff_src")[0]);
        })
        .flops([](const auto&, const auto&, const Attributes&) { return std::int64_t{0}; })
        .view(View::channels_last_result);
}

}  // namespace dtnn::compiler
