#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "compiler/ops/op.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/finished_gradients.hpp"
#include "compiler/passes/shared/optimizer_graph.hpp"

namespace dtnn::compiler {
namespace {

class Reducer {
  public:
    explicit Reducer(const Graph& graph) : r_(graph) {
        for (const Node& node : graph.nodes)
            r_.copy(node);
    }

    /// With a sharded optimizer gradients are exchanged by its own pass, and shares alone here.
    std::optional<Graph> run(std::int64_t bucket_bytes, bool sharded) {
        const std::vector<Gradient> gradients = gradients_of(r_, outputs_);
        const bool shares = exchange_shares();
        if (gradients.empty() || (sharded && !shares)) return std::nullopt;
        if (sharded) {
            for (const auto& [parameter, gradient] : gradients)
                outputs_.push_back({gradient_output(parameter.name), gradient});
        } else {
            exchange_all(gradients, bucket_bytes);
        }
        Graph result = r_.take();
        result.outputs = std::move(outputs_);
        return result;
    }

  private:
    void exchange_all(const std::vector<Gradient>& gradients, std::int64_t bucket_bytes) {
        const std::vector<FinishedGradient> finished =
            in_places_of_their_own(r_, gradients, outputs_);
        std::vector<std::int64_t> bytes;
        for (const FinishedGradient& one : finished)
            bytes.push_back(r_.graph().type(one.gradient.value).bytes());
        std::size_t begin = 0;
        int number = 0;
        for (const std::size_t end : bucket_ends(bytes, bucket_bytes)) {
            exchange({finished.data() + begin, end - begin}, fmt::format("gradients_{}", ++number));
            begin = end;
        }
    }

    /// An exchange of its own, which is over long before the gradients are; false: there are none.
    bool exchange_shares() {
        for (GraphOutput& output : outputs_) {
            if (output.name != kBatchShare) continue;
            output.value = all_reduced(r_, output.value, "label_shares");
            return true;
        }
        return false;
    }

    void exchange(std::span<const FinishedGradient> bucket, const std::string& name) {
        Node start, wait;
        start.op = plan::operator_of(plan::kAllReduceStart);
        wait.op = plan::operator_of(plan::kAllReduceWait);
        std::vector<Type> types;
        std::vector<std::string> sent, reduced;
        for (const FinishedGradient& one : bucket) {
            start.inputs.push_back(one.gradient.value);
            types.push_back(r_.graph().type(one.gradient.value));
            sent.push_back(one.gradient.parameter.name + ".sent");
            reduced.push_back(one.gradient.parameter.name + ".reduced");
        }
        start.attributes = wait.attributes = {{"collective", name}};
        start.phase = wait.phase = Phase::communication;
        const NodeId started = r_.add_node(std::move(start), types, sent.front(), sent);
        wait.inputs = r_.graph().node(started).outputs;
        const NodeId ended = r_.add_node(std::move(wait), types, reduced.front(), reduced);
        const ValueList results = r_.graph().node(ended).outputs;
        for (std::size_t i = 0; i < bucket.size(); ++i)
            outputs_.push_back({gradient_output(bucket[i].gradient.parameter.name), results[i]});
    }

    Rewriter r_;
    std::vector<GraphOutput> outputs_;
};

bool has_exchange(const Graph& graph) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                       [](const Node& node) { return op(node.op).exchange.has_value(); });
}

}  // namespace

/// With data parallelism, adds up the gradients of all ranks, bucket by bucket:
///
///     return "gradient of w"=%g, "gradient of b"=%h
/// ->  %g.sent, %h.sent = all_reduce_start(%g, %h) {collective=gradients_1}  ; communication
///     %w.reduced, %b.reduced = all_reduce_wait(%g.sent, %h.sent) {collective=gradients_1}
///     return "gradient of w"=%w.reduced, "gradient of b"=%b.reduced
///
/// Gradients are put into buckets in the order in which backward finishes them, the deepest layers'
/// first, so that most exchanges run beside the rest of the backward part. All operands of a start
/// become one stretch of memory, which is exchanged in place (lower/in_place.hpp); a gradient that
/// cannot be overwritten - of two parameters, read by another node, or a view - is copied first.
///
/// After accumulate_gradients: ranks exchange the gradient of an update. Before clip_gradients and
/// attach_update, which see the gradient of all ranks. Must not fire without data parallelism, nor
/// with a sharded optimizer (shard_optimizer), nor where gradients are only added up
/// (context.accumulate), nor twice.
std::optional<Graph> reduce_gradients(const Graph& graph, PassContext& context) {
    if (!context.parallel.data || context.accumulate || has_exchange(graph)) return std::nullopt;
    return Reducer(graph).run(context.parallel.bucket_bytes,
                              context.parallel.optimizer == plan::OptimizerState::sharded);
}

}  // namespace dtnn::compiler
