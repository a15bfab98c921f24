#include "compiler/lower/in_place.hpp"

#include <algorithm>
#include <limits>

#include "compiler/ops/op.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {

namespace {

constexpr int kNever = -1;
constexpr int kForever = std::numeric_limits<int>::max();

class Assignment {
  public:
    Assignment(const Graph& graph, const std::vector<LoweredStep>& steps, bool in_place)
        : graph_(graph),
          steps_(steps),
          in_place_(in_place),
          last_reader_(graph.values.size(), kNever),
          exchanged_(graph.values.size()),
          state_of_(graph.values.size()),
          step_of_node_(graph.nodes.size(), kNever) {
        map_.of_value.assign(graph.values.size(), kNever);
    }

    StorageMap run() {
        find_readers();
        for (std::size_t v = 0; v < graph_.values.size(); ++v)
            if (graph_.values[v].kind != ValueKind::result) create(ValueId(v), true);
        for (const Update& update : graph_.updates) {
            DTNN_CHECK(graph_.value(update.value).kind == ValueKind::result, "`{}`",
                       graph_.value(update.value).name);
            state_of_[update.value.index()] = update.state;
        }
        for (std::size_t n = 0; n < graph_.nodes.size(); ++n)
            place_results(int(n));
        set_lives();
        return std::move(map_);
    }

  private:
    void find_readers() {
        for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
            const bool exchange = op(graph_.nodes[n].op).exchange.has_value();
            for (ValueId value : graph_.nodes[n].inputs) {
                last_reader_[value.index()] = int(n);
                if (exchange) exchanged_[value.index()] = true;
            }
        }
        for (const GraphOutput& output : graph_.outputs)
            last_reader_[output.value.index()] = kForever;
        for (std::size_t s = 0; s < steps_.size(); ++s)
            step_of_node_[steps_[s].node.index()] = int(s);
    }

    int storage_of(ValueId value) const { return map_.of_value[value.index()]; }

    void create(ValueId value, bool persistent) {
        map_.of_value[value.index()] = int(map_.storages.size());
        map_.storages.push_back({value, graph_.type(value).bytes(), persistent, kForever, kNever});
        needed_until_.push_back(last_reader_[value.index()]);
        made_at_.push_back(persistent ? kNever : int(graph_.value(value).producer.index()));
    }

    void share(ValueId value, int storage) {
        map_.of_value[value.index()] = storage;
        int& until = needed_until_[std::size_t(storage)];
        until = std::max(until, last_reader_[value.index()]);
    }

    void place_results(int n) {
        const Node& node = graph_.nodes[std::size_t(n)];
        if (op(node.op).own_part) {
            own_part(n);
            return;
        }
        if (step_of_node_[std::size_t(n)] == kNever) {
            share(node.outputs[0], storage_of(node.inputs[0]));
            return;
        }
        const OpDef& def = op(node.op);
        if (def.exchange) {
            if (def.exchange == plan::kReduceScatterWait)
                reduced_part(n);
            else if (def.exchange == plan::kAllGatherStart)
                share(node.outputs[0], storage_of(node.inputs[0]));
            else if (def.exchange == plan::kAllGatherWait)
                gathered(n);
            else
                exchange(n);
            return;
        }
        // Two results may not take the same operand's place.
        std::vector<int> taken;
        for (std::size_t o = 0; o < node.outputs.size(); ++o)
            if (ValueId state = state_of_[node.outputs[o].index()]; state.valid()) {
                overwrite_state(n, o, state);
                taken.push_back(storage_of(state));
            }
        for (std::size_t o = 0; o < node.outputs.size(); ++o) {
            ValueId result = node.outputs[o];
            if (state_of_[result.index()].valid()) continue;
            int storage = updated_part(n, o);
            if (storage == kNever && in_place_ && !exchanged_[result.index()])
                storage = dying_operand(n, o, taken);
            if (storage == kNever) {
                create(result, false);
            } else {
                share(result, storage);
                taken.push_back(storage);
            }
        }
    }

