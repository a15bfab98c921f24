#include <fmt/format.h>

#include <string>

#include "compiler/ops/axis.hpp"
#include "compiler/ops/op.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/rewriting.hpp"

namespace dtnn::compiler {
namespace {

class StateCarrier {
  public:
    StateCarrier(const Graph& graph, const PassContext& context)
        : r_(graph), evaluates_(context.program == plan::ProgramKind::evaluate) {}

    std::optional<Graph> run() {
        for (const Node& node : r_.old().nodes) {
            const OpDef& def = op(node.op);
            if (def.carries.empty() || flag(node.attributes, kCarried))
                r_.copy(node);
            else
                carry(node, def);
        }
        if (updates_.empty()) return std::nullopt;
        Graph result = r_.take();
        result.updates.insert(result.updates.end(), updates_.begin(), updates_.end());
        return result;
    }

  private:
    void carry(const Node& node, const OpDef& def) {
        const std::string name = r_.old().value(node.outputs[0]).name;
        Node changed = r_.mapped(node);
        changed.attributes[kCarried] = true;
        // Where it ends may be among what else only backward reads.
        if (!def.kept_for_backward.empty() && def.carries.back().result >= node.outputs.size())
            changed.attributes[std::string(def.kept_for_backward)] = true;
        Type type = r_.old().type(node.outputs[0]);
        const std::int64_t steps = type.dims[1];
        type.dims[1] = 1;
        ValueList states;
        for (const OpDef::State& state : def.carries) {
            states.push_back(r_.graph().add_input(
                fmt::format("{}.{}_{}", name, evaluates_ ? "evaluated" : "carried", state.operand),
                type, plan::InputRole::carried_state));
            changed.inputs.push_back(states[states.size() - 1]);
        }
        const ValueList results = emit(r_, std::move(changed), name);
        for (std::size_t i = 0; i < node.outputs.size(); ++i)
            r_.replace(node.outputs[i], results[i]);
        for (std::size_t i = 0; i < states.size(); ++i) {
            // No gradient goes through it: nothing of this batch reads it.
            Node last;
            last.op = "slice";
            last.inputs = {results[def.carries[i].result]};
            last.attributes = {{"begin", steps - 1}, {"end", steps}};
            write_axis(last.attributes, 1);
            last.phase = Phase::update;
            last.layer = node.layer;
            last.place = node.place;
            updates_.push_back(
                {states[i], emit(r_, std::move(last),
                                 fmt::format("{}.next_{}", name, def.carries[i].operand))[0]});
        }
    }

    Rewriter r_;
    bool evaluates_;
    std::vector<Update> updates_;
};

}  // namespace

/// With `carry_state`, lets recurrent layers begin with the state in which the batch before ended:
/// an input that the graph overwrites. Evaluation has states of its own.
///
///     %y = lstm_steps(%x, @w)   ->   %y = lstm_steps(%x, @w, %y.carried_state, ...), carried
///                                    %y.next_state = slice(%y)             ; update, the last step
///                                    %y.next_cells_before = slice(%y.cells)
///                                    update %y.carried_state = %y.next_state
///                                    update %y.carried_cells_before = %y.next_cells_before
///
/// After specialise_phase, which asks for the results that backward reads, and before
/// differentiate, for which a state is an input: no gradient leaves a batch. Must not fire on what
/// begins with a state already. Layers that go from the last step to the first are refused by the
/// front end.
std::optional<Graph> carry_state(const Graph& graph, PassContext& context) {
    if (!context.training.carry_state) return std::nullopt;
    return StateCarrier(graph, context).run();
}

}  // namespace dtnn::compiler
