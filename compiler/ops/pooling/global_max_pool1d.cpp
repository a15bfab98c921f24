#include "compiler/ops/axis.hpp"
#include "compiler/ops/sequence/lengths.hpp"
#include "compiler/ops/sequence/step_window.hpp"

namespace dtnn::compiler {
namespace {

/// A pool whose one window has all steps, where its indices are bytes; else one over an image. Its
/// one step, or pixel, is the row.
std::vector<Node> largest_of_all_steps(const Graph& graph, const Node& node) {
    const Type& src = graph.type(node.inputs[0]);
    const std::int64_t steps = src.dims[1];
    std::vector<Node> nodes;
    if (steps <= kMostPoolCells) {
        nodes = becomes(node, "max_pool1d", {{"kernel", steps}});
    } else {
        const Type image{src.dtype, {src.dims[0], src.dims[2], 1, steps}, {}, usual_axes(3)};
        nodes = becomes(node, "pixels_to_rows", {});
        nodes.push_back(becomes(node, "rows_to_pixels", shape_attributes(image))[0]);
        nodes.push_back(
            becomes(node, "adaptive_max_pool2d", {{"size", std::vector<std::int64_t>{1, 1}}})[0]);
    }
    nodes.push_back(becomes(node, "pixels_to_rows", {})[0]);
    return nodes;
}

void largest_of_lengths(LengthsContext& c) {
    const ValueId steps = masked(c, c.input(0), StepMask::lowest);
    c.set(c.emit(c.node().op, {steps}, c.node().attributes, "dst")[0], false);
}

}  // namespace

/// dst[n,c] = the largest of src[n,:,c].
OpDef define_global_max_pool1d() {
    return OpBuilder("global_max_pool1d")
        .family(Family::pooling)
        .keeps_shifts()
        .of_sequences()
        .kernel_class(max_pool_class)
        .general_form(largest_of_all_steps)
        .with_lengths(largest_of_lengths)
        .doc("The largest number of each feature over all steps, as one row (Kim, 2014).")
        .layer("- global_max_pool1d")
        .shape([](ShapeContext& c) {
            const Type& src = c.input(0);
            c.result({src.dtype, {src.dims[0], src.dims[2]}, {}, usual_axes(1)});
        })
        .no_gradient("abstract: canonicalize makes it a pool and its rows before differentiation")
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return in[0].elements();
        });
}

}  // namespace dtnn::compiler
