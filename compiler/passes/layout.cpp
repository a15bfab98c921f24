#include <numeric>
#include <unordered_map>

#include "compiler/ir/axes.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/rewriting.hpp"
#include "compiler/support/check.hpp"
#include "plan/devices.hpp"

namespace dtnn::compiler {
namespace {

/// The operator that this pass is about.
constexpr const char* kReorder = "reorder";
const Order kFilters{2, 3, 1, 0};
const Order kFiltersLikeImages{0, 2, 3, 1};

/// Values that wish to lie alike form classes; a class with weights in it lies as they wish.
class Classes {
  public:
    Classes(const Graph& graph, bool filters_like_images)
        : graph_(graph),
          filters_like_images_(filters_like_images),
          parent_(graph.values.size()),
          order_(graph.values.size(), nullptr) {
        std::iota(parent_.begin(), parent_.end(), std::size_t{0});
        for (const Node& node : graph.nodes)
            join_operands(node);
        for (const Update& update : graph.updates)
            join(update.state, update.value);
        for (const Node& node : graph.nodes)
            mark_weights(node);
    }

    Order order(ValueId value) {
        const Order* found = order_[root(value.index())];
        return found ? *found : usual_order(graph_.type(value).axes);
    }

  private:
    std::size_t root(std::size_t i) {
        while (parent_[i] != i)
            i = parent_[i] = parent_[parent_[i]];
        return i;
    }

    void join(ValueId a, ValueId b) {
        if (graph_.type(a).dims == graph_.type(b).dims) parent_[root(a.index())] = root(b.index());
    }

    void join_operands(const Node& node) {
        const OpDef& def = op(node.op);
        // An exchange leaves everything as it lies.
        if (def.exchange)
            for (std::size_t i = 0; i < node.inputs.size(); ++i)
                join(node.outputs[i], node.inputs[i]);
        if (def.operands_wish == Wish::follows)
            for (const ValueId input : node.inputs)
                join(node.outputs[0], input);
        if (def.results_wish == Wish::follows)
            for (const ValueId output : node.outputs)
                join(node.outputs[0], output);
    }

    void mark(ValueId value, const Order& order) {
        if (order.size() != graph_.type(value).dims.size()) return;
        const Order*& known = order_[root(value.index())];
        DTNN_CHECK(!known || *known == order, "`{}` would have to be stored in two orders",
                   graph_.value(value).name);
        known = &order;
    }

    void mark_weights(const Node& node) {
        const auto& weights = op(node.op).weights;
        if (!weights) return;
        const bool as_image = filters_like_images_ && weights->order == kFilters;
        mark((weights->result ? node.outputs : node.inputs)[weights->index],
             as_image ? kFiltersLikeImages : weights->order);
    }

    const Graph& graph_;
    bool filters_like_images_;
    std::vector<std::size_t> parent_;
    std::vector<const Order*> order_;  // by root
};

class Arranger {
  public:
    Arranger(const Graph& graph, bool filters_like_images)
        : graph_(graph), uses_(graph), classes_(graph, filters_like_images), r_(graph) {}

    Graph run() {
        for (std::size_t i = 0; i < graph_.values.size(); ++i)
            if (graph_.values[i].kind != ValueKind::result) arrange(ValueId(i));
        for (const Node& node : graph_.nodes) {
            const OpDef& def = op(node.op);
            if (def.operands_wish == Wish::row_major &&
                !is_row_major(r_.graph().type(r_.map(node.inputs[0])))) {
                read_row_major(node);
                continue;
            }
            r_.copy(node);
            if (node.op == kReorder) continue;  // its attribute says it
            if (def.results_wish == Wish::row_major && lies_otherwise(node.outputs[0])) {
                store_as_wished(node);
                continue;
            }
            for (const ValueId output : node.outputs)
                arrange(output);
        }
        return r_.take();
    }

  private:
    void arrange(ValueId old) {
        const Order order = classes_.order(old);
        const ValueId fresh = r_.map(old);
        if (r_.graph().type(fresh).order == order) return;
        Type type = r_.graph().type(fresh);
        type.order = order;
        r_.graph().set_type(fresh, type);
    }

    /// What others wish of a value is not how a row-major one lies.
    bool lies_otherwise(ValueId old) {
        Type type = graph_.type(old);
        type.order = classes_.order(old);
        return !is_row_major(type);
    }

    ValueId reorder(const Node& near, ValueId value, const Order& order, const std::string& name) {
        Node node;
        node.op = kReorder;
        node.inputs = {value};
        node.attributes["order"] = std::vector<std::int64_t>(order.begin(), order.end());
        node.phase = near.phase;
        node.layer = near.layer;
        node.place = near.place;
        return emit(r_, std::move(node), name)[0];
    }

    void read_row_major(const Node& node) {
        ValueId& source = row_major_[node.inputs[0]];
        if (!source.valid()) {
            Order order(graph_.type(node.inputs[0]).dims.size());
            std::iota(order.begin(), order.end(), 0);
            source = reorder(node, r_.map(node.inputs[0]), order,
                             graph_.value(node.inputs[0]).name + ".row_major");
        }
        Node flattened = r_.mapped(node);
        flattened.inputs = {source};
        r_.replace(node.outputs[0],
                   emit(r_, std::move(flattened), graph_.value(node.outputs[0]).name)[0]);
    }

    void store_as_wished(const Node& node) {
        const ValueId result = node.outputs[0];
        bool done = !uses_.leaves(result);
        for (const NodeId reader : uses_.readers(result))
            done = done && graph_.node(reader).op == kReorder;
        if (done) return;
        r_.replace(result, reorder(node, r_.map(result), classes_.order(result),
                                   graph_.value(result).name + ".channels_last"));
    }

    const Graph& graph_;
    const Uses uses_;
    Classes classes_;
    Rewriter r_;
    std::unordered_map<ValueId, ValueId> row_major_;  // by old source
};

}  // namespace

/// Decides how every value is stored, by what operators wish (`Wish` and `StoredWeights` of
/// ops/op.hpp): with its channels last unless a reader or its producer has a wish, and alike where
/// it is to lie as another value does.
///
///     images                             [N,C,H,W]          order {0,2,3,1}: channels last
///     parameters that are like a sample  [1,C,H,W]          likewise
///     weights of conv2d                  [F,C/groups,KH,KW] order {2,3,1,0}, for CUDA {0,2,3,1}
///     weights of dense over an image     [C,H,W,units]      order {1,2,0,3}
///
/// Gradients, folded weights and optimizer state are stored like their weights. flatten reads and
/// unflatten gives row-major values, so a `reorder` comes before and after them:
///
///     %f = flatten(%x)   ->   %r = reorder(%x) {order=[0,1,2,3]}   %f = flatten(%r)
///
/// Must not fire on flattened images whose channels, or whose height and width, are 1, nor on
/// flattened sequences: their bytes are the same in both orders. After every pass that makes nodes
/// or takes shapes for granted.
std::optional<Graph> layout(const Graph& graph, PassContext& context) {
    return Arranger(graph, plan::traits_of(context.device).filters_like_images).run();
}

}  // namespace dtnn::compiler
