#include "compiler/ops/shape/resampling.hpp"
#include "compiler/ops/spatial.hpp"

namespace dtnn::compiler {

/// dst[y,x] = the mean of the rows floor(y*H/OH) to ceil((y+1)*H/OH) - 1 and columns likewise.
OpDef define_adaptive_avg_pool2d() {
    return OpBuilder("adaptive_avg_pool2d")
        .family(Family::pooling)
        .keeps_shifts()
        .kernel_class(KernelClass::window_pooling)
        .general_form([](const Graph& graph, const Node& node) {
            const Dims& result = graph.type(node.outputs[0]).dims;
            if (result[2] == 1 && result[3] == 1) return becomes(node, "global_avg_pool2d", {});
            const auto windows = even_windows(graph, node);
            return windows ? becomes(node, "avg_pool2d", *windows) : std::vector<Node>{};
        })
        .does_nothing(keeps_extents)
        .doc("Means over as many windows as the result has cells; they overlap where they must.")
        .layer("- adaptive_avg_pool2d: {size: [7, 7]}")
        .field(pair_field("size", 1, "height and width of the result"))
        .shape([](ShapeContext& c) { adaptive_pool_shape(c, "adaptive_avg_pool2d"); })
        .gradient([](GradientContext& g) {
            emit_resampling_backward(g, "adaptive_avg_pool2d_backward", {"size"});
        })
        .flops([](const std::vector<Type>& in, const std::vector<Type>& out, const Attributes&) {
            return std::max(in[0].elements(), out[0].elements());
        });
}

}  // namespace dtnn::compiler
