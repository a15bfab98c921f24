#include <algorithm>
#include <limits>

#include "compiler/ops/define.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/rewriting.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {
namespace {

constexpr int kNever = std::numeric_limits<int>::max();
/// The operands of a repeated node that are this small beside the largest value of the graph are
/// kept for it.
constexpr std::int64_t kSmallShare = 4096;

bool is_behind(const Node& node) {
    return node.phase != Phase::forward && node.phase != Phase::metric;
}

class Recomputer {
  public:
    Recomputer(const Graph& graph, const PassContext& context)
        : graph_(graph),
          wanted_(context.live_bytes),
          flops_per_byte_(context.flops_per_byte),
          end_(int(graph.nodes.size())),
          readers_(graph.readers()),
          storage_(graph.values.size()),
          leaves_(graph.values.size()),
          moved_by_(graph.values.size(), -1),
          next_(graph.values.size()),
          behind_(graph.values.size()),
          kept_(graph.values.size()),
          refused_(graph.values.size()),
          dropped_(graph.values.size()),
          repeated_(graph.nodes.size()),
          place_(graph.nodes.size(), kNever) {
        describe();
    }

    std::optional<Graph> run() {
        Peak peak = simulate();
        while (peak.bytes > wanted_) {
            const std::optional<Peak> lower = drop_one(peak);
            if (!lower) break;
            peak = *lower;
        }
        if (std::find(repeated_.begin(), repeated_.end(), true) == repeated_.end())
            return std::nullopt;
        return rewrite();
    }

  private:
    struct Peak {
        std::int64_t bytes = 0;
        int at = 0;      ///< the last such node
        int length = 0;  ///< nodes at which so much is alive
    };
    struct Candidate {
        double cost;  ///< seconds, in bytes of memory's traffic, for each byte
        ValueId value;
    };

    void describe() {
        for (std::size_t v = 0; v < graph_.values.size(); ++v) {
            const ValueId id(v);
            storage_[v] = id;
            // A view stands for what it shows.
            if (const Node* node = producer(graph_, id);
                node && op(node->op).view != View::none && !node->inputs.empty())
                storage_[v] = storage_[node->inputs[0].index()];
            if (graph_.value(id).kind == ValueKind::result)
                largest_ = std::max(largest_, graph_.type(id).bytes());
        }
        for (const GraphOutput& output : graph_.outputs)
            leaves_[output.value.index()] = true;
        for (const Update& update : graph_.updates) {
            leaves_[update.value.index()] = true;
            if (graph_.value(update.value).kind != ValueKind::result) continue;
            moved_by_[update.state.index()] = int(graph_.value(update.value).producer.index());
            next_[update.state.index()] = update.value;
        }
        for (std::size_t v = 0; v < graph_.values.size(); ++v) {
            const ValueId id(v);
            behind_[v] = first_behind(id);
            const Node* node = producer(graph_, id);
            kept_[v] = behind_[v] != kNever || leaves_[v] ||
                       bytes_of(id) <= largest_ / kSmallShare || !node || !repeats(*node);
        }
    }

    std::int64_t bytes_of(ValueId value) const { return graph_.type(value).bytes(); }

    int first_behind(ValueId value) const {
        for (const NodeId reader : readers_[value.index()])
            if (is_behind(graph_.node(reader))) return int(reader.index());
        return kNever;
    }

    /// Whether the node can run twice, with the same results and no further effect.
    bool repeats(const Node& node) const {
        if (node.phase != Phase::forward || op(node.op).exchange) return false;
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            if (!leaves_[node.outputs[i].index()]) continue;
            const bool moves =
                std::any_of(op(node.op).moves.begin(), op(node.op).moves.end(),
                            [&](const OpDef::Move& move) { return move.output == int(i); });
            if (!moves) return false;
        }
        return true;
    }

    /// Marks what must run again for `value`, the nodes that are new to `fresh`; whether it can.
    bool repeat(ValueId value, std::vector<std::size_t>& fresh) {
        const Value& v = graph_.value(value);
        const std::size_t n = v.producer.index();
        if (repeated_[n]) return true;
        const Node& node = graph_.nodes[n];
        if (!repeats(node)) return false;
        repeated_[n] = true;
        fresh.push_back(n);
        for (const ValueId input : node.inputs) {
            if (graph_.value(input).kind != ValueKind::result) continue;
            if (!dropped_[input.index()] && kept_[input.index()]) continue;
            if (!repeat(input, fresh)) return false;
        }
        return true;
    }

    /// In front of which node each repeated one runs; whether what they read is still there.
    bool find_places() {
        for (std::size_t n = graph_.nodes.size(); n-- > 0;) {
            place_[n] = kNever;
            if (!repeated_[n]) continue;
            for (const ValueId output : graph_.nodes[n].outputs) {
                if (!dropped_[output.index()] && kept_[output.index()]) continue;
                for (const NodeId reader : readers_[output.index()]) {
                    const std::size_t r = reader.index();
                    if (is_behind(graph_.nodes[r])) place_[n] = std::min(place_[n], int(r));
                    if (repeated_[r]) place_[n] = std::min(place_[n], place_[r]);
                }
            }
            if (place_[n] == kNever) return false;
            for (const ValueId input : graph_.nodes[n].inputs) {
                const int moved = moved_by_[input.index()];
                if (moved >= 0 && moved < place_[n] && !reads_moved(graph_.nodes[n], input))
                    return false;
            }
        }
        return true;
    }

