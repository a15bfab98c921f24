#include "compiler/ops/axis.hpp"
#include "compiler/ops/sequence/lengths.hpp"
#include "compiler/ops/sequence/sequence.hpp"

namespace dtnn::compiler {

OpBuilder one_step(const char* name, bool last) {
    OpBuilder builder(name);
    builder.family(Family::shape)
        .kernel_class(KernelClass::copies)
        .of_sequences()
        .shape([](ShapeContext& c) {
            const Type& src = c.input(0);
            c.result({src.dtype, {src.dims[0], src.dims[2]}, {}, usual_axes(1)});
        })
        .general_form([last](const Graph& graph, const Node& node) {
            const std::int64_t steps = graph.type(node.inputs[0]).dims[1];
            const std::int64_t step = last ? steps - 1 : 0;
            std::vector<Node> nodes = becomes(node, "slice", {{"begin", step}, {"end", step + 1}});
            write_axis(nodes[0].attributes, 1);
            nodes.push_back(becomes(node, "flatten", {})[0]);
            return nodes;
        })
        .with_lengths([last](LengthsContext& c) {
            // A sample's last step is the first of them in the order round.
            const ValueId steps = last ? masked(c, c.input(0), StepMask::reversed) : c.input(0);
            c.set(c.emit("first_step", {steps}, {}, "dst")[0], false);
        })
        .no_gradient("abstract: canonicalize makes it slice and flatten before differentiation")
        .flops([](const auto&, const auto&, const Attributes&) { return std::int64_t{0}; });
    return builder;
}

}  // namespace dtnn::compiler
