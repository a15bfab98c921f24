#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// The numbers of each sample in logical order: channels, then rows, then columns. The bytes stay
/// what they are when the source is stored row-major, or when its height and width, or its
/// channels, are 1; then no step runs.
OpDef define_flatten() {
    return OpBuilder("flatten")
        .family(Family::shape)
        .keeps_shifts()
        .kernel_class(KernelClass::copies)
        .reads_row_major()
        .does_nothing([](const Graph& graph, const Node& node) {
            return graph.type(node.inputs[0]).dims.size() == 2;
        })
        .doc("One row of numbers per sample, in the order channels, height, width.")
        .layer("- flatten")
        .keeps_numbers()
        .inputs({"src"})
        .outputs({"dst"})
        .shape([](ShapeContext& c) {
            if (!expect_operands(c, "flatten", 1)) return;
            const Type& src = c.input(0);
            if (src.dims.empty()) {
                c.fail("flatten takes one tensor per sample, got a scalar");
                return;
            }
            std::int64_t row = 1;
            for (std::size_t i = 1; i < src.dims.size(); ++i)
                row = saturating_product({row, src.dims[i]});
            c.result(Type{src.dtype, {src.dims[0], row}, {}});
        })
        .gradient([](GradientContext& g) {
            if (!g.wants(0)) return;
            const Dims& dims = g.graph().type(g.input(0)).dims;
            // A row that is flattened again is the same row.
            g.set(0, dims.size() == 2
                         ? g.diff(0)
                         : g.emit("unflatten", {g.diff(0)}, {{"shape", dims}}, "diff_src")[0]);
        })
        .flops([](const auto&, const auto&, const Attributes&) { return std::int64_t{0}; })
        .view(View::row_major);
}

}  // namespace dtnn::compiler
