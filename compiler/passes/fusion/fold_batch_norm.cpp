#include <algorithm>

#include "compiler/ops/define.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/batch_norm_operators.hpp"
#include "compiler/passes/shared/rewriting.hpp"

namespace dtnn::compiler {
namespace {

/// The batch norm that the convolution takes along, or null.
const Node* folded_into(const Uses& uses, const Node& conv) {
    if (conv.op != kConvolution || has_epilogue(conv) || flag(conv.attributes, "statistics"))
        return nullptr;
    const Node* norm = uses.only_reader(conv.outputs[0]);
    const bool fits = norm && norm->op == kInference && !has_epilogue(*norm) &&
                      norm->inputs[0] == conv.outputs[0];
    return fits ? norm : nullptr;
}

}  // namespace

/// Moves an inference batch norm into the weights of the convolution before it.
///
///     %c = conv2d(%x, @w)                       ->  %w2, %b2 = fold_batch_norm(@w, @g, @b, @m, @v)
///     %y = batch_norm_inference(%c, @g, @b, @m, @v)   %y = conv2d(%x, %w2, %b2) {bias=true}
///
/// The fold depends on parameters only, so hoist_invariant moves it before the first batch.
/// After specialise_phase, before the fusions that give either node an epilogue. Must not fire when
/// the convolution has another reader or an epilogue, nor when the batch norm has one.
std::optional<Graph> fold_batch_norm(const Graph& graph, PassContext&) {
    const Uses uses(graph);
    if (std::none_of(graph.nodes.begin(), graph.nodes.end(),
                     [&](const Node& node) { return folded_into(uses, node) != nullptr; }))
        return std::nullopt;
    Rewriter r(graph);
    for (const Node& node : graph.nodes) {
        if (folded_into(uses, node)) continue;
        const Node* conv = node.op == kInference ? producer(graph, node.inputs[0]) : nullptr;
        if (!conv || folded_into(uses, *conv) != &node) {
            r.copy(node);
            continue;
        }
        const std::string& name = graph.value(node.outputs[0]).name;
        Node fold = node;
        fold.op = "fold_batch_norm";
        fold.inputs[0] = conv->inputs[1];
        if (flag(conv->attributes, "bias")) fold.inputs.push_back(conv->inputs[2]);
        fold = r.mapped(fold);
        fold.attributes = pick(node.attributes, {"epsilon"});
        fold.attributes["bias"] = flag(conv->attributes, "bias");
        const auto folded = emit(r, std::move(fold), name + ".weights", name);

        Node merged = r.mapped(*conv);
        merged.inputs = {r.map(conv->inputs[0]), folded[0], folded[1]};
        merged.attributes["bias"] = true;
        r.replace(node.outputs[0], emit(r, std::move(merged), name)[0]);
    }
    return r.take();
}

}  // namespace dtnn::compiler
