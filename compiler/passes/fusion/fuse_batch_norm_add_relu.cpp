#include "compiler/passes/fusion/fuse_batch_norm_add_relu.hpp"

#include <unordered_map>
#include <unordered_set>

#include "compiler/passes/shared/batch_norm_patterns.hpp"
#include "compiler/passes/shared/rewriting.hpp"

namespace dtnn::compiler {
namespace {

struct Match {
    const Node* norm = nullptr;
    const Node* add = nullptr;
    std::size_t residual = 0;        // which operand of `add` the batch norm does not make
    const Node* mask = nullptr;      // relu's backward, or null when the backward does not fit
    const Node* backward = nullptr;  // the batch norm's, reading what `mask` gives
};

class Fuser {
  public:
    explicit Fuser(const Graph& graph) : graph_(graph), uses_(graph), r_(graph) {
        for (const Node& node : graph.nodes)
            if (is_relu(node)) match(node);
    }

    std::optional<Graph> run() {
        if (by_relu_.empty()) return std::nullopt;
        for (const Node& node : graph_.nodes) {
            if (const auto found = by_relu_.find(&node); found != by_relu_.end())
                forward(node, found->second);
            else if (const auto masked = by_mask_.find(&node); masked != by_mask_.end())
                backward(node, *masked->second);
            else if (!gone_.contains(&node))
                r_.copy(node);
        }
        return r_.take();
    }

  private:
    void match(const Node& relu) {
        const Node* add = producer(graph_, relu.inputs[0]);
        if (!add || !is_sum(*add) || add->inputs[0] == add->inputs[1] ||
            uses_.only_reader(add->outputs[0]) != &relu)
            return;
        for (std::size_t i = 0; i < 2; ++i) {
            const Node* norm = producer(graph_, add->inputs[i]);
            if (!norm || !is_plain_batch_norm(*norm) || add->inputs[i] != norm->outputs[0] ||
                uses_.only_reader(norm->outputs[0]) != add)
                continue;
            Match& found = by_relu_[&relu];
            found.norm = norm;
            found.add = add;
            found.residual = 1 - i;
            gone_.insert(norm);
            gone_.insert(add);
            match_backward(relu, found);
            return;
        }
    }

    void match_backward(const Node& relu, Match& found) {
        for (const NodeId id : uses_.readers(relu.outputs[0])) {
            const Node& mask = graph_.node(id);
            if (!is_relu_backward(mask) || mask.inputs[1] != relu.outputs[0]) continue;
            for (const NodeId reader : uses_.readers(mask.outputs[0])) {
                const Node& node = graph_.node(reader);
                if (!is_backward_of(node, *found.norm, mask.outputs[0])) continue;
                found.mask = &mask;
                found.backward = &node;
                by_mask_[&mask] = &found;
                gone_.insert(&node);
                return;
            }
        }
    }

    void forward(const Node& relu, Match& found) {
        Node fused = r_.mapped(*found.norm);
        fused.inputs.push_back(r_.map(found.add->inputs[found.residual]));
        fused.attributes["epilogue"] = std::string("relu");
        fused.attributes["residual"] = true;
        if (found.mask) fused.attributes["mask"] = true;
        const auto results = emit(r_, std::move(fused), graph_.value(relu.outputs[0]).name);
        r_.replace(relu.outputs[0], results[0]);
        for (std::size_t i = 1; i < found.norm->outputs.size(); ++i)
            r_.replace(found.norm->outputs[i], results[i], true);
        if (found.mask) bits_[&found] = results.back();
    }

    /// Stands where the mask stood: other readers of the masked gradient come after it.
    void backward(const Node& mask, const Match& found) {
        const bool others =
            uses_.readers(mask.outputs[0]).size() > 1 || uses_.leaves(mask.outputs[0]);
        const Node& old = *found.backward;
        Node fused = old;
        fused.inputs[1] = mask.inputs[0];
        fused = r_.mapped(fused);
        fused.inputs.push_back(bits_.at(&found));
        fused.attributes["epilogue"] = std::string("relu");
        fused.attributes["mask"] = true;
        fused.attributes["residual"] = others;
        const auto results = emit(r_, std::move(fused), graph_.value(old.outputs[0]).name);
        for (std::size_t i = 0; i < old.outputs.size(); ++i)
            r_.replace(old.outputs[i], results[i], true);
        if (others) r_.replace(mask.outputs[0], results[3], true);
    }

    const Graph& graph_;
    const Uses uses_;
    Rewriter r_;
    std::unordered_map<const Node*, Match> by_relu_;
    std::unordered_map<const Node*, const Match*> by_mask_;
    std::unordered_map<const Match*, ValueId> bits_;
    std::unordered_set<const Node*> gone_;
};

}  // namespace

std::optional<Graph> fuse_batch_norm_add_relu(const Graph& graph, PassContext&) {
    return Fuser(graph).run();
}

}  // namespace dtnn::compiler
