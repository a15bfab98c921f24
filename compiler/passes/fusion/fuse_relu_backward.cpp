#include "compiler/passes/fusion/fuse_relu_backward.hpp"

#include <algorithm>

#include "compiler/ops/define.hpp"
#include "compiler/passes/shared/rewriting.hpp"

namespace dtnn::compiler {
namespace {

constexpr const char* kPoolBackward = "max_pool2d_backward";

/// The value by which the backward node can mask its own result instead of relu's backward doing
/// it; invalid when it cannot.
ValueId mask_operand(const Graph& graph, const Node& backward, const Node& relu_backward) {
    if (!op(backward.op).takes_mask || flag(backward.attributes, "mask")) return {};
    const ValueId y = relu_backward.inputs[1];
    // The backward of a pool masks by the pool's result, the largest cell of each window, and the
    // indices that it reads are the pool's second result.
    if (backward.op != kPoolBackward) return y;
    const Node* pool = producer(graph, backward.inputs[1]);
    const bool own = pool && pool->inputs[0] == y;
    return own ? pool->outputs[0] : ValueId();
}

/// The relu's backward that the node takes along, or null.
const Node* taken_along(const Graph& graph, const Uses& uses, const Node& backward) {
    const Node* reader = uses.only_reader(backward.outputs[0]);
    const bool fits =
        reader && is_relu_backward(*reader) && reader->inputs[0] == backward.outputs[0] &&
        reader->inputs[1] != backward.outputs[0] && mask_operand(graph, backward, *reader).valid();
    return fits ? reader : nullptr;
}

}  // namespace

std::optional<Graph> fuse_relu_backward(const Graph& graph, PassContext&) {
    const Uses uses(graph);
    if (std::none_of(graph.nodes.begin(), graph.nodes.end(),
                     [&](const Node& node) { return taken_along(graph, uses, node) != nullptr; }))
        return std::nullopt;
    Rewriter r(graph);
    for (const Node& node : graph.nodes) {
        if (taken_along(graph, uses, node)) continue;
        const Node* before = is_relu_backward(node) ? producer(graph, node.inputs[0]) : nullptr;
        if (!before || taken_along(graph, uses, *before) != &node) {
            r.copy(node);
            continue;
        }
        Node fused = r.mapped(*before);
        fused.inputs.push_back(r.map(mask_operand(graph, *before, node)));
        fused.attributes["mask"] = true;
        r.replace(node.outputs[0], emit(r, std::move(fused), graph.value(node.outputs[0]).name)[0]);
    }
    return r.take();
}

}  // namespace dtnn::compiler
