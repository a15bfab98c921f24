#include "compiler/passes/training/reduce_gradients.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "compiler/ops/op.hpp"
#include "compiler/passes/shared/finished_gradients.hpp"
#include "compiler/passes/shared/optimizer_graph.hpp"
#include "compiler/passes/training/differentiate.hpp"

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

std::vector<std::size_t> bucket_ends(std::span<const std::int64_t> bytes,
                                     std::int64_t bucket_bytes) {
    if (bytes.empty()) return {};
    const std::int64_t all = std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
    if (all <= bucket_bytes) return {bytes.size()};
    std::size_t last = bytes.size() - 1;  // where the last bucket begins
    std::int64_t in_last = bytes[last];
    while (last > 0 && in_last + bytes[last - 1] <= bucket_bytes / 4)
        in_last += bytes[--last];
    std::vector<std::size_t> ends;
    std::int64_t filled = 0;
    for (std::size_t i = 0; i < last; ++i) {
        if (filled > 0 && filled + bytes[i] > bucket_bytes) {
            ends.push_back(i);
            filled = 0;
        }
        filled += bytes[i];
    }
    if (last > 0) ends.push_back(last);
    ends.push_back(bytes.size());
    return ends;
}

std::optional<Graph> reduce_gradients(const Graph& graph, PassContext& context) {
    if (!context.parallel.data || context.accumulate || has_exchange(graph)) return std::nullopt;
    return Reducer(graph).run(context.parallel.bucket_bytes,
                              context.parallel.optimizer == plan::OptimizerState::sharded);
}

}  // namespace dtnn::compiler