    /// The operands become one group, unless an earlier end of the exchange has made it of them.
    void exchange(int n) {
        const Node& node = graph_.nodes[std::size_t(n)];
        group_of_.resize(map_.storages.size(), kNever);
        const int known = group_of_[std::size_t(storage_of(node.inputs[0]))];
        const int group = known != kNever ? known : int(map_.groups.size());
        if (known == kNever)
            map_.groups.push_back({std::get<std::string>(node.attributes.at("collective")), {}});
        std::vector<int>& members = map_.groups[std::size_t(group)].members;
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            const int storage = storage_of(node.inputs[i]);
            const auto s = std::size_t(storage);
            if (known == kNever) {
                DTNN_CHECK(group_of_[s] == kNever, "`{}` is exchanged twice at a time",
                           graph_.value(node.inputs[i]).name);
                group_of_[s] = group;
                members.push_back(storage);
            }
            DTNN_CHECK(!map_.storages[s].persistent && needed_until_[s] <= n,
                       "{} would overwrite `{}`, which is needed afterwards", node.op,
                       graph_.value(node.inputs[i]).name);
            DTNN_CHECK(i < members.size() && members[i] == storage,
                       "the operands of {} are not those of its start", node.op);
            share(node.outputs[i], storage);
        }
        DTNN_CHECK(members.size() == node.inputs.size(), "{} has {} of {} operands", node.op,
                   node.inputs.size(), members.size());
    }

    /// The own part of what an exchange has added up: the bytes of its operands.
    void reduced_part(int n) {
        const Node& node = graph_.nodes[std::size_t(n)];
        group_of_.resize(map_.storages.size(), kNever);
        const int group = group_of_[std::size_t(storage_of(node.inputs[0]))];
        DTNN_CHECK(group != kNever && map_.groups[std::size_t(group)].part < 0,
                   "{} of `{}` without a start", node.op, graph_.value(node.inputs[0]).name);
        create(node.outputs[0], false);
        map_.groups[std::size_t(group)].part = storage_of(node.outputs[0]);
    }

    /// Parameters become a group.
    void own_part(int n) {
        const Node& node = graph_.nodes[std::size_t(n)];
        group_of_.resize(map_.storages.size(), kNever);
        StorageGroup group{std::get<std::string>(node.attributes.at("collective")), {}, -1};
        for (const ValueId input : node.inputs) {
            const auto s = std::size_t(storage_of(input));
            DTNN_CHECK(graph_.value(input).kind == ValueKind::parameter && group_of_[s] == kNever,
                       "`{}` is shared twice", graph_.value(input).name);
            group_of_[s] = int(map_.groups.size());
            group.members.push_back(int(s));
        }
        create(node.outputs[0], true);
        group.part = storage_of(node.outputs[0]);
        map_.groups.push_back(std::move(group));
    }

    bool is_part_of_parameters(int storage) const {
        return map_.storages[std::size_t(storage)].persistent &&
               std::any_of(map_.groups.begin(), map_.groups.end(),
                           [&](const StorageGroup& group) { return group.part == storage; });
    }

    /// Where the update of the own part of parameters writes: over it. Nobody reads the parameters
    /// afterwards; that is the schedule's promise.
    int updated_part(int n, std::size_t output) const {
        const Node& node = graph_.nodes[std::size_t(n)];
        if (node.phase != Phase::update) return kNever;
        for (const auto& [o, i] : in_place_of(node)) {
            if (o != int(output)) continue;
            const int storage = storage_of(node.inputs[std::size_t(i)]);
            if (is_part_of_parameters(storage)) return storage;
        }
        return kNever;
    }

    /// The parameters are whole again: each new value where the parameter is.
    void gathered(int n) {
        const Node& node = graph_.nodes[std::size_t(n)];
        DTNN_CHECK(is_part_of_parameters(storage_of(node.inputs[0])), "{} of `{}`", node.op,
                   graph_.value(node.inputs[0]).name);
        for (std::size_t o = 0; o < node.outputs.size(); ++o) {
            const ValueId parameter = node.inputs[o + 1];
            DTNN_CHECK(state_of_[node.outputs[o].index()] == parameter &&
                           last_reader_[parameter.index()] <= n,
                       "{} does not end the life of `{}`", node.op, graph_.value(parameter).name);
            share(node.outputs[o], storage_of(parameter));
        }
    }

    void overwrite_state(int n, std::size_t output, ValueId state) {
        const Node& node = graph_.nodes[std::size_t(n)];
        const std::string& name = graph_.value(state).name;
        DTNN_CHECK(last_reader_[state.index()] <= n, "`{}` is read after {} has overwritten it",
                   name, node.op);
        const std::vector<std::pair<int, int>> pairs = in_place_of(node);
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            if (storage_of(node.inputs[i]) != storage_of(state)) continue;
            bool allowed = std::find(pairs.begin(), pairs.end(), std::pair(int(output), int(i))) !=
                           pairs.end();
            DTNN_CHECK(allowed, "{} cannot write its result {} over `{}`, its operand {}", node.op,
                       output, name, i);
        }
        share(node.outputs[output], storage_of(state));
    }

    // The storage of an operand that the result may take over, or kNever.
    int dying_operand(int n, std::size_t output, const std::vector<int>& taken) const {
        const Node& node = graph_.nodes[std::size_t(n)];
        const Type& type = graph_.type(node.outputs[output]);
        for (const auto& [o, i] : in_place_of(node)) {
            if (o != int(output)) continue;
            ValueId operand = node.inputs[std::size_t(i)];
            int storage = storage_of(operand);
            auto s = std::size_t(storage);
            bool dies = !map_.storages[s].persistent && needed_until_[s] <= n;
            bool made_for_later = made_at_[s] < graph_.prologue && n >= graph_.prologue;
            bool same_size =
                map_.storages[s].bytes == type.bytes() && graph_.type(operand).order == type.order;
            // The same value twice (add(x, x)) is read element by element before it is written;
            // another view is not known to be.
            bool alone = std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId other) {
                return other == operand || storage_of(other) != storage;
            });
            bool free = std::find(taken.begin(), taken.end(), storage) == taken.end();
            if (dies && !made_for_later && same_size && alone && free) return storage;
        }
        return kNever;
    }

    void set_lives() {
        auto touch = [&](ValueId value, int step) {
            Storage& storage = map_.storages[std::size_t(storage_of(value))];
            storage.first_step = std::min(storage.first_step, step);
            storage.last_step = std::max(storage.last_step, step);
        };
        int end = int(steps_.size()) - 1;
        int prologue_end = 0;  // steps, not nodes: views take none
        for (std::size_t s = 0; s < steps_.size(); ++s) {
            const Node& node = graph_.node(steps_[s].node);
            for (ValueId value : node.inputs)
                touch(value, int(s));
            for (ValueId value : node.outputs)
                touch(value, int(s));
            if (int(steps_[s].node.index()) < graph_.prologue) prologue_end = int(s) + 1;
        }
        for (const GraphOutput& output : graph_.outputs)
            touch(output.value, end);
        for (Storage& storage : map_.storages)
            if (storage.first_step < prologue_end && storage.last_step >= prologue_end)
                storage.last_step = end;
    }

    const Graph& graph_;
    const std::vector<LoweredStep>& steps_;
    bool in_place_;
    StorageMap map_;
    std::vector<int> needed_until_;  // by storage: the last node that reads any of its values
    std::vector<int> made_at_;       // by storage: the node, or kNever for persistent ones
    std::vector<int> group_of_;      // by storage: an index into map_.groups, or kNever
    std::vector<int> last_reader_;   // by value: a node, kNever or kForever
    std::vector<bool> exchanged_;    // by value: an exchange between ranks overwrites it
    std::vector<ValueId> state_of_;  // by value: the state that it becomes, or invalid
    std::vector<int> step_of_node_;  // by node: kNever for views
};

}  // namespace

StorageMap assign_storage(const Graph& graph, const std::vector<LoweredStep>& steps,
                          bool in_place) {
    return Assignment(graph, steps, in_place).run();
}

}  // namespace dtnn::compiler
