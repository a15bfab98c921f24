#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "compiler/ops/exchange/exchange.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/finished_gradients.hpp"
#include "compiler/passes/shared/optimizer_graph.hpp"
#include "compiler/support/check.hpp"
#include "plan/rules/named_operators.hpp"

namespace dtnn::compiler {
namespace {

/// An update of weights in the old graph.
struct WeightsUpdate {
    const Node* node = nullptr;
    Parameter weights;
};

/// The places of the operands that every update has, and where its own begin.
constexpr std::size_t kWeights = 0, kGradient = 1, kOthers = 2;

struct Bucket {
    int number = 0;
    std::vector<std::size_t> members;  ///< updates, in the order in which their gradients come
    std::size_t ready = 0;             ///< when the last of them is there
    std::int64_t part = 0;             ///< elements
    ValueId gradient;                  ///< the own part of the sums

    std::string exchange() const { return fmt::format("gradients_{}", number); }
    std::string stretch() const { return fmt::format("weights_{}", number); }
};

class Sharder {
  public:
    Sharder(const Graph& graph, const PassContext& context)
        : graph_(graph), context_(context), updates_(updates_of(graph)) {}

    std::optional<Graph> run() {
        if (updates_.empty()) return std::nullopt;
        Rewriter r(graph_, replaced_states());
        const std::vector<const Node*> later = copy_independent(r);
        collect(r);
        for (Bucket& bucket : buckets_)
            reduce(r, bucket);
        const ValueId scale = norm_scale(r);
        for (const Bucket& bucket : buckets_)
            update(r, bucket, scale);
        for (const Node* node : later)
            r.copy(*node);
        Graph result = r.take();
        result.updates.insert(result.updates.end(), state_updates_.begin(), state_updates_.end());
        return result;
    }

  private:
    static std::vector<WeightsUpdate> updates_of(const Graph& graph) {
        std::vector<WeightsUpdate> found;
        for (const Update& update : graph.updates) {
            if (graph.value(update.state).kind != ValueKind::parameter) continue;
            const Parameter& state = graph.parameter(graph.value(update.state).parameter);
            const Node* node = producer(graph, update.value);
            if (state.trainable && node && node->phase == Phase::update &&
                node->inputs[kWeights] == update.state)
                found.push_back({node, state});
        }
        return found;
    }

    const Parameter* state_of(ValueId operand) const {
        const Value& value = graph_.value(operand);
        if (value.kind != ValueKind::parameter) return nullptr;
        const Parameter& parameter = graph_.parameter(value.parameter);
        return parameter.optimizer_state ? &parameter : nullptr;
    }

    std::vector<bool> replaced_states() const {
        std::vector<bool> replaced(graph_.parameters.size());
        for (const WeightsUpdate& update : updates_)
            for (const ValueId operand : update.node->inputs)
                if (state_of(operand)) replaced[graph_.value(operand).parameter.index()] = true;
        return replaced;
    }

    /// Copies everything but the updates, what works out the norm of all gradients, and what reads
    /// the new weights; gives the last.
    std::vector<const Node*> copy_independent(Rewriter& r) const {
        std::vector<bool> waits(graph_.values.size());
        std::vector<bool> is_update(graph_.nodes.size());
        for (const WeightsUpdate& update : updates_)
            is_update[graph_.value(update.node->outputs[0]).producer.index()] = true;
        std::vector<const Node*> later;
        for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
            const Node& node = graph_.nodes[n];
            if (node.op == plan::kSquareSum) continue;
            if (node.op == kGradientScale) {
                // The other reader of it, the scale of the loss, comes behind the new one.
                waits[node.outputs[0].index()] = true;
                continue;
            }
            const bool reads =
                std::any_of(node.inputs.begin(), node.inputs.end(),
                            [&](const ValueId input) { return waits[input.index()]; });
            if (!is_update[n] && !reads) {
                r.copy(node);
                continue;
            }
            for (const ValueId output : node.outputs)
                waits[output.index()] = true;
            if (!is_update[n]) later.push_back(&node);
        }
        return later;
    }

