#include "compiler/ops/axis.hpp"
#include "compiler/ops/sequence/sequence.hpp"

namespace dtnn::compiler {

/// dst[y*W + x, c] = src[c, y, x]: no bytes move where channels are stored last.
OpDef define_pixels_to_steps() {
    return OpBuilder("pixels_to_steps")
        .family(Family::shape)
        .kernel_class(KernelClass::copies)
        .doc(
            "The pixels of an image as the steps of a sequence, row by row, with a pixel's "
            "channels as features. Behind a convolution whose stride is its kernel, they are the "
            "image's patches (Dosovitskiy and others, 2020).")
        .layer("- pixels_to_steps")
        .keeps_numbers()
        .general_form([](const Graph& graph, const Node& node) {
            std::vector<Node> nodes = becomes(node, "pixels_to_rows", {});
            const Type& dst = graph.type(node.outputs[0]);
            nodes.push_back(becomes(node, "rows_to_pixels", shape_attributes(dst))[0]);
            return nodes;
        })
        .shape([](ShapeContext& c) {
            if (!expect_image(c, "pixels_to_steps")) return;
            const Dims& src = c.input(0).dims;
            c.result({c.input(0).dtype, {src[0], src[2] * src[3], src[1]}, {}, usual_axes(2)});
        })
        .no_gradient(
            "abstract: canonicalize makes it pixels_to_rows and rows_to_pixels before "
            "differentiation")
        .flops([](const auto&, const auto&, const Attributes&) { return std::int64_t{0}; });
}

}  // namespace dtnn::compiler
