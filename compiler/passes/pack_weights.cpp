#include <map>
#include <utility>

#include "compiler/ops/define.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/invariant.hpp"
#include "compiler/passes/shared/rewriting.hpp"

namespace dtnn::compiler {
namespace {

class WeightPacker {
  public:
    WeightPacker(const Graph& graph, const PassContext& context)
        : graph_(graph), context_(context), invariant_(find_invariant(graph)), r_(graph) {}

    std::optional<Graph> run() {
        bool any = false;
        for (const Node& node : graph_.nodes) {
            const std::int64_t block = block_of(node);
            any = any || block > 0;
            if (block > 0)
                pack(node, block);
            else
                r_.copy(node);
        }
        if (!any) return std::nullopt;
        return r_.take();
    }

  private:
    ValueId weights_of(const Node& node) const { return node.inputs[op(node.op).weights->index]; }

    /// 0: its weights stay as they are.
    std::int64_t block_of(const Node& node) const {
        const std::optional<StoredWeights>& weights = op(node.op).weights;
        if (!weights || weights->result) return 0;
        const bool fits = invariant_.values[weights_of(node).index()] &&
                          !node.attributes.contains(kPacked) && filter_axis(node) >= 0;
        return fits ? context_.wanted_block(graph_, node) : 0;
    }

    /// The axis that is stored last; -1 where an order is asked for that the weights have not.
    std::int64_t filter_axis(const Node& node) const {
        const Type& type = graph_.type(weights_of(node));
        if (!type.order.empty()) return type.order.back();
        const bool ordered = op(node.op).weights->order.size() == type.dims.size();
        return ordered ? -1 : std::int64_t(type.dims.size()) - 1;
    }

    void pack(const Node& node, std::int64_t block) {
        const ValueId weights = weights_of(node);
        const std::int64_t axis = filter_axis(node);
        const std::int64_t filters = graph_.type(weights).dims[std::size_t(axis)];
        auto [packed, added] = packed_.try_emplace({weights.index(), block});
        if (added) {
            Node packing = node;
            packing.op = "pack_weights";
            packing.inputs = {r_.map(weights)};
            packing.outputs.clear();
            packing.attributes = {{"axis", axis}, {"block", block}};
            packed->second =
                emit(r_, std::move(packing), graph_.value(weights).name + ".packed")[0];
        }
        Node reader = r_.mapped(node);
        reader.inputs[op(node.op).weights->index] = packed->second;
        reader.attributes[kPacked] = std::vector<std::int64_t>{filters, block};
        const Value& result = graph_.value(node.outputs[0]);
        r_.replace(node.outputs[0], emit(r_, std::move(reader), result.name)[0]);
    }

    const Graph& graph_;
    const PassContext& context_;
    const Invariant invariant_;
    Rewriter r_;
    std::map<std::pair<std::size_t, std::int64_t>, ValueId> packed_;  // by weights and block
};

}  // namespace

/// Stores weights that depend on parameters only in the blocks in which the kernel reads them, so
/// that it need not do so in every batch.
///
///     %y = conv2d(%x, @w)      ->     %p = pack_weights(@w) {axis=0, block=48}
///                                     %y = conv2d(%x, %p) {packed=[96,48]}
///
/// After layout, which decides how weights are stored, and after what rounds them; in front of
/// hoisting, which puts the packing before the first batch. Must not fire where the kernel that
/// the node would have reads weights as they are, in training, on weights that depend on samples,
/// and where several steps of a text are read at once: that is done a few times only.
std::optional<Graph> pack_weights(const Graph& graph, PassContext& context) {
    if (!context.wanted_block || context.steps > 1 || graph.training || changes_parameters(graph))
        return std::nullopt;
    return WeightPacker(graph, context).run();
}

}  // namespace dtnn::compiler
