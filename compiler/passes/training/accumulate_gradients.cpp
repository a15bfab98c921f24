#include <utility>

#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/optimizer_graph.hpp"

namespace dtnn::compiler {
namespace {

constexpr const char* kRole = "gradient_sum";

class Accumulator {
  public:
    Accumulator(const Graph& graph, bool takes) : r_(graph), takes_(takes) {
        for (const Node& node : graph.nodes)
            r_.copy(node);
    }

    std::optional<Graph> run() {
        std::vector<GraphOutput> outputs;
        const std::vector<Gradient> gradients = gradients_of(r_, outputs);
        if (gradients.empty() || has_parameter(r_.old(), gradients[0].parameter.name + "." + kRole))
            return std::nullopt;
        for (const GraphOutput& output : outputs)
            if (output.name == kBatchShare)
                add_up(share_sum(), output.value, kBatchShare, "share");
            else
                outputs_.push_back(output);
        for (const auto& [parameter, gradient] : gradients)
            add_up(state_beside(parameter, kRole, plan::ParameterKind::gradient_sum), gradient,
                   gradient_output(parameter.name), parameter.name + ".gradient");
        Graph result = r_.take();
        result.outputs = std::move(outputs_);
        result.updates.insert(result.updates.end(), updates_.begin(), updates_.end());
        return result;
    }

  private:
    /// The sum of the batches' shares.
    static Parameter share_sum() {
        Parameter sum;
        sum.name = std::string("share.") + kRole;
        sum.role = kRole;
        sum.kind = plan::ParameterKind::gradient_sum;
        sum.optimizer_state = true;
        sum.dims = {1};
        return sum;
    }

    void add_up(const Parameter& state, ValueId value, const std::string& output,
                const std::string& total) {
        const ValueId sum = r_.add_parameter(state, r_.graph().type(value));
        Node node;
        node.op = takes_ ? "take_gradient_sum" : "accumulate_gradient";
        node.inputs = {sum, value};
        node.phase = Phase::update;
        node.place = state.place;
        const std::size_t role = state.name.size() - std::string_view(kRole).size();
        const ValueList results =
            emit(r_, std::move(node), state.name.substr(0, role) + "new_" + kRole, total);
        updates_.push_back({sum, results[0]});
        if (takes_) outputs_.push_back({output, results[1]});
    }

    Rewriter r_;
    bool takes_;  ///< the sums, for an update
    std::vector<GraphOutput> outputs_;
    std::vector<Update> updates_;
};

}  // namespace

/// With accumulation, adds up gradients over batches in parameters "w.gradient_sum". Backward has
/// begun with each batch's share of the update (differentiate), so the total is the gradient of the
/// mean over all samples, whatever the batches' sizes. Shares by the weights of labels are added up
/// alike, in "share.gradient_sum".
///
///     a batch whose gradients a later update takes (context.accumulate):
///     return "gradient of w"=%g  ->  %s = accumulate_gradient(@w.gradient_sum, %g)
///                                    update @w.gradient_sum = %s
///
///     the last batch of an update:
///     return "gradient of w"=%g  ->  %s, %t = take_gradient_sum(@w.gradient_sum, %g)
///                                    update @w.gradient_sum = %s     (zeros)
///                                    return "gradient of w"=%t
///
/// After differentiate. Must not fire without accumulation.
std::optional<Graph> accumulate_gradients(const Graph& graph, PassContext& context) {
    if (context.training.accumulation < 2) return std::nullopt;
    return Accumulator(graph, !context.accumulate).run();
}

}  // namespace dtnn::compiler
