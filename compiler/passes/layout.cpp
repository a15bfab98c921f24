#include "compiler/passes/layout.hpp"

#include <numeric>
#include <unordered_map>

#include "compiler/ops/emit.hpp"
#include "compiler/passes/shared/rewriting.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {
namespace {

/// The operator that this pass is about.
constexpr const char* kReorder = "reorder";
const Order kImage{0, 2, 3, 1};
const Order kFilters{2, 3, 1, 0};

/// Values that must be stored alike form classes; a class with weights in it is stored as weights.
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

    const Order& order(ValueId value) {
        const Order* found = order_[root(value.index())];
        return found ? *found : kImage;
    }

  private:
    bool image_like(ValueId value) const { return graph_.type(value).dims.size() == 4; }

    std::size_t root(std::size_t i) {
        while (parent_[i] != i)
            i = parent_[i] = parent_[parent_[i]];
        return i;
    }

    void join(ValueId a, ValueId b) {
        if (image_like(a) && image_like(b)) parent_[root(a.index())] = root(b.index());
    }

    void join_operands(const Node& node) {
        // An exchange leaves everything as it lies.
        if (op(node.op).exchange)
            for (std::size_t i = 0; i < node.inputs.size(); ++i)
                join(node.outputs[i], node.inputs[i]);
        // Updates go over flat memory: weights, gradients, states, sums and averages.
        const bool alike =
            node.phase == Phase::update || op(node.op).stored_alike || !expression_of(node).empty();
        if (!alike) return;
        for (const ValueId input : node.inputs)
            join(node.outputs[0], input);
        for (const ValueId output : node.outputs)
            join(node.outputs[0], output);
    }

    void mark(ValueId value, const Order& order) {
        if (!image_like(value)) return;
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
             as_image ? kImage : weights->order);
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
            if (op(node.op).reads_row_major && wants_row_major(node.inputs[0])) {
                flatten(node);
                continue;
            }
            r_.copy(node);
            if (node.op == kReorder) continue;  // its attribute says it
            if (op(node.op).gives_row_major && differs(graph_.type(node.outputs[0]))) {
                unflatten(node);
                continue;
            }
            for (const ValueId output : node.outputs)
                arrange(output);
        }
        return r_.take();
    }

  private:
    void arrange(ValueId old) {
        if (graph_.type(old).dims.size() != 4) return;
        const ValueId fresh = r_.map(old);
        Type type = r_.graph().type(fresh);
        type.order = classes_.order(old);
        r_.graph().set_type(fresh, type);
    }

    /// The two orders of an image store different bytes.
    static bool differs(const Type& type) {
        return type.dims.size() == 4 && type.dims[1] > 1 && type.dims[2] * type.dims[3] > 1;
    }

    bool wants_row_major(ValueId source) {
        return differs(graph_.type(source)) && !r_.graph().type(r_.map(source)).order.empty();
    }

    ValueId reorder(const Node& near, ValueId value, std::vector<std::int64_t> order,
                    const std::string& name) {
        Node node;
        node.op = kReorder;
        node.inputs = {value};
        node.attributes["order"] = std::move(order);
        node.phase = near.phase;
        node.layer = near.layer;
        node.place = near.place;
        return emit(r_, std::move(node), name)[0];
    }

    void flatten(const Node& node) {
        ValueId& source = row_major_[node.inputs[0]];
        if (!source.valid())
            source = reorder(node, r_.map(node.inputs[0]), {0, 1, 2, 3},
                             graph_.value(node.inputs[0]).name + ".row_major");
        Node flattened = r_.mapped(node);
        flattened.inputs = {source};
        r_.replace(node.outputs[0],
                   emit(r_, std::move(flattened), graph_.value(node.outputs[0]).name)[0]);
    }

    void unflatten(const Node& node) {
        const ValueId result = node.outputs[0];
        bool done = !uses_.leaves(result);
        for (const NodeId reader : uses_.readers(result))
            done = done && graph_.node(reader).op == kReorder;
        if (done) return;
        r_.replace(result, reorder(node, r_.map(result), {0, 2, 3, 1},
                                   graph_.value(result).name + ".channels_last"));
    }

    const Graph& graph_;
    const Uses uses_;
    Classes classes_;
    Rewriter r_;
    std::unordered_map<ValueId, ValueId> row_major_;  // by old source
};

}  // namespace

Graph layout(const Graph& graph, PassContext& context) {
    return Arranger(graph, context.device == "cuda").run();
}

}  // namespace dtnn::compiler
