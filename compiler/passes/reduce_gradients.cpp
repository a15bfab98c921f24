#include "compiler/passes/reduce_gradients.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "compiler/ops/op.hpp"
#include "compiler/passes/differentiate.hpp"
#include "compiler/passes/optimizer_graph.hpp"

namespace dtnn::compiler {
namespace {

/// A gradient, and where among the nodes it is finished.
struct Finished {
    Gradient gradient;
    std::size_t place = 0;
};

class Reducer {
  public:
    explicit Reducer(const Graph& graph) : r_(graph) {
        for (const Node& node : graph.nodes)
            r_.copy(node);
    }

    std::optional<Graph> run(std::int64_t bucket_bytes) {
        const std::vector<Gradient> gradients = gradients_of(r_, outputs_);
        if (gradients.empty()) return std::nullopt;
        std::vector<Finished> finished = in_places_of_their_own(gradients);
        std::stable_sort(finished.begin(), finished.end(),
                         [](const Finished& a, const Finished& b) { return a.place < b.place; });
        std::vector<std::int64_t> bytes;
        for (const Finished& one : finished)
            bytes.push_back(r_.graph().type(one.gradient.value).bytes());
        std::size_t begin = 0;
        int number = 0;
        for (const std::size_t end : bucket_ends(bytes, bucket_bytes)) {
            exchange({finished.data() + begin, end - begin}, fmt::format("gradients_{}", ++number));
            begin = end;
        }
        Graph result = r_.take();
        result.outputs = std::move(outputs_);
        return result;
    }

  private:
    /// The gradients as values that may be overwritten.
    std::vector<Finished> in_places_of_their_own(const std::vector<Gradient>& gradients) {
        const Readers readers(r_.graph());
        std::vector<bool> taken(r_.graph().values.size());
        for (const GraphOutput& output : outputs_)
            taken[output.value.index()] = true;
        for (const Update& update : r_.old().updates)
            taken[r_.map(update.value).index()] = true;
        std::vector<Finished> finished;
        for (const Gradient& gradient : gradients) {
            const ValueId value = gradient.value;
            const Node* source = producer(r_.graph(), value);
            const bool own = source && !taken[value.index()] && readers[value.index()].empty() &&
                             !op(source->op).view && source->op != "reorder";
            taken[value.index()] = true;
            finished.push_back({gradient, 0});
            if (!own) finished.back().gradient.value = copy(gradient);
            finished.back().place = place_of(finished.back().gradient.value);
        }
        return finished;
    }

    ValueId copy(const Gradient& gradient) {
        Node node;
        node.op = "elementwise";
        node.inputs = {gradient.value};
        node.attributes = {{"expression", std::string("x0")}};
        node.phase = Phase::backward;
        node.layer = gradient.parameter.layer;
        node.place = gradient.parameter.place;
        return emit(r_, std::move(node), gradient.parameter.name + ".own_gradient")[0];
    }

    /// A node of the update (a sum over batches) runs as soon as what it is given is there.
    std::size_t place_of(ValueId value) {
        const Node* node = producer(r_.graph(), value);
        if (!node) return 0;
        if (node->phase != Phase::update) return r_.graph().value(value).producer.index();
        std::size_t place = 0;
        for (const ValueId input : node->inputs)
            place = std::max(place, place_of(input));
        return place;
    }

    void exchange(std::span<const Finished> bucket, const std::string& name) {
        Node start, wait;
        start.op = "all_reduce_start";
        wait.op = "all_reduce_wait";
        std::vector<Type> types;
        std::vector<std::string> sent, reduced;
        for (const Finished& one : bucket) {
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
                       [](const Node& node) { return op(node.op).exchange; });
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
    return Reducer(graph).run(context.parallel.bucket_bytes);
}

}  // namespace dtnn::compiler
