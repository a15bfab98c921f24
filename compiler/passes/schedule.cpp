#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>

#include "compiler/ops/define.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/rewriting.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {
namespace {

/// Keys leave room around each node's own place, 4 * index + 2.
using Key = std::int64_t;
constexpr Key kAtOnce = -1;

class Scheduler {
  public:
    Scheduler(const Graph& graph, bool overlaps)
        : graph_(graph),
          overlaps_(overlaps),
          readers_(graph.readers()),
          followers_(graph.nodes.size()),
          waits_for_(graph.nodes.size()) {
        add_edges();
    }

    std::optional<Graph> run() {
        using Entry = std::pair<Key, std::size_t>;
        std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
        for (std::size_t n = 0; n < graph_.nodes.size(); ++n)
            if (waits_for_[n] == 0) ready.emplace(key(n), n);
        std::vector<std::size_t> order;
        order.reserve(graph_.nodes.size());
        while (!ready.empty()) {
            const std::size_t n = ready.top().second;
            ready.pop();
            order.push_back(n);
            for (const std::size_t next : followers_[n])
                if (--waits_for_[next] == 0) ready.emplace(key(next), next);
        }
        DTNN_CHECK(order.size() == graph_.nodes.size(),
                   "{} of {} nodes wait for each other: a state is read after it is overwritten",
                   graph_.nodes.size() - order.size(), graph_.nodes.size());
        if (std::is_sorted(order.begin(), order.end())) return std::nullopt;
        Rewriter r(graph_);
        for (const std::size_t n : order)
            r.copy(graph_.nodes[n]);
        return r.take();
    }

  private:
    void edge(std::size_t from, std::size_t to) {
        if (from == to) return;
        followers_[from].push_back(to);
        ++waits_for_[to];
    }

    void add_edges() {
        for (std::size_t n = 0; n < graph_.nodes.size(); ++n)
            for (const ValueId input : graph_.nodes[n].inputs)
                if (graph_.value(input).kind == ValueKind::result)
                    edge(graph_.value(input).producer.index(), n);
        for (const Update& update : graph_.updates) {
            if (graph_.value(update.value).kind != ValueKind::result) continue;
            for (const NodeId reader : readers_[update.state.index()])
                edge(reader.index(), graph_.value(update.value).producer.index());
        }
        add_edges_of_parts();
        add_edges_of_exchanges();
    }

    /// Nodes that overwrite a rank's own part of parameters do it behind all who read them, but for
    /// the exchange that makes them whole again.
    void add_edges_of_parts() {
        for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
            const Node& part = graph_.nodes[n];
            if (!op(part.op).own_part) continue;
            for (const NodeId update : readers_[part.outputs[0].index()])
                for (const ValueId parameter : part.inputs)
                    for (const NodeId reader : readers_[parameter.index()])
                        if (op(graph_.node(reader).op).exchange != plan::kAllGatherWait)
                            edge(reader.index(), update.index());
        }
    }

