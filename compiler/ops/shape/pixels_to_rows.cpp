#include "compiler/ops/axis.hpp"

namespace dtnn::compiler {

/// dst[(n*H + y)*W + x, c] = src[n, c, y, x], dst[n*T + t, f] = src[n, t, f]: what a loss per
/// sample needs to be a loss per pixel or per step. The bytes stay what they are when the source is
/// stored with its channels last; then no step runs.
OpDef define_pixels_to_rows() {
    return OpBuilder("pixels_to_rows")
        .family(Family::shape)
        .kernel_class(KernelClass::copies)
        .doc("A row of channels for every pixel of an image, or step, as if each were a sample.")
        .shape([](ShapeContext& c) {
            if (!settle_features(c, "pixels_to_rows")) return;
            const Type& src = c.input(0);
            const std::int64_t features = features_of(src);
            c.result(Type{src.dtype, {src.elements() / features, features}, {}, usual_axes(1)});
        })
        .gradient([](GradientContext& g) {
            if (!g.wants(0)) return;
            g.set(0, g.emit("rows_to_pixels", {g.diff(0)},
                            shape_attributes(g.graph().type(g.input(0))), "diff_src")[0]);
        })
        .flops([](const auto&, const auto&, const Attributes&) { return std::int64_t{0}; })
        .view(View::channels_last_source);
}

}  // namespace dtnn::compiler
