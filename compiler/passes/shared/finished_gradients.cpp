#include "compiler/passes/shared/finished_gradients.hpp"

#include <algorithm>

#include "compiler/ops/op.hpp"
#include "plan/rules/named_operators.hpp"

namespace dtnn::compiler {
namespace {

ValueId copy_of(Rewriter& r, const Gradient& gradient) {
    Node node;
    node.op = plan::kCopy;
    node.inputs = {gradient.value};
    node.attributes = plan::copy_attributes();
    node.phase = Phase::backward;
    node.layer = gradient.parameter.layer;
    node.place = gradient.parameter.place;
    return emit(r, std::move(node), gradient.parameter.name + ".own_gradient")[0];
}

/// A node of the update (a sum over batches) runs as soon as what it is given is there.
std::size_t place_of(const Graph& graph, ValueId value) {
    const Node* node = producer(graph, value);
    if (!node) return 0;
    if (node->phase != Phase::update) return graph.value(value).producer.index();
    std::size_t place = 0;
    for (const ValueId input : node->inputs)
        place = std::max(place, place_of(graph, input));
    return place;
}

}  // namespace

std::vector<FinishedGradient> in_places_of_their_own(Rewriter& r,
                                                     const std::vector<Gradient>& gradients,
                                                     const std::vector<GraphOutput>& outputs) {
    const Readers readers(r.graph());
    std::vector<bool> taken(r.graph().values.size());
    for (const GraphOutput& output : outputs)
        taken[output.value.index()] = true;
    for (const Update& update : r.old().updates)
        if (r.is_mapped(update.value)) taken[r.map(update.value).index()] = true;
    std::vector<FinishedGradient> finished;
    for (const Gradient& gradient : gradients) {
        const ValueId value = gradient.value;
        const Node* source = producer(r.graph(), value);
        const bool own = source && !taken[value.index()] && readers[value.index()].empty() &&
                         op(source->op).view == View::none;
        taken[value.index()] = true;
        finished.push_back({gradient, 0});
        if (!own) finished.back().gradient.value = copy_of(r, gradient);
        finished.back().place = place_of(r.graph(), finished.back().gradient.value);
    }
    std::stable_sort(
        finished.begin(), finished.end(),
        [](const FinishedGradient& a, const FinishedGradient& b) { return a.place < b.place; });
    return finished;
}

}  // namespace dtnn::compiler
