#include "compiler/passes/fusion/fuse_relu.hpp"

#include <unordered_map>
#include <unordered_set>

#include "compiler/ops/define.hpp"
#include "compiler/passes/shared/rewriting.hpp"

namespace dtnn::compiler {
namespace {

/// A relu can become its epilogue.
bool is_plain(const Node& node) {
    return op(node.op).takes_relu && !has_epilogue(node) && !flag(node.attributes, "residual") &&
           !flag(node.attributes, "statistics");
}

/// So can a sum and a relu.
bool takes_sum(const Node& node) {
    return op(node.op).takes_residual && is_plain(node);
}

/// What a relu becomes: its producer and, where a sum stood between, the sum's other operand.
struct ReluMatch {
    const Node* producer = nullptr;
    ValueId residual;
};

class ReluFuser {
  public:
    explicit ReluFuser(const Graph& graph) : graph_(graph), uses_(graph), r_(graph) {
        for (const Node& node : graph.nodes)
            if (is_relu(node)) match(node);
    }

    std::optional<Graph> run() {
        if (matches_.empty()) return std::nullopt;
        for (const Node& node : graph_.nodes) {
            if (const auto found = matches_.find(&node); found != matches_.end())
                fuse(node, found->second);
            else if (!gone_.contains(&node))
                r_.copy(node);
        }
        return r_.take();
    }

  private:
    void match(const Node& relu) {
        const Node* before = producer(graph_, relu.inputs[0]);
        if (!before || uses_.only_reader(before->outputs[0]) != &relu) return;
        if (is_plain(*before)) {
            matches_[&relu].producer = before;
            gone_.insert(before);
            return;
        }
        if (graph_.training || !is_sum(*before) || before->inputs[0] == before->inputs[1]) return;
        for (std::size_t i = 0; i < 2; ++i) {
            const Node* conv = producer(graph_, before->inputs[i]);
            if (!conv || !takes_sum(*conv) || uses_.only_reader(conv->outputs[0]) != before)
                continue;
            matches_[&relu] = {conv, before->inputs[1 - i]};
            gone_.insert(conv);
            gone_.insert(before);
            return;
        }
    }

    /// Stands where the relu stood: by then the residual is there.
    void fuse(const Node& relu, const ReluMatch& match) {
        Node fused = r_.mapped(*match.producer);
        fused.attributes["epilogue"] = std::string("relu");
        if (match.residual.valid()) {
            fused.attributes["residual"] = true;
            fused.inputs.push_back(r_.map(match.residual));
        }
        r_.replace(relu.outputs[0],
                   emit(r_, std::move(fused), graph_.value(relu.outputs[0]).name)[0]);
    }

    const Graph& graph_;
    const Uses uses_;
    Rewriter r_;
    std::unordered_map<const Node*, ReluMatch> matches_;
    std::unordered_set<const Node*> gone_;
};

}  // namespace

std::optional<Graph> fuse_relu(const Graph& graph, PassContext&) {
    return ReluFuser(graph).run();
}

}  // namespace dtnn::compiler
