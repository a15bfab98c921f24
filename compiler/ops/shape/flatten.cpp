#include "compiler/ops/axis.hpp"
#include "compiler/ops/sequence/lengths.hpp"

namespace dtnn::compiler {

/// The numbers of each sample in the order of its axes: channels, then rows, then columns. The
/// bytes stay what they are when the source is stored row-major; axes of 1 do not matter. Then no
/// step runs.
OpDef define_flatten() {
    return OpBuilder("flatten")
        .family(Family::shape)
        .keeps_shifts()
        .kernel_class(KernelClass::copies)
        .operands_lie(Wish::row_major)
        .does_nothing([](const Graph& graph, const Node& node) {
            return is_rows(graph.type(node.inputs[0]));
        })
        .doc("One row of numbers per sample, in the order channels, height, width.")
        .layer("- flatten")
        .keeps_numbers()
        .with_lengths(steps_as_zeros)
        .shape([](ShapeContext& c) {
            const Type& src = c.input(0);
            if (src.dims.empty()) {
                c.fail("flatten takes one tensor per sample, got a scalar");
                return;
            }
            const std::int64_t row = src.elements() / src.dims[0];
            c.result(Type{src.dtype, {src.dims[0], row}, {}, usual_axes(1)});
        })
        .gradient([](GradientContext& g) {
            if (!g.wants(0)) return;
            const Type& src = g.graph().type(g.input(0));
            // A row that is flattened again is the same row.
            g.set(0, is_rows(src)
                         ? g.diff(0)
                         : g.emit("unflatten", {g.diff(0)}, shape_attributes(src), "diff_src")[0]);
        })
        .flops([](const auto&, const auto&, const Attributes&) { return std::int64_t{0}; })
        .view(View::row_major);
}

}  // namespace dtnn::compiler