    /// All ranks begin and end exchanges in one order, and an exchange overwrites what it is given.
    /// Those of batch statistics, whose sums are there before the gradients' nodes or between them,
    /// have an order of their own: none of them holds up a gradient that is ready before.
    void add_edges_of_exchanges() {
        // The update before of the same operator, of gradients and of statistics.
        std::unordered_map<Symbol, std::size_t> before[2];
        for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
            const Node& node = graph_.nodes[n];
            if (!op(node.op).exchange) continue;
            exchanges_ = true;
            if (is_start(node) && flag(node.attributes, "statistics"))
                starts_of_statistics_.push_back(n);
            auto& last_of = before[flag(node.attributes, "statistics") ? 1 : 0];
            if (const auto last = last_of.find(node.op); last != last_of.end())
                edge(last->second, n);
            last_of[node.op] = n;
            for (const ValueId input : node.inputs)
                for (const NodeId reader : readers_[input.index()])
                    edge(reader.index(), n);
        }
    }

    static bool is_start(const Node& node) { return op(node.op).exchange->end == plan::End::start; }

    /// Behind every place, in the order of the nodes.
    Key at_end(std::size_t n) const {
        return 4 * static_cast<Key>(graph_.nodes.size()) + 4 + static_cast<Key>(n);
    }

    Key key(std::size_t n) const {
        const Key own = 4 * static_cast<Key>(n) + 2;
        // Prologue nodes have the smallest places of all and keep them.
        if (int(n) < graph_.prologue) return own;
        const Node& node = graph_.nodes[n];
        if (node.phase == Phase::update) return kAtOnce;
        if (op(node.op).exchange) return overlaps_ && is_start(node) ? kAtOnce : at_end(n);
        if (overlaps_ && feeds_updates_only(node)) {
            // The layer in front waits for its statistics: this is what can run meanwhile.
            const auto next =
                std::upper_bound(starts_of_statistics_.begin(), starts_of_statistics_.end(), n);
            if (next != starts_of_statistics_.end()) return 4 * static_cast<Key>(*next) + 3;
        }
        // An exchanged gradient is waited for: one that is moved for memory holds up its bucket.
        if (exchanges_ || !only_updates_read(node)) return own;
        return key_of_gradient(n, own);
    }

    /// A gradient of parameters: nothing of the backward part waits for it.
    bool only_updates_read(const Node& node) const {
        if (node.phase != Phase::backward) return false;
        for (const ValueId output : node.outputs)
            for (const NodeId reader : readers_[output.index()])
                if (graph_.node(reader).phase != Phase::update) return false;
        return true;
    }

    /// Likewise where updates read it through an exchange.
    bool feeds_updates_only(const Node& node) const {
        if (node.phase != Phase::backward || starts_of_statistics_.empty()) return false;
        bool read = false;
        for (const ValueId output : node.outputs) {
            for (const NodeId id : readers_[output.index()]) {
                const Node& reader = graph_.node(id);
                const bool of_gradients =
                    op(reader.op).exchange && !flag(reader.attributes, "statistics");
                if (reader.phase != Phase::update && !of_gradients) return false;
                read = true;
            }
        }
        return read;
    }

    Key key_of_gradient(std::size_t n, Key own) const {
        const Node& node = graph_.nodes[n];
        std::size_t first = graph_.nodes.size(), last = 0;
        for (const ValueId input : node.inputs) {
            const Node* source = producer(graph_, input);
            if (!source || source->phase != Phase::backward) continue;
            for (const NodeId reader : readers_[input.index()]) {
                const Node& sibling = graph_.node(reader);
                if (sibling.phase != Phase::backward || only_updates_read(sibling)) continue;
                first = std::min(first, reader.index());
                last = std::max(last, reader.index());
            }
        }
        if (first > last) return own;
        std::int64_t balance = 0;
        for (const ValueId output : node.outputs)
            balance -= graph_.type(output).bytes();
        for (const ValueId input : node.inputs)
            if (dies_before(input, n, std::min(first, n))) balance += graph_.type(input).bytes();
        const Key before = 4 * static_cast<Key>(first) + 1, after = 4 * static_cast<Key>(last) + 3;
        return balance >= 0 ? std::min(own, before) : std::max(own, after);
    }

    /// Whether node n is the value's last reader when it runs at place `place`.
    bool dies_before(ValueId value, std::size_t n, std::size_t place) const {
        if (graph_.value(value).kind != ValueKind::result) return false;
        for (const NodeId reader : readers_[value.index()])
            if (reader.index() != n && reader.index() >= place) return false;
        return true;
    }

    const Graph& graph_;
    const bool overlaps_;  ///< exchanges and the backward part
    bool exchanges_ = false;
    std::vector<std::size_t> starts_of_statistics_;  ///< nodes, in order
    const Readers readers_;
    std::vector<std::vector<std::size_t>> followers_;
    std::vector<int> waits_for_;
};

}  // namespace

/// Orders the nodes. The result is the order in which a program runs.
///
///     %g = dense_backward_weights(%x, %d)       %g = dense_backward_weights(%x, %d)
///     %e = dense_backward_data(%d, @w)      ->  %e = dense_backward_data(%d, @w)
///     ...                                       %n = sgd_update(@w, %g, %learning_rate)
///     %n = sgd_update(@w, %g, %learning_rate)   ...
///
/// List scheduling by one key per node, O(edges log nodes), deterministic:
/// - an update runs as soon as its gradient is there and every other reader of what it overwrites
///   has run, so a gradient lives for a moment only;
/// - a gradient of weights runs before the gradient of data beside it when it frees at least as
/// many
///   bytes (the kept activation) as it writes, and after it otherwise;
/// - an exchange between ranks starts as soon as the last of its gradients is there, and is waited
///   for behind the whole backward part, one after the other in the order of the starts; what reads
///   it runs between two waits, while later exchanges go on. With `parallel: {reduction: blocking}`
///   it starts behind the backward part too, and is waited for at once. Gradients of weights then
///   keep their place, because one that is moved for memory holds up its exchange. Both are
///   followed by all ranks alike, because starts and waits keep their order;
/// - exchanges of batch statistics keep an order of their own, as layers wait for them: a gradient
///   of weights runs behind the next start of one, and hides it;
/// - everything else keeps its order: forward as written, backward in reverse.
///
/// The prologue stays as it is. Nothing may move nodes afterwards. Required even where the
/// order stays, because it puts every reader of a state before the node that overwrites it.
std::optional<Graph> schedule(const Graph& graph, PassContext& context) {
    return Scheduler(graph, context.parallel.reduction != plan::ReductionMode::blocking).run();
}

}  // namespace dtnn::compiler