    /// Whether the operand is a moving statistic that the node itself moves.
    bool reads_moved(const Node& node, ValueId input) const {
        for (const OpDef::Move& move : op(node.op).moves) {
            if (node.inputs[std::size_t(move.input)] != input) continue;
            return next_[input.index()] == node.outputs[std::size_t(move.output)];
        }
        return false;
    }

    /// From when to when a value is alive, by the order of the nodes.
    struct Life {
        int first = kNever, last = -1;
        void reaches(int at) { last = std::max(last, at); }
    };

    Peak simulate() const {
        std::vector<Life> lives(graph_.values.size()), again(graph_.values.size());
        for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
            const Node& node = graph_.nodes[n];
            for (const ValueId output : node.outputs) {
                Life& life = lives[storage_[output.index()].index()];
                life.first = std::min(life.first, int(n));
                life.reaches(leaves_[output.index()] ? end_ : int(n));
                if (!repeated_[n]) continue;
                again[output.index()].first = place_[n];
                again[output.index()].reaches(place_[n]);
            }
            const auto reads = [&](ValueId input, int at) {
                if (graph_.value(input).kind != ValueKind::result) return;
                const std::size_t made = graph_.value(input).producer.index();
                if (repeated_[made] && at >= place_[made] &&
                    (dropped_[input.index()] || !kept_[input.index()]))
                    again[input.index()].reaches(at);
                else
                    lives[storage_[input.index()].index()].reaches(at);
            };
            for (const ValueId input : node.inputs) {
                reads(input, int(n));
                if (repeated_[n]) reads(input, place_[n]);
            }
        }
        return peak_of(lives, again);
    }

    Peak peak_of(const std::vector<Life>& lives, const std::vector<Life>& again) const {
        std::vector<std::int64_t> change(std::size_t(end_) + 2);
        const auto add = [&](const Life& life, std::int64_t bytes) {
            if (life.first > life.last) return;
            change[std::size_t(life.first)] += bytes;
            change[std::size_t(std::min(life.last, end_)) + 1] -= bytes;
        };
        for (std::size_t v = 0; v < graph_.values.size(); ++v) {
            if (graph_.values[v].kind != ValueKind::result) continue;
            // The next value of a state takes the state's place.
            if (leaves_[v] && is_next(ValueId(v))) continue;
            if (storage_[v] == ValueId(v)) add(lives[v], bytes_of(ValueId(v)));
            add(again[v], bytes_of(ValueId(v)));
        }
        // A value that is written over an operand which nobody reads later takes no place of its
        // own there.
        for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
            const Node& node = graph_.nodes[n];
            for (const auto& [output, input] : in_place_of(node)) {
                const ValueId from = storage_[node.inputs[std::size_t(input)].index()];
                const ValueId to = node.outputs[std::size_t(output)];
                if (graph_.value(from).kind != ValueKind::result ||
                    bytes_of(from) != bytes_of(to) || lives[from.index()].last != int(n))
                    continue;
                change[n] -= bytes_of(to);
                change[n + 1] += bytes_of(to);
                break;
            }
        }
        Peak peak;
        std::int64_t alive = 0;
        for (int n = 0; n < end_; ++n) {
            alive += change[std::size_t(n)];
            if (alive > peak.bytes) peak = {alive, n, 0};
            if (alive == peak.bytes) peak.at = n, ++peak.length;
        }
        return peak;
    }

    bool is_next(ValueId value) const {
        const Node* node = producer(graph_, value);
        return node && node->phase == Phase::update;
    }

    /// Those whose absence would leave room at the peak, cheapest first.
    std::vector<Candidate> candidates(const Peak& peak) {
        std::vector<Candidate> found;
        for (std::size_t v = 0; v < graph_.values.size(); ++v) {
            const ValueId value(v);
            if (dropped_[v] || refused_[v] || leaves_[v] ||
                graph_.value(value).kind != ValueKind::result || storage_[v] != value)
                continue;
            if (int(graph_.value(value).producer.index()) >= peak.at) continue;
            const int behind = behind_[v];
            if (behind == kNever || behind <= peak.at || bytes_of(value) == 0) continue;
            if (is_read_at(value, peak.at)) continue;
            std::vector<std::size_t> fresh;
            dropped_[v] = true;
            const bool can = repeat(value, fresh);
            double cost = 0;
            for (const std::size_t n : fresh) {
                const Cost one = cost_of(graph_, graph_.nodes[n]);
                cost += double(one.flops) / flops_per_byte_ + double(one.bytes);
                repeated_[n] = false;
            }
            dropped_[v] = false;
            if (can) found.push_back({cost / double(bytes_of(value)), value});
        }
        std::stable_sort(found.begin(), found.end(),
                         [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; });
        return found;
    }

    /// In the forward part, at the node or behind it.
    bool is_read_at(ValueId value, int at) const {
        for (const NodeId reader : readers_[value.index()])
            if (!is_behind(graph_.node(reader)) && int(reader.index()) >= at) return true;
        return false;
    }

    /// Drops the best candidate that lowers the peak; the new one, or nothing where none does.
    std::optional<Peak> drop_one(const Peak& peak) {
        for (const Candidate& candidate : candidates(peak)) {
            std::vector<std::size_t> fresh;
            const std::vector<int> places = place_;
            dropped_[candidate.value.index()] = true;
            if (repeat(candidate.value, fresh) && find_places()) {
                const Peak lower = simulate();
                if (lower.bytes < peak.bytes ||
                    (lower.bytes == peak.bytes && lower.length < peak.length))
                    return lower;
            }
            dropped_[candidate.value.index()] = false;
            for (const std::size_t n : fresh)
                repeated_[n] = false;
            place_ = places;
            // Other drops seldom change this; without it the time would grow with their square.
            refused_[candidate.value.index()] = true;
        }
        return std::nullopt;
    }

    Graph rewrite() const {
        std::vector<std::vector<std::size_t>> before(graph_.nodes.size());
        for (std::size_t n = 0; n < graph_.nodes.size(); ++n)
            if (repeated_[n]) before[std::size_t(place_[n])].push_back(n);
        Rewriter r(graph_);
        for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
            for (const std::size_t again : before[n])
                add_again(r, graph_.nodes[again]);
            r.copy(graph_.nodes[n]);
        }
        return r.take();
    }

    void add_again(Rewriter& r, const Node& node) const {
        Node again = r.mapped(node);
        again.phase = Phase::recompute;
        for (const OpDef::Move& move : op(node.op).moves)
            if (reads_moved(node, node.inputs[std::size_t(move.input)]))
                again.inputs[std::size_t(move.input)] =
                    r.map(node.outputs[std::size_t(move.output)]);
        std::vector<Type> types;
        std::vector<std::string> names;
        for (const ValueId output : node.outputs) {
            types.push_back(graph_.type(output));
            names.push_back(std::string(graph_.value(output).name) + ".again");
        }
        const NodeId id = r.add_node(std::move(again), types, names.front(), names);
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            const ValueId output = node.outputs[i];
            if (dropped_[output.index()] || !kept_[output.index()])
                r.replace(output, r.graph().node(id).outputs[i]);
        }
    }

    const Graph& graph_;
    const std::int64_t wanted_;
    const double flops_per_byte_;
    const int end_;
    const Readers readers_;
    std::vector<ValueId> storage_;  ///< by value: the one whose bytes it shows
    std::vector<bool> leaves_;
    std::vector<int> moved_by_;  ///< by state: the node that makes its next value, or -1
    std::vector<ValueId> next_;  ///< by state
    std::vector<int> behind_;    ///< by value: its first reader behind the forward part, or kNever
    std::vector<bool> kept_;  ///< by value: there in backward anyway, or small, or not repeatable
    std::vector<bool> refused_;   ///< by value: dropping it did not lower the peak
    std::vector<bool> dropped_;   ///< by value: not kept for backward
    std::vector<bool> repeated_;  ///< by node
    std::vector<int> place_;      ///< by repeated node: in front of which one it runs again
    std::int64_t largest_ = 0;
};

}  // namespace