    /// The operands behind the gradient, states apart: updates of one bucket share them.
    std::vector<ValueId> shared_operands(const Node& node) const {
        std::vector<ValueId> shared;
        for (std::size_t i = kOthers; i < node.inputs.size(); ++i)
            if (!state_of(node.inputs[i])) shared.push_back(node.inputs[i]);
        return shared;
    }

    bool alike(const Node& a, const Node& b) const {
        return a.op == b.op && a.attributes == b.attributes && a.inputs.size() == b.inputs.size() &&
               graph_.type(a.inputs[kWeights]).dtype == graph_.type(b.inputs[kWeights]).dtype &&
               shared_operands(a) == shared_operands(b);
    }

    void collect(Rewriter& r) {
        std::vector<Gradient> gradients;
        std::unordered_map<std::string, std::size_t> update_of;
        for (std::size_t u = 0; u < updates_.size(); ++u) {
            const Node& node = *updates_[u].node;
            const Type &weights = graph_.type(node.inputs[kWeights]),
                       &gradient = graph_.type(node.inputs[kGradient]);
            DTNN_CHECK(weights.order == gradient.order, "`{}` and its gradient are stored in {}",
                       updates_[u].weights.name, "two orders");
            gradients.push_back({updates_[u].weights, r.map(node.inputs[kGradient])});
            update_of[updates_[u].weights.name] = u;
        }
        std::vector<GraphOutput> outputs;
        for (const GraphOutput& output : graph_.outputs)
            if (r.is_mapped(output.value)) outputs.push_back({output.name, r.map(output.value)});
        sent_.resize(updates_.size());
        std::vector<std::vector<FinishedGradient>> kinds;  // alike, by place
        for (const FinishedGradient& one : in_places_of_their_own(r, gradients, outputs)) {
            const std::size_t u = update_of.at(one.gradient.parameter.name);
            sent_[u] = one.gradient.value;
            auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const auto& list) {
                return alike(*updates_[update_of.at(list.front().gradient.parameter.name)].node,
                             *updates_[u].node);
            });
            if (kind == kinds.end()) kind = kinds.emplace(kinds.end());
            kind->push_back(one);
        }
        for (const std::vector<FinishedGradient>& kind : kinds) {
            std::vector<std::int64_t> bytes;
            for (const FinishedGradient& one : kind)
                bytes.push_back(r.graph().type(one.gradient.value).bytes());
            std::size_t begin = 0;
            for (const std::size_t end : bucket_ends(bytes, context_.parallel.bucket_bytes)) {
                Bucket& bucket = buckets_.emplace_back();
                std::int64_t stretch = 0;
                for (; begin < end; ++begin) {
                    bucket.members.push_back(update_of.at(kind[begin].gradient.parameter.name));
                    bucket.ready = kind[begin].place;
                    stretch += aligned(bytes[begin]);
                }
                const DType dtype = r.graph().type(kind[begin - 1].gradient.value).dtype;
                bucket.part =
                    aligned((stretch + context_.ranks - 1) / context_.ranks) / size_of(dtype);
            }
        }
        std::stable_sort(buckets_.begin(), buckets_.end(),
                         [](const Bucket& a, const Bucket& b) { return a.ready < b.ready; });
        for (std::size_t i = 0; i < buckets_.size(); ++i)
            buckets_[i].number = int(i) + 1;
    }

    static std::int64_t aligned(std::int64_t bytes) {
        return (bytes + plan::kAlignment - 1) / plan::kAlignment * plan::kAlignment;
    }

    void reduce(Rewriter& r, Bucket& bucket) {
        Node start, wait;
        start.op = plan::operator_of(plan::kReduceScatterStart);
        wait.op = plan::operator_of(plan::kReduceScatterWait);
        start.phase = wait.phase = Phase::communication;
        start.attributes = {{"collective", bucket.exchange()}};
        wait.attributes = {{"collective", bucket.exchange()}, {"part", bucket.part}};
        std::vector<Type> types;
        std::vector<std::string> names;
        for (const std::size_t u : bucket.members) {
            start.inputs.push_back(sent_[u]);
            types.push_back(r.graph().type(sent_[u]));
            names.push_back(updates_[u].weights.name + ".sent");
        }
        const NodeId started = r.add_node(std::move(start), types, names.front(), names);
        wait.inputs = r.graph().node(started).outputs;
        bucket.gradient = emit(r, std::move(wait), bucket.exchange() + ".part")[0];
    }

    /// The factor of all gradients, from the norm of those of all ranks; invalid: none.
    ValueId norm_scale(Rewriter& r) const {
        const auto scale = std::find_if(graph_.nodes.begin(), graph_.nodes.end(),
                                        [](const Node& n) { return n.op == kGradientScale; });
        if (scale == graph_.nodes.end()) return {};
        Node result = *scale;
        result.outputs = {};
        result.inputs = {};
        const bool shared = flag(scale->attributes, "shared"),
                   scaled = flag(scale->attributes, "loss_scaled");
        if (scale->attributes.contains("clip_norm") || scaled)
            result.inputs = reduced_square_sums(r);
        const std::size_t numbers = (shared ? 1 : 0) + (scaled ? 1 : 0);
        for (std::size_t i = scale->inputs.size() - numbers; i < scale->inputs.size(); ++i)
            result.inputs.push_back(r.map(scale->inputs[i]));
        const ValueId factor = emit(r, std::move(result), kGradientScale)[0];
        r.replace(scale->outputs[0], factor);
        return factor;
    }

    /// The square sums of the gradients' parts, over all ranks.
    ValueList reduced_square_sums(Rewriter& r) const {
        Node start, wait;
        start.op = plan::operator_of(plan::kAllReduceStart);
        wait.op = plan::operator_of(plan::kAllReduceWait);
        start.phase = wait.phase = Phase::communication;
        start.attributes = wait.attributes = {{"collective", std::string(plan::kNormExchange)}};
        for (const Bucket& bucket : buckets_) {
            Node sum;
            sum.op = plan::kSquareSum;
            sum.inputs = {bucket.gradient};
            sum.phase = Phase::update;
            start.inputs.push_back(
                emit(r, std::move(sum), bucket.exchange() + ".part_square_sum")[0]);
        }
        wait.inputs = emit(r, std::move(start), "square_sums.sent", "square_sums.sent");
        return emit(r, std::move(wait), "square_sums.reduced", "square_sums.reduced");
    }

    void update(Rewriter& r, const Bucket& bucket, ValueId scale) {
        const Node& like = *updates_[bucket.members.front()].node;
        const Parameter& first = updates_[bucket.members.front()].weights;
        Node own;
        own.op = kOwnPart;
        own.phase = Phase::update;
        own.attributes = {{"collective", bucket.stretch()}, {"part", bucket.part}};
        for (const std::size_t u : bucket.members)
            own.inputs.push_back(r.map(updates_[u].weights.value));
        const ValueList parameters = own.inputs;

        Node node;
        node.op = like.op;
        node.attributes = like.attributes;
        node.phase = Phase::update;
        node.place = like.place;
        node.inputs = {emit(r, std::move(own), bucket.stretch() + ".part")[0], bucket.gradient};
        std::vector<ValueId> states;
        for (std::size_t i = kOthers; i < like.inputs.size(); ++i) {
            const Node* source = producer(graph_, like.inputs[i]);
            if (const Parameter* state = state_of(like.inputs[i])) {
                states.push_back(add_state(r, bucket, *state, first));
                node.inputs.push_back(states.back());
            } else if (source && source->op == kGradientScale) {
                node.inputs.push_back(scale);
            } else {
                node.inputs.push_back(r.map(like.inputs[i]));
            }
        }
        const ValueList results =
            emit(r, std::move(node), bucket.stretch() + ".part.new", bucket.stretch() + ".new");
        for (std::size_t i = 0; i < states.size(); ++i)
            state_updates_.push_back({states[i], results[i + 1]});
        gather(r, bucket, results[0], parameters);
    }

    /// A state that is one number is the same on all ranks, because it follows from the count of
    /// updates; one of as many numbers as the weights has a part on each.
    ValueId add_state(Rewriter& r, const Bucket& bucket, const Parameter& like,
                      const Parameter& first) {
        Parameter state = like;
        state.name = fmt::format("{}.{}", bucket.stretch(), like.role.str());
        state.by_rank = !like.single;
        state.dims = {like.single ? 1 : bucket.part};
        state.layer = {};
        state.place = first.place;
        return r.add_parameter(state, {graph_.type(like.value).dtype, state.dims, {}});
    }

    void gather(Rewriter& r, const Bucket& bucket, ValueId part, const ValueList& parameters) {
        Node start, wait;
        start.op = plan::operator_of(plan::kAllGatherStart);
        wait.op = plan::operator_of(plan::kAllGatherWait);
        start.phase = wait.phase = Phase::communication;
        start.attributes = wait.attributes = {{"collective", bucket.stretch()}};
        start.inputs = {part};
        wait.inputs = {emit(r, std::move(start), bucket.stretch() + ".sent")[0]};
        std::vector<Type> types;
        std::vector<std::string> names;
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            wait.inputs.push_back(parameters[i]);
            types.push_back(r.graph().type(parameters[i]));
            names.push_back(updates_[bucket.members[i]].weights.name + ".new");
        }
        const NodeId ended = r.add_node(std::move(wait), types, names.front(), names);
        const ValueList results = r.graph().node(ended).outputs;
        for (std::size_t i = 0; i < results.size(); ++i)
            r.replace(updates_[bucket.members[i]].node->outputs[kWeights], results[i]);
    }

    const Graph& graph_;
    const PassContext& context_;
    const std::vector<WeightsUpdate> updates_;
    std::vector<ValueId> sent_;  ///< by update: its gradient, in a place of its own
    std::vector<Bucket> buckets_;
    std::vector<Update> state_updates_;
};

