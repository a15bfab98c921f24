#include <fmt/format.h>

#include "compiler/ops/shape/resampling.hpp"
#include "compiler/ops/spatial.hpp"

namespace dtnn::compiler {
namespace {

void upsample2d_shape(ShapeContext& c) {
    if (!expect_image(c, "upsample2d")) return;
    fallback(c, "mode");
    fallback(c, "align_corners", false);
    const bool factor = c.attributes().contains("factor"), size = c.attributes().contains("size");
    if (factor == size) {
        c.fail(factor ? "upsample2d takes `factor` or `size`, not both"
                      : "upsample2d needs `factor` or `size`",
               "`factor: 2` doubles height and width; `size: [h, w]` says what comes out",
               factor ? "size" : "");
        return;
    }
    if (c.flag("align_corners") && says(c.attributes(), "mode", Resampling::nearest)) {
        c.fail("align_corners says where bilinear weights lie; mode nearest has none",
               "use `mode: bilinear`", "align_corners");
        return;
    }
    Type dst = c.input(0);
    const auto given = pair_of(c.attributes(), factor ? "factor" : "size");
    for (std::size_t axis = 0; axis < 2; ++axis)
        dst.dims[2 + axis] =
            factor ? saturating_product({dst.dims[2 + axis], given[axis]}) : given[axis];
    c.attributes().erase("factor");
    c.attributes()["size"] = std::vector<std::int64_t>{dst.dims[2], dst.dims[3]};
    c.result(dst);
}

}  // namespace

/// nearest: dst[y] = src[floor(y*H/OH)], in whole numbers. bilinear, along each axis: dst[y] = (1 -
/// t)*src[i] + t*src[i+1] with i + t = max((y + 0.5)*H/OH - 0.5, 0), or y*(H-1)/(OH-1) with
/// align_corners, and i+1 at most H-1 (torch.nn.functional.interpolate).
OpDef define_upsample2d() {
    return OpBuilder("upsample2d")
        .family(Family::shape)
        .keeps_shifts()
        .kernel_class(KernelClass::copies)
        .does_nothing(keeps_extents)
        .doc("Enlarges images: every cell repeated, or bilinear interpolation.")
        .layer("- upsample2d: {factor: 2, mode: bilinear}")
        .field(pair_field("factor", {}, "how many times as high and wide the result is"))
        .field(pair_field("size", {}, "height and width of the result, instead of `factor`"))
        .field(choice_field("mode", "nearest", words_of<Resampling>(),
                            "how cells between those of the input get their values"))
        .field(boolean_field("align_corners", false,
                             "bilinear: whether the corner cells of input and result lie on each "
                             "other, instead of the corners of the images"))
        .shape(upsample2d_shape)
        .gradient([](GradientContext& g) {
            emit_resampling_backward(g, "upsample2d_backward", {"size", "mode", "align_corners"});
        })
        .flops([](const std::vector<Type>&, const std::vector<Type>& out, const Attributes& a) {
            return says(a, "mode", Resampling::bilinear) ? 8 * out[0].elements() : 0;
        });
}

}  // namespace dtnn::compiler
