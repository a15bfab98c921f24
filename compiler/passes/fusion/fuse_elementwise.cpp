#include <algorithm>
#include <unordered_map>

#include "base/expression/expression.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/passes/pass.hpp"
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

/// The postfix expression that the node works out for each element; empty: none.
std::string read_by(const Node& node) {
    if (op(node.op).sums_expression) return std::get<std::string>(node.attributes.at("expression"));
    return expression_of(node);
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
            const std::string text = read_by(node);
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

    /// The only reader has an expression too and may take the node along.
    bool may_wait(const Node& node) const {
        if (!fuses(node)) return false;
        const Node* reader = uses_.only_reader(node.outputs[0]);
        return reader && reader->phase == node.phase && !read_by(*reader).empty() &&
               graph_.type(reader->inputs[0]) == graph_.type(node.outputs[0]);
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
                const bool fits =
                    size + longer <= kMaxTokens && wider <= kMaxOperands &&
                    depth_with(own, replacements, found->second.expression) <= kMaximumFusedDepth;
                if (cheap && once && fits) {
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
            Expression operand = Expression::input_at(int(operand_of(result, input)));
            operand.by_channel = reads_as(own, int(i), true);
            replacements.push_back(std::move(operand));
        }
        result.expression = substitute(own, replacements);
        return result;
    }

    /// The depth of `own` over what its first operands have become, `next` and operands that are
    /// read.
    static int depth_with(const Expression& own, std::vector<Expression> replacements,
                          const Expression& next) {
        replacements.push_back(next);
        const auto operands = std::size_t(input_count(own));
        while (replacements.size() < operands)
            replacements.push_back(Expression::input_at(0));
        return depth(substitute(own, replacements));
    }

    /// The inner expression over the outer one's operands, which it extends.
    static Expression over(Composed& outer, const Composed& inner) {
        std::vector<int> places;
        for (const ValueId operand : inner.operands)
            places.push_back(int(operand_of(outer, operand)));
        return renumber(inner.expression, places);
    }

    void write(const Node& node, const Composed& composed) {
        if (!composed.changed) {
            r_.copy(node);
            return;
        }
        Node fused = node;
        fused.inputs = composed.operands;
        fused = r_.mapped(fused);
        if (op(node.op).sums_expression) {
            fused.attributes.erase("derivative");  // of the expression that it was
        } else {
            fused.op = "elementwise";
            fused.attributes = {};
        }
        fused.attributes["expression"] = to_postfix(composed.expression);
        r_.replace(node.outputs[0],
                   emit(r_, std::move(fused), graph_.value(node.outputs[0]).name)[0]);
    }

    const Graph& graph_;
    const Uses uses_;
    Rewriter r_;
    std::unordered_map<const Node*, Composed> waiting_;
};

}  // namespace

/// Composes chains of elementwise nodes into one expression, so that they are one loop.
///
///     %s = add(%a, %b)   %y = relu(%s)      ->      %y = elementwise(%a, %b)
///                                                          {expression="x0 x1 add 0 max"}
///
/// Bounded: at most 8 operands and 64 tokens, and an expression that the reader uses more than once
/// is only copied when it is a single operation. Last of the fusions, so that the specific ones
/// find their patterns. Must not fire when the inner result has another reader, nor across phases:
/// a forward value that backward reads is not computed later.
std::optional<Graph> fuse_elementwise(const Graph& graph, PassContext&) {
    return ElementwiseFuser(graph).run();
}

}  // namespace dtnn::compiler
