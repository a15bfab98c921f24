#include <fmt/format.h>

#include "compiler/ops/shape/resampling.hpp"
#include "compiler/ops/spatial.hpp"

namespace dtnn::compiler {
namespace {

void zero_pad2d_shape(ShapeContext& c) {
    if (!expect_image(c, "zero_pad2d")) return;
    if (const auto found = c.attributes().find("padding"); found != c.attributes().end())
        if (const auto* word = std::get_if<std::string>(&found->second)) {
            c.fail(fmt::format("zero_pad2d has no kernel that `{}` could follow", *word),
                   "give one number, [vertical, horizontal] or [top, bottom, left, right]",
                   "padding");
            return;
        }
    const Window w = window_of(c.attributes(), {1, 1});
    Type dst = c.input(0);
    dst.dims[2] += w.padding[0] + w.padding[1];
    dst.dims[3] += w.padding[2] + w.padding[3];
    c.result(dst);
}

}  // namespace

OpDef define_zero_pad2d() {
    Field padding = padding_field();
    padding.fallback.reset();
    padding.doc =
        "rows and columns of zeros: one number, [vertical, horizontal] or [top, bottom, left, "
        "right]";
    return OpBuilder("zero_pad2d")
        .family(Family::shape)
        .kernel_class(KernelClass::copies)
        .pads()
        .does_nothing(keeps_extents)
        .doc("Puts zeros around images; a convolution behind it takes them as its own padding.")
        .layer("- zero_pad2d: {padding: [0, 1, 0, 1]}")
        .field(padding)
        .shape(zero_pad2d_shape)
        .gradient([](GradientContext& g) {
            emit_resampling_backward(g, "zero_pad2d_backward", {"padding"});
        })
        .flops([](const auto&, const auto&, const Attributes&) { return std::int64_t{0}; });
}

}  // namespace dtnn::compiler
