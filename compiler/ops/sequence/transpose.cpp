#include "compiler/ops/axis.hpp"
#include "compiler/ops/sequence/lengths.hpp"
#include "compiler/ops/sequence/sequence.hpp"

namespace dtnn::compiler {
namespace {

/// The bytes as channels of steps, whose rows are then those of the other axis.
std::vector<Node> transpose_form(const Graph& graph, const Node& node) {
    Type channels = graph.type(node.inputs[0]);
    channels.axes = {AxisKind::batch, AxisKind::channel, AxisKind::step};
    std::vector<Node> nodes = becomes(node, "flatten", {});
    for (Node& next : becomes(node, "unflatten", shape_attributes(channels)))
        nodes.push_back(std::move(next));
    for (Node& next : becomes(node, "pixels_to_rows", {}))
        nodes.push_back(std::move(next));
    for (Node& next :
         becomes(node, "rows_to_pixels", shape_attributes(graph.type(node.outputs[0]))))
        nodes.push_back(std::move(next));
    return nodes;
}

}  // namespace

/// dst[f, t] = src[t, f].
OpDef define_transpose() {
    return OpBuilder("transpose")
        .family(Family::shape)
        .kernel_class(KernelClass::copies)
        .doc(
            "Steps become features and features steps, so that dense layers mix places: "
            "MLP-Mixer (Tolstikhin and others, 2021).")
        .layer("- transpose")
        .of_sequences()
        .keeps_numbers()
        .general_form(transpose_form)
        .with_lengths(steps_as_zeros)
        .shape([](ShapeContext& c) {
            const Dims& src = c.input(0).dims;
            c.result({c.input(0).dtype, {src[0], src[2], src[1]}, {}, usual_axes(2)});
        })
        .no_gradient("abstract: canonicalize makes it views and a copy before differentiation")
        .flops([](const auto&, const auto&, const Attributes&) { return std::int64_t{0}; });
}

}  // namespace dtnn::compiler