/// Computes again in backward what there is no room to keep (`PassContext::live_bytes`).
///
///     %x = conv2d(...)                          %x = conv2d(...)
///     %y = relu(%x)                             %y = relu(%x)
///     ...                                  ->   ...
///     %g = conv2d_backward_weights(%y, %d)      %y_2 = relu(%x)  ; recompute
///                                               %g = conv2d_backward_weights(%y_2, %d)
///
/// A value that backward reads is dropped: it lives to its last reader of the forward part, and the
/// node that made it runs once more, of the same operands, in front of its first reader behind, so
/// the bits are the same. What such a node reads and nobody has kept is computed again in turn.
/// Moving statistics are moved once: the second node reads the moved ones, and what it makes of
/// them is not used. Random numbers follow from their operands, so they are drawn alike. Exchanges
/// between ranks are never repeated.
///
/// Values are dropped one by one, each time the one that costs the least time for its bytes among
/// those alive at the peak, as long as the peak exceeds `live_bytes`, and only where the peak does
/// not grow; a value whose absence does not lower it is kept. After Chen et al., "Training deep
/// nets with sublinear memory cost", 2016, and Jain et al., "Checkmate", 2020, whose objective this
/// is, met by greedy choice. Bytes alive are those of values: two that take one place count once;
/// workspaces of kernels do not count.
///
/// Behind `schedule`: what is alive when is a matter of the order, and nodes that are added here
/// stand in their place.
std::optional<Graph> recompute(const Graph& graph, PassContext& context) {
    if (context.live_bytes <= 0) return std::nullopt;
    for (const Node& node : graph.nodes)
        if (node.phase == Phase::recompute) return std::nullopt;
    return Recomputer(graph, context).run();
}

}  // namespace dtnn::compiler
