#include "compiler/ops/spatial.hpp"

namespace dtnn::compiler {

/// dst[n,c,0,0] = the largest of src[n,c,:,:].
OpDef define_global_max_pool2d() {
    return OpBuilder("global_max_pool2d")
        .family(Family::pooling)
        .keeps_shifts()
        .kernel_class(max_pool_class)
        .general_form([](const Graph& graph, const Node& node) {
            std::vector<Node> form = max_pool_form(graph, node);
            if (form.empty())
                form = becomes(node, "adaptive_max_pool2d",
                               {{"size", std::vector<std::int64_t>{1, 1}}});
            return form;
        })
        .doc("The largest number of each channel over the whole image.")
        .layer("- global_max_pool2d")
        .shape([](ShapeContext& c) {
            if (!expect_image(c, "global_max_pool2d")) return;
            Type dst = c.input(0);
            dst.dims[2] = dst.dims[3] = 1;
            c.result(dst);
        })
        .no_gradient("abstract: canonicalize makes it adaptive_max_pool2d before differentiation")
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return in[0].elements();
        });
}

}  // namespace dtnn::compiler
