#include "compiler/ops/spatial.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {

/// dst = the largest cell of the windows of adaptive_avg_pool2d, the first of equals; `indices`
/// (when asked for, and needed by the gradient) is its place in the image, row by row.
OpDef define_adaptive_max_pool2d() {
    return OpBuilder("adaptive_max_pool2d")
        .family(Family::pooling)
        .keeps_shifts()
        .kernel_class(max_pool_class)
        .kept_for_backward("indices")
        .general_form(max_pool_form)
        .does_nothing(keeps_extents)
        .doc(
            "The largest numbers of as many windows as the result has cells; they overlap where "
            "they must.")
        .layer("- adaptive_max_pool2d: {size: [7, 7]}")
        .field(pair_field("size", 1, "height and width of the result"))
        .shape([](ShapeContext& c) {
            adaptive_pool_shape(c, "adaptive_max_pool2d");
            if (c.error() || !c.flag("indices")) return;
            Type indices = c.results()[0];
            indices.dtype = DType::i32;
            c.result(indices);
        })
        .gradient([](GradientContext& g) {
            if (!g.wants(0)) return;
            DTNN_CHECK(flag(g.node().attributes, "indices"),
                       "adaptive_max_pool2d is differentiated without indices: specialise_phase "
                       "must run first");
            Attributes attributes = pick(g.node().attributes, {"size"});
            attributes["source_shape"] = g.graph().type(g.input(0)).dims;
            g.set(0, g.emit("adaptive_max_pool2d_backward", {g.diff(0), g.output(1)},
                            std::move(attributes), "diff_src")[0]);
        })
        .flops([](const std::vector<Type>& in, const std::vector<Type>& out, const Attributes&) {
            return std::max(in[0].elements(), out[0].elements());
        });
}

}  // namespace dtnn::compiler