bool is_sharded(const Graph& graph) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                       [](const Node& node) { return op(node.op).own_part; });
}

}  // namespace

/// With `parallel: {optimizer: sharded}`, makes of the updates of one rank those of all ranks, each
/// of which updates its own part of the weights with its own part of the optimizer's state:
///
///     %a.new, %u = sgd_update(@a, %ga, %learning_rate, @a.velocity)
///     %b.new, %v = sgd_update(@b, %gb, %learning_rate, @b.velocity)
///     update @a = %a.new ... update @b.velocity = %v
/// ->  %a.sent, %b.sent = reduce_scatter_start(%ga, %gb) {collective=gradients_1}
///     %g = reduce_scatter_wait(%a.sent, %b.sent) {collective=gradients_1, part=64}
///     %w = own_part(@a, @b) {collective=weights_1, part=64}
///     %n, %u = sgd_update(%w, %g, %learning_rate, @weights_1.velocity)
///     %s = all_gather_start(%n) {collective=weights_1}
///     %a.new, %b.new = all_gather_wait(%s, @a, @b) {collective=weights_1}
///     update @a = %a.new, update @b = %b.new, update @weights_1.velocity = %u
///
/// A bucket has parameters whose updates are the same operator with the same attributes, in the
/// order in which backward finishes their gradients (reduce_gradients.hpp has their sizes), so that
/// one update over flat memory does what one of each did. Its gradients become one stretch of
/// memory, its parameters another with the same offsets: the members one after the other, each at a
/// multiple of plan::kAlignment, then up to as many equal parts as there are ranks.
///
/// With clip_norm the squares of the own parts are added up over the ranks. The average of the
/// weights (average_weights) is taken of all of them, behind the all_gather.
///
/// After layout, because a part knows nothing of orders: a gradient and its parameter are stored
/// alike, element by element. Before schedule. Must not fire where the optimizer is replicated, nor
/// where gradients are only added up (context.accumulate). The front end refuses optimizers that
/// need norms of whole tensors.
std::optional<Graph> shard_optimizer(const Graph& graph, PassContext& context) {
    if (!context.parallel.data || context.parallel.optimizer != plan::OptimizerState::sharded ||
        context.accumulate || is_sharded(graph))
        return std::nullopt;
    return Sharder(graph, context).run();
}

}  // namespace dtnn::compiler
