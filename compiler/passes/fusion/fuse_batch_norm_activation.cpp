#include "compiler/passes/fusion/fuse_batch_norm_activation.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include "compiler/ops/emit.hpp"
#include "compiler/ops/expression/expression.hpp"
#include "compiler/passes/shared/batch_norm_patterns.hpp"
#include "compiler/passes/shared/rewriting.hpp"

namespace dtnn::compiler {
namespace {

/// Of an activation that backward works out again instead of reading its result.
constexpr std::int64_t kMaxRepeatedFlops = 8;

/// A batch norm, its activation and the backward of both.
struct Found {
    const Node *norm = nullptr, *activation = nullptr;
    const Node *slope = nullptr, *backward = nullptr;
    Expression forward;   ///< over x0, the normalised numbers
    Expression gradient;  ///< over x0, what comes from behind, and x1, the normalised numbers
    ValueId diff;         ///< what comes from behind
};

class ActivationFuser {
  public:
    explicit ActivationFuser(const Graph& graph) : graph_(graph), uses_(graph), r_(graph) {
        for (const Node& node : graph.nodes)
            if (auto found = find(node)) {
                by_node_[found->activation] = by_node_[found->slope] = nullptr;
                found_.push_back(std::make_unique<Found>(std::move(*found)));
                by_node_[found_.back()->norm] = found_.back().get();
                by_node_[found_.back()->backward] = found_.back().get();
            }
    }

    std::optional<Graph> run() {
        if (found_.empty()) return std::nullopt;
        for (const Node& node : graph_.nodes) {
            const auto known = by_node_.find(&node);
            if (known == by_node_.end())
                r_.copy(node);
            else if (known->second != nullptr)
                write(node, *known->second);
        }
        return r_.take();
    }

  private:
    std::optional<Found> find(const Node& norm) const {
        if (norm.op != kTraining || !is_plain_batch_norm(norm)) return std::nullopt;
        const ValueId normalised = norm.outputs[0];
        if (uses_.leaves(normalised)) return std::nullopt;
        Found found;
        found.norm = &norm;
        for (const NodeId reader : uses_.readers(normalised)) {
            const Node& node = graph_.node(reader);
            const bool alone = node.inputs.size() == 1 && !expression_of(node).empty();
            if (alone && node.phase == norm.phase && !found.activation)
                found.activation = &node;
            else if (!found.slope)
                found.slope = &node;
            else
                return std::nullopt;
        }
        if (!found.activation) return std::nullopt;
        found.forward = parse_postfix(expression_of(*found.activation));
        if (depth(found.forward) > kMaximumFusedDepth) return std::nullopt;
        if (!found.slope) found.slope = slope_by_result(found);
        if (!found.slope || !read_slope(found)) return std::nullopt;
        return found;
    }

    /// The backward of an activation that knows its slope by its result.
    const Node* slope_by_result(const Found& found) const {
        for (const NodeId reader : uses_.readers(found.activation->outputs[0])) {
            const Node& node = graph_.node(reader);
            const Node* next =
                expression_of(node).empty() ? nullptr : uses_.only_reader(node.outputs[0]);
            if (next && is_backward_of(*next, *found.norm, node.outputs[0])) return &node;
        }
        return nullptr;
    }

    /// The slope over what comes from behind and the normalised numbers.
    bool read_slope(Found& found) const {
        const Node& slope = *found.slope;
        const std::string text = expression_of(slope);
        found.backward = uses_.only_reader(slope.outputs[0]);
        if (text.empty() || !found.backward ||
            !is_backward_of(*found.backward, *found.norm, slope.outputs[0]))
            return false;
        const Expression own = parse_postfix(text);
        const Expression normalised = Expression::input_at(1);
        std::vector<Expression> operands;
        for (std::size_t i = 0; i < slope.inputs.size(); ++i) {
            const ValueId input = slope.inputs[i];
            if (input == found.norm->outputs[0]) {
                operands.push_back(normalised);
            } else if (input == found.activation->outputs[0]) {
                if (flops(found.forward) > kMaxRepeatedFlops) return false;
                operands.push_back(substitute(found.forward, {normalised}));
            } else if (!found.diff.valid() || found.diff == input) {
                found.diff = input;
                operands.push_back(Expression::input_at(0));
            } else {
                return false;
            }
            if (reads_as(own, int(i), true)) return false;
        }
        if (!found.diff.valid()) return false;
        found.gradient = simplify(substitute(own, operands));
        return depth(found.gradient) <= kMaximumFusedDepth;
    }

    void write(const Node& node, const Found& found) {
        const bool is_norm = &node == found.norm;
        Node fused = node;
        if (!is_norm) {
            fused.inputs[1] = found.diff;
            fused.inputs.push_back(found.norm->inputs[2]);
        }
        fused = r_.mapped(fused);
        fused.attributes["epilogue"] = std::string("expression");
        fused.attributes["expression"] = to_postfix(is_norm ? found.forward : found.gradient);
        const ValueId result = is_norm ? found.activation->outputs[0] : node.outputs[0];
        const auto results = emit(r_, std::move(fused), graph_.value(result).name);
        r_.replace(result, results[0], !is_norm);
        for (std::size_t i = 1; i < results.size(); ++i)
            r_.replace(node.outputs[i], results[i], true);
    }

    const Graph& graph_;
    const Uses uses_;
    Rewriter r_;
    std::vector<std::unique_ptr<Found>> found_;
    /// What becomes of the nodes of a pattern; null: they are gone.
    std::map<const Node*, const Found*> by_node_;
};

}  // namespace

std::optional<Graph> fuse_batch_norm_activation(const Graph& graph, PassContext& context) {
    const bool shared = context.parallel.data &&
                        context.parallel.batch_statistics == plan::BatchStatistics::synchronised;
    if (context.device != "cpu" || shared) return std::nullopt;
    return ActivationFuser(graph).run();
}

}  // namespace dtnn::compiler
