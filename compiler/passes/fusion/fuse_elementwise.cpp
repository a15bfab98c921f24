#include "compiler/passes/fusion/fuse_elementwise.hpp"

#include <algorithm>
#include <unordered_map>

#include "compiler/ops/emit.hpp"
#include "compiler/ops/expression/expression.hpp"
#include "compiler/passes/shared/rewriting.hpp"

namespace dtnn::compiler {
namespace {

constexpr std::size_t kMaxOperands = 8;
constexpr std::ptrdiff_t kMaxTokens = 64;

/// An expression over values of the old graph.
struct Composed {
    Expression expression;
    ValueList operands;
    bool changed = false;  ///< more than the node itself
};

std::ptrdiff_t tokens(const Expression& expression) {
    const std::string text = to_postfix(expression);
    return 1 + std::count(text.begin(), text.end(), ' ');
}

int occurrences(const Expression& expression, int input) {
    if (expression.term == Term::input) return expression.index == input ? 1 : 0;
    int result = 0;
    for (const Expression& operand : expression.operands)
        result += occurrences(operand, input);
    return result;
}

std::size_t operand_of(Composed& composed, ValueId value) {
    const auto found = std::find(composed.operands.begin(), composed.operands.end(), value);
    if (found != composed.operands.end()) return std::size_t(found - composed.operands.begin());
    composed.operands.push_back(value);
    return composed.operands.size() - 1;
}

class ElementwiseFuser {
  public:
    explicit ElementwiseFuser(const Graph& graph) : graph_(graph), uses_(graph), r_(graph) {}

    std::optional<Graph> run() {
        if (std::none_of(graph_.nodes.begin(), graph_.nodes.end(),
                         [&](const Node& node) { return fuses(node) && may_wait(node); }))
            return std::nullopt;
        for (const Node& node : graph_.nodes) {
            const std::string text = expression_of(node);
            if (text.empty()) {
                r_.copy(node);
                continue;
            }
            Composed composed = compose(node, parse_postfix(text));
            if (may_wait(node))
                waiting_.emplace(&node, std::move(composed));
            else
                write(node, composed);
        }
        return r_.take();
    }

  private:
    static bool fuses(const Node& node) { return !expression_of(node).empty(); }

    /// The only reader is elementwise too and may take the node along.
    bool may_wait(const Node& node) const {
        const Node* reader = uses_.only_reader(node.outputs[0]);
        return reader && reader->phase == node.phase && !expression_of(*reader).empty() &&
               graph_.type(reader->outputs[0]) == graph_.type(node.outputs[0]);
    }

    /// Takes waiting operands in, as far as the bounds allow; the others are written now.
    Composed compose(const Node& node, const Expression& own) {
        Composed result;
        std::vector<Expression> replacements;
        std::ptrdiff_t size = tokens(own);
        std::size_t width = node.inputs.size();
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            const ValueId input = node.inputs[i];
            const Node* inner = producer(graph_, input);
            const auto found = inner ? waiting_.find(inner) : waiting_.end();
            if (found != waiting_.end()) {
                const int uses = occurrences(own, int(i));
                const std::ptrdiff_t longer = uses * (tokens(found->second.expression) - 1);
                const std::size_t wider = width + found->second.operands.size() - 1;
                const bool cheap = uses <= 1 || flops(found->second.expression) <= 1;
                const bool once = std::count(node.inputs.begin(), node.inputs.end(), input) == 1;
                if (cheap && once && size + longer <= kMaxTokens && wider <= kMaxOperands) {
                    size += longer;
                    width = wider;
                    replacements.push_back(over(result, found->second));
                    result.changed = true;
                    waiting_.erase(found);
                    continue;
                }
                const Composed other = std::move(found->second);
                waiting_.erase(found);
                write(*inner, other);
            }
            replacements.push_back(Expression::input_at(int(operand_of(result, input))));
        }
        result.expression = substitute(own, replacements);
        return result;
    }

    /// The inner expression over the outer one's operands, which it extends.
    static Expression over(Composed& outer, const Composed& inner) {
        std::vector<Expression> replacements;
        for (const ValueId operand : inner.operands)
            replacements.push_back(Expression::input_at(int(operand_of(outer, operand))));
        return substitute(inner.expression, replacements);
    }

    void write(const Node& node, const Composed& composed) {
        if (!composed.changed) {
            r_.copy(node);
            return;
        }
        Node fused = node;
        fused.op = "elementwise";
        fused.inputs = composed.operands;
        fused = r_.mapped(fused);
        fused.attributes = {{"expression", to_postfix(composed.expression)}};
        r_.replace(node.outputs[0],
                   emit(r_, std::move(fused), graph_.value(node.outputs[0]).name)[0]);
    }

    const Graph& graph_;
    const Uses uses_;
    Rewriter r_;
    std::unordered_map<const Node*, Composed> waiting_;
};

}  // namespace

std::optional<Graph> fuse_elementwise(const Graph& graph, PassContext&) {
    return ElementwiseFuser(graph).run();
}

}  // namespace dtnn::compiler
