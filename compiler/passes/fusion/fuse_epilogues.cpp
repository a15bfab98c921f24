#include "base/expression/expression.hpp"
#include "base/tensor/epilogue.hpp"
#include "compiler/ops/define.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/batch_norm_operators.hpp"
#include "compiler/passes/shared/fusions.hpp"
#include "plan/devices.hpp"

namespace dtnn::compiler {
namespace {

/// The one operator that is masked by another value than relu's result, by definition (mask_of).
constexpr const char* kPoolBackward = "max_pool2d_backward";
/// An activation of more work is not worked out again by backward instead of reading its result.
constexpr std::int64_t kMaxRepeatedFlops = 8;

/// The node is the backward of that batch norm (of training), of the gradient `diff`.
bool is_backward_of(const Node& node, const Node& norm, ValueId diff) {
    return node.op == kBackward && norm.op == kTraining && !has_epilogue(node) &&
           node.inputs[0] == norm.inputs[0] && node.inputs[1] == diff &&
           node.inputs[2] == norm.inputs[1] && node.inputs[3] == norm.outputs[1] &&
           node.inputs[4] == norm.outputs[2];
}

/// The backward of what stands behind a batch norm, and the batch norm's that reads it.
struct Backward {
    const Node *slope = nullptr, *norm = nullptr;
};

/// An activation behind a batch norm, and its backward.
struct Activation {
    const Node* node = nullptr;
    Backward backward;
    Expression forward;   ///< over x0, the normalised numbers
    Expression gradient;  ///< over x0, what comes from behind, and x1, the normalised numbers
    ValueId diff;         ///< what comes from behind
};

class EpilogueFuser {
  public:
    explicit EpilogueFuser(const Graph& graph)
        : graph_(graph), fusions_(graph), uses_(fusions_.uses()) {}

    std::optional<Graph> run(bool activations) {
        for (const Node& node : graph_.nodes)
            if (is_relu(node)) match_relu(node);
        for (const Node& node : graph_.nodes)
            if (activations && node.op == kTraining) match_activation(node);
        for (const Node& node : graph_.nodes)
            if (is_relu_backward(node)) match_mask(node);
        return fusions_.write();
    }

  private:
    void match_relu(const Node& relu) {
        const Node* before = fusions_.alone_before(relu, 0);
        if (!before) return;
        if (takes(*before, Epilogue::relu)) return fuse_relu(relu, *before, nullptr, {});
        if (!is_sum(*before)) return;
        for (const bool product : {false, true})
            for (std::size_t i = 0; i < 2; ++i) {
                const Node* first = fusions_.alone_before(*before, i);
                if (first && takes(*first, Epilogue::residual) &&
                    op(first->op).multiplies == product && !(product && graph_.training))
                    return fuse_relu(relu, *first, before, before->inputs[1 - i]);
            }
    }

    /// Into `first`, with the sum that stands between.
    void fuse_relu(const Node& relu, const Node& first, const Node* sum, ValueId residual) {
        const Backward backward = backward_of_relu(relu, first);
        const bool shared = backward.slope && !uses_.only_reader(backward.slope->outputs[0]);
        const bool both = backward.slope && (sum || !shared);
        Fusion fused = Fusions::with(first, relu);
        set_epilogue(fused.node.attributes, EpilogueForm::relu);
        if (sum) {
            fused.parts.push_back(sum);
            fused.node.inputs.push_back(residual);
            fused.node.attributes["residual"] = true;
            if (both) fused.node.attributes["mask"] = true;
        }
        const Fusion* forward = fusions_.add(std::move(fused));
        if (!forward || !both) return;
        Fusion gradient = into_backward(backward, backward.slope->inputs[0]);
        set_epilogue(gradient.node.attributes, EpilogueForm::relu);
        if (sum) {
            // Other readers of the masked gradient come after it.
            gradient.place = backward.slope;
            gradient.source = forward;
            gradient.node.attributes["mask"] = true;
            gradient.node.attributes["residual"] = shared;
            if (shared) gradient.results.push_back(backward.slope->outputs[0]);
        } else {
            gradient.node.inputs.push_back(first.inputs[2]);
        }
        fusions_.add(std::move(gradient));
    }

    Backward backward_of_relu(const Node& relu, const Node& norm) const {
        for (const NodeId id : uses_.readers(relu.outputs[0])) {
            const Node& slope = graph_.node(id);
            if (!is_relu_backward(slope) || slope.inputs[1] != relu.outputs[0]) continue;
            for (const NodeId reader : uses_.readers(slope.outputs[0]))
                if (is_backward_of(graph_.node(reader), norm, slope.outputs[0]))
                    return {&slope, &graph_.node(reader)};
        }
        return {};
    }

    /// The batch norm's backward, which reads `diff` where it read the slope's result.
    static Fusion into_backward(const Backward& backward, ValueId diff) {
        Fusion fusion{
            *backward.norm, backward.norm, {backward.norm, backward.slope}, backward.norm->outputs};
        fusion.node.inputs[1] = diff;
        return fusion;
    }

    void match_activation(const Node& norm) {
        Activation found;
        if (!takes(norm, Epilogue::expression) || !find_activation(norm, found)) return;
        Fusion fused = Fusions::with(norm, *found.node);
        write_expression(fused.node, to_postfix(found.forward));
        Fusion gradient = into_backward(found.backward, found.diff);
        gradient.node.inputs.push_back(norm.inputs[2]);
        write_expression(gradient.node, to_postfix(found.gradient));
        if (fusions_.add(std::move(fused))) fusions_.add(std::move(gradient));
    }

