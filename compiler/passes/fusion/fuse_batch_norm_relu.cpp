#include "compiler/passes/fusion/fuse_batch_norm_relu.hpp"

#include <algorithm>

#include "compiler/passes/shared/batch_norm_patterns.hpp"
#include "compiler/passes/shared/rewriting.hpp"

namespace dtnn::compiler {
namespace {

/// The relu that the batch norm takes along, or null.
const Node* fused_relu(const Uses& uses, const Node& norm) {
    if (!is_plain_batch_norm(norm)) return nullptr;
    const Node* relu = uses.only_reader(norm.outputs[0]);
    return relu && is_relu(*relu) ? relu : nullptr;
}

/// The batch norm whose relu's backward the node is, when only that batch norm's backward reads it.
const Node* masks_for(const Graph& graph, const Uses& uses, const Node& node) {
    if (!is_relu_backward(node)) return nullptr;
    const Node* relu = producer(graph, node.inputs[1]);
    const Node* norm = relu && is_relu(*relu) ? producer(graph, relu->inputs[0]) : nullptr;
    if (!norm || fused_relu(uses, *norm) != relu) return nullptr;
    const Node* backward = uses.only_reader(node.outputs[0]);
    return backward && is_backward_of(*backward, *norm, node.outputs[0]) ? norm : nullptr;
}

}  // namespace

std::optional<Graph> fuse_batch_norm_relu(const Graph& graph, PassContext&) {
    const Uses uses(graph);
    if (std::none_of(graph.nodes.begin(), graph.nodes.end(),
                     [&](const Node& node) { return fused_relu(uses, node) != nullptr; }))
        return std::nullopt;
    Rewriter r(graph);
    for (const Node& node : graph.nodes) {
        if (r.is_mapped(node.outputs[0])) continue;  // a relu that its batch norm took along
        if (const Node* relu = fused_relu(uses, node)) {
            Node fused = r.mapped(node);
            fused.attributes["epilogue"] = std::string("relu");
            const auto results = emit(r, std::move(fused), graph.value(relu->outputs[0]).name);
            r.replace(relu->outputs[0], results[0]);
            for (std::size_t i = 1; i < results.size(); ++i)
                r.replace(node.outputs[i], results[i], true);
            continue;
        }
        if (masks_for(graph, uses, node)) continue;
        const Node* mask = node.op == kBackward ? producer(graph, node.inputs[1]) : nullptr;
        if (const Node* norm = mask ? masks_for(graph, uses, *mask) : nullptr) {
            Node backward = node;
            backward.inputs[1] = mask->inputs[0];
            backward.inputs.push_back(norm->inputs[2]);
            backward = r.mapped(backward);
            backward.attributes["epilogue"] = std::string("relu");
            const auto results = emit(r, std::move(backward), graph.value(node.outputs[0]).name);
            for (std::size_t i = 0; i < results.size(); ++i)
                r.replace(node.outputs[i], results[i], true);
            continue;
        }
        r.copy(node);
    }
    return r.take();
}

}  // namespace dtnn::compiler
