#include "compiler/ir/verifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "compiler/ir/printer.hpp"

namespace dtnn::compiler {
namespace {

class Verifier {
  public:
    explicit Verifier(const Graph& graph) : graph_(graph) {}

    std::vector<std::string> run() {
        check_values();
        // Everything else indexes by ids; with broken ids it would read outside of the vectors.
        check_ids();
        if (!problems_.empty()) return std::move(problems_);
        check_nodes();
        check_updates();
        check_prologue();
        return std::move(problems_);
    }

  private:
    template <class... Args>
    void fail(fmt::format_string<Args...> format, Args&&... args) {
        problems_.push_back(fmt::format(format, std::forward<Args>(args)...));
    }
    bool known(ValueId id) const { return id.valid() && id.index() < graph_.values.size(); }
    Name name(ValueId id) const { return graph_.value(id).name; }

    void check_values() {
        std::vector<bool> taken(graph_.pool_names());
        for (const Value& v : graph_.values) {
            if (v.name.number() == Name::kNone) continue;
            if (taken[v.name.number()]) fail("two values are named `{}`", v.name);
            taken[v.name.number()] = true;
        }
        for (std::size_t i = 0; i < graph_.values.size(); ++i) {
            const Value& v = graph_.values[i];
            if (v.name.empty()) fail("value {} has no name", i);
            check_type(v);
            switch (v.kind) {
                case ValueKind::input:
                    break;
                case ValueKind::parameter:
                    if (!v.parameter.valid() || v.parameter.index() >= graph_.parameters.size() ||
                        graph_.parameter(v.parameter).value != ValueId(i))
                        fail("parameter value `{}` and the parameter table disagree", v.name);
                    break;
                case ValueKind::result:
                    if (!v.producer.valid() || v.producer.index() >= graph_.nodes.size()) {
                        fail("result `{}` has no producer", v.name);
                        break;
                    }
                    const auto& outputs = graph_.node(v.producer).outputs;
                    if (v.output < 0 || std::size_t(v.output) >= outputs.size() ||
                        outputs[std::size_t(v.output)] != ValueId(i))
                        fail("result `{}` is not output {} of its producer", v.name, v.output);
                    break;
            }
        }
    }

    /// Most values have a type that is known to be sound from another.
    void check_type(const Value& v) {
        if (!v.type.valid()) {
            fail("`{}` has no type", v.name);
            return;
        }
        if (sound_.size() <= v.type.number()) sound_.resize(graph_.pool_types());
        if (sound_[v.type.number()]) return;
        const std::size_t before = problems_.size();
        for (const std::int64_t d : v.type->dims)
            if (d < 1) fail("`{}` has the extent {}", v.name, d);
        check_order(v);
        if (!v.type->axes.empty() && v.type->axes.size() != v.type->dims.size())
            fail("`{}` has {} axes, of which {} are named", v.name, v.type->dims.size(),
                 v.type->axes.size());
        sound_[v.type.number()] = problems_.size() == before;
    }

    void check_order(const Value& v) {
        const Order& order = v.type->order;
        if (order.empty()) return;
        bool sound = order.size() == v.type->dims.size();
        for (std::size_t i = 0; sound && i < order.size(); ++i)
            sound = order[i] >= 0 && std::size_t(order[i]) < order.size() &&
                    std::find(order.begin(), order.begin() + std::ptrdiff_t(i), order[i]) ==
                        order.begin() + std::ptrdiff_t(i);
        if (!sound) fail("the order of `{}` is no permutation of its axes", v.name);
    }

    void check_ids() {
        std::vector<int> listed(graph_.values.size());
        for (const ValueId id : graph_.inputs) {
            if (!known(id) || graph_.value(id).kind != ValueKind::input)
                fail("an entry of the input list is not an input");
            else if (listed[id.index()]++)
                fail("input `{}` is listed twice", name(id));
        }
        for (std::size_t i = 0; i < graph_.values.size(); ++i)
            if (graph_.values[i].kind == ValueKind::input && !listed[i])
                fail("input `{}` is not in the input list", graph_.values[i].name);
        for (const Parameter& p : graph_.parameters)
            if (!known(p.value) || graph_.value(p.value).kind != ValueKind::parameter)
                fail("parameter `{}` has no value", p.name);
        for (const Node& node : graph_.nodes) {
            for (const ValueId id : node.inputs)
                if (!known(id)) fail("a node `{}` reads a value that does not exist", node.op);
            for (const ValueId id : node.outputs)
                if (!known(id)) fail("a node `{}` writes a value that does not exist", node.op);
            if (node.layer.valid() && node.layer.index() >= graph_.layers.size())
                fail("a node `{}` belongs to layer {} of {}", node.op, node.layer.index(),
                     graph_.layers.size());
        }
        std::unordered_set<std::string_view> output_names;
        for (const GraphOutput& output : graph_.outputs) {
            if (!known(output.value)) fail("output `{}` has no value", output.name);
            if (!output_names.insert(output.name).second)
                fail("two outputs are named `{}`", output.name);
        }
        for (const Update& update : graph_.updates)
            if (!known(update.state) || !known(update.value))
                fail("an update names a value that does not exist");
    }

    void check_nodes() {
        std::vector<int> producers(graph_.values.size());
        for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
            const Node& node = graph_.nodes[n];
            if (node.outputs.empty()) fail("node {} `{}` has no results", n, node.op);
            for (const ValueId id : node.inputs) {
                const Value& v = graph_.value(id);
                if (v.kind == ValueKind::result && v.producer.index() >= n)
                    fail("node {} `{}` reads `{}` before it is produced", n, node.op, v.name);
            }
            for (const ValueId id : node.outputs) {
                const Value& v = graph_.value(id);
                if (v.kind != ValueKind::result || v.producer != NodeId(n))
                    fail("node {} `{}` writes `{}`, which is not its own", n, node.op, v.name);
                if (++producers[id.index()] == 2) fail("`{}` is produced twice", v.name);
            }
        }
    }

    void check_updates() {
        std::unordered_set<std::size_t> updated;
        for (const Update& update : graph_.updates) {
            const Value& state = graph_.value(update.state);
            const Value& value = graph_.value(update.value);
            const bool kept = state.kind == ValueKind::input && plan::stays_in_place(state.role);
            if (state.kind != ValueKind::parameter && !kept) {
                fail("`{}` is updated but is no parameter", state.name);
                continue;
            }
            if (!updated.insert(update.state.index()).second)
                fail("`{}` is updated twice", state.name);
            if (state.type != value.type)
                fail("`{}` is {} but its update `{}` is {}", state.name, print(state.type),
                     value.name, print(value.type));
        }
    }

    void check_prologue() {
        if (graph_.prologue < 0 || std::size_t(graph_.prologue) > graph_.nodes.size()) {
            fail("the prologue has {} of {} nodes", graph_.prologue, graph_.nodes.size());
            return;
        }
        for (int n = 0; n < graph_.prologue; ++n)
            for (const ValueId id : graph_.nodes[std::size_t(n)].inputs)
                if (graph_.value(id).kind == ValueKind::input)
                    fail("prologue node {} reads the input `{}`", n, name(id));
    }

    const Graph& graph_;
    std::vector<bool> sound_;  // by type
    std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> verify(const Graph& graph) {
    return Verifier(graph).run();
}

}  // namespace dtnn::compiler