    bool find_activation(const Node& norm, Activation& found) const {
        if (uses_.leaves(norm.outputs[0])) return false;
        for (const NodeId reader : uses_.readers(norm.outputs[0])) {
            const Node& node = graph_.node(reader);
            const bool alone = node.inputs.size() == 1 && !expression_of(node).empty();
            if (alone && node.phase == norm.phase && !found.node)
                found.node = &node;
            else if (!found.backward.slope)
                found.backward.slope = &node;
            else
                return false;
        }
        if (!found.node) return false;
        found.forward = parse_postfix(expression_of(*found.node));
        if (depth(found.forward) > kMaximumFusedDepth) return false;
        if (!found.backward.slope) found.backward.slope = slope_by_result(norm, found);
        return found.backward.slope && read_slope(norm, found);
    }

    /// The backward of an activation that knows its slope by its result.
    const Node* slope_by_result(const Node& norm, const Activation& found) const {
        for (const NodeId reader : uses_.readers(found.node->outputs[0])) {
            const Node& node = graph_.node(reader);
            const Node* next =
                expression_of(node).empty() ? nullptr : uses_.only_reader(node.outputs[0]);
            if (next && is_backward_of(*next, norm, node.outputs[0])) return &node;
        }
        return nullptr;
    }

    /// The slope over what comes from behind and the normalised numbers.
    bool read_slope(const Node& norm, Activation& found) const {
        const Node& slope = *found.backward.slope;
        const std::string text = expression_of(slope);
        found.backward.norm = uses_.only_reader(slope.outputs[0]);
        if (text.empty() || !found.backward.norm ||
            !is_backward_of(*found.backward.norm, norm, slope.outputs[0]))
            return false;
        const Expression own = parse_postfix(text);
        const Expression normalised = Expression::input_at(1);
        std::vector<Expression> operands;
        for (std::size_t i = 0; i < slope.inputs.size(); ++i) {
            const ValueId input = slope.inputs[i];
            if (input == norm.outputs[0]) {
                operands.push_back(normalised);
            } else if (input == found.node->outputs[0]) {
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

    void match_mask(const Node& relu_backward) {
        const Node* before = fusions_.alone_before(relu_backward, 0);
        if (!before || !takes(*before, Epilogue::mask)) return;
        const ValueId mask = mask_of(*before, relu_backward.inputs[1]);
        if (!mask.valid()) return;
        Fusion fused = Fusions::with(*before, relu_backward);
        fused.node.inputs.push_back(mask);
        fused.node.attributes["mask"] = true;
        fusions_.add(std::move(fused));
    }

    /// The value that masks the gradient which the node makes where relu's result is `y`; invalid:
    /// none does. A pool's is masked by its result, the largest cell of each window, and the
    /// indices that its backward reads are its second result.
    ValueId mask_of(const Node& backward, ValueId y) const {
        if (backward.op != kPoolBackward) return y;
        const Node* pool = producer(graph_, backward.inputs[1]);
        return pool && pool->inputs[0] == y ? pool->outputs[0] : ValueId();
    }

    const Graph& graph_;
    Fusions fusions_;
    const Uses& uses_;
};

}  // namespace

/// Moves what stands behind a product or a normalisation into it, where its operator says that it
/// takes it (`OpDef::takes`): a relu, or a sum and its relu:
///
///     %c = conv2d(%x, @w)           %y = conv2d(%x, @w, %r) {epilogue=relu, residual=true}
///     %s = add(%c, %r)         ->
///     %y = relu(%s)
///
/// A convolution takes a sum in inference alone, where batch norm has been folded into it. The
/// backward of a batch norm recomputes relu's sign from what it reads anyway. With a sum the batch
/// norm keeps one bit per element instead of %y, and other readers of %d read %dr, which is the
/// same:
///
///     %d = relu_backward(%e, %y)               ->  %dx, ... = batch_norm_backward(%x, %e, %g, %m,
///     %dx, ... = batch_norm_backward(%x, %d, %g, %m, %i)           %i, @beta) {epilogue=relu}
///     or, behind a sum,                            %dx, ..., %dr = batch_norm_backward(..., %mask)
///                                                        {epilogue=relu, mask=true, residual=true}
///
/// Any other activation of one operand moves into a batch norm of training together with its
/// slope, on the CPU, where ranks do not share statistics; %z is not stored, for backward makes it
/// again:
///
///     %z, ... = batch_norm_training(%x, ...)   ->  %y, ... = batch_norm_training(%x, ...)
///     %y = silu(%z)                                    {epilogue=expression, expression=...}
///     %d = elementwise(%e, %z)                     %dx, ... = batch_norm_backward(%x, %e, ...,
///     %dx, ... = batch_norm_backward(%x, %d, ...)      @beta) {epilogue=expression, ...}
///
/// The relu's backward that is left masks the gradient where it is made:
///
///     %e = conv2d_backward_data(%d, @w)        ->  %f = conv2d_backward_data(%d, @w, %y)
///     %f = relu_backward(%e, %y)                                               {mask=true}
///
/// max_pool2d_backward is masked by the pool's *result*, of which %y must be the source: the cell
/// that a window chose is above zero exactly when the window's largest is.
///
/// After differentiate, so that backward keeps what it reads, and after fuse_batch_statistics. Must
/// not fire when a value between two of the nodes has another reader, but for %d behind a sum; the
/// forward part may fire without the backward one. fuse_convolution_activation moves the rest.
std::optional<Graph> fuse_epilogues(const Graph& graph, PassContext& context) {
    const bool shared = context.parallel.data &&
                        context.parallel.batch_statistics == plan::BatchStatistics::synchronised;
    return EpilogueFuser(graph).run(plan::traits_of(context.device).expression_epilogues &&
                                    !shared);
}

}  // namespace dtnn::compiler
