#include "compiler/lower/emit_program.hpp"

#include <algorithm>
#include <limits>

#include "base/tensor/members.hpp"
#include "compiler/lower/executed_layers.hpp"
#include "compiler/lower/plan_memory.hpp"
#include "compiler/ops/op.hpp"
#include "compiler/support/check.hpp"
#include "plan/name_index.hpp"
#include "plan/rules/compression.hpp"

namespace dtnn::compiler {

namespace {

using plan::ProgramKind;

class ProgramEmitter {
  public:
    ProgramEmitter(LoweredProgram& lowered, const PersistentRegion& persistent,
                   RefusalTable& refusals, int index, int ranks, const plan::Parallel& parallel)
        : lowered_(lowered),
          graph_(lowered.graph),
          persistent_(persistent),
          refusals_(refusals),
          index_(index),
          ranks_(ranks),
          parallel_(parallel),
          step_names_(lowered.steps.size()),
          state_of_(graph_.values.size()),
          tensor_of_(graph_.values.size(), -1) {}

    /// Makes the program; returns the bytes of its transient region.
    std::int64_t run(EmittedProgram& emitted) {
        program_.name = lowered_.name;
        program_.kind = lowered_.kind;
        program_.phase =
            graph_.training ? plan::ProgramPhase::training : plan::ProgramPhase::inference;
        program_.batch = lowered_.batch;
        for (const Update& update : graph_.updates)
            if (graph_.value(update.value).kind == ValueKind::result &&
                graph_.node(graph_.value(update.value).producer).phase == Phase::update)
                state_of_[update.value.index()] = update.state;
        find_exchanged_parameters();
        emitted.shards = shards();
        make_room();
        add_storages();
        for (ValueId id : graph_.inputs) {
            const Value& input = graph_.value(id);
            program_.inputs.push_back({input.role, input.output, tensor(id)});
        }
        for (std::size_t s = 0; s < lowered_.steps.size(); ++s)
            add_step(int(s));
        for (const GraphOutput& output : graph_.outputs)
            program_.outputs.push_back({output.name, tensor(output.value)});
        note_executed_layers(graph_.layers, program_);
        Placement placement = place_blocks(blocks_);
        for (std::size_t i = 0; i < blocks_.size(); ++i)
            buffers_[i].offset = placement.offsets[i];
        emitted.program = std::move(program_);
        emitted.buffers = std::move(buffers_);
        return placement.bytes;
    }

  private:
    void make_room() {
        const auto count = [](const auto& list, const auto& wanted) {
            return std::size_t(std::count_if(list.begin(), list.end(), wanted));
        };
        const StorageMap& storage = lowered_.storage;
        program_.tensors.reserve(count(storage.of_value, [](int s) { return s >= 0; }));
        const std::size_t buffers =
            count(storage.storages, [](const Storage& s) { return !s.persistent; }) +
            count(lowered_.steps, [](const LoweredStep& step) { return step.workspace > 0; });
        buffers_.reserve(buffers);
        blocks_.reserve(buffers);
        buffer_of_storage_.reserve(storage.storages.size());
        const std::size_t prologue =
            count(lowered_.steps, [&](const LoweredStep& step) { return in_prologue(step); });
        program_.prologue.reserve(prologue);
        program_.steps.reserve(lowered_.steps.size() - prologue);
        uses_.reserve(lowered_.steps.size());
    }

    void add_storages() {
        const StorageMap& map = lowered_.storage;
        std::vector<int> group_of(map.storages.size(), -1);
        by_rank_.assign(map.storages.size(), false);
        for (std::size_t g = 0; g < map.groups.size(); ++g) {
            for (const int member : map.groups[g].members)
                group_of[std::size_t(member)] = int(g);
            if (const int part = map.groups[g].part; part >= 0) {
                group_of[std::size_t(part)] = int(g);
                by_rank_[std::size_t(part)] = true;
            }
        }
        offset_of_storage_.resize(map.storages.size());
        std::vector<int> buffer_of_group(map.groups.size(), -1);
        for (std::size_t s = 0; s < map.storages.size(); ++s) {
            const Storage& storage = map.storages[s];
            if (storage.persistent && by_rank_[s]) {
                // The first parameter is at the start of the buffer.
                const int first = map.groups[std::size_t(group_of[s])].members.front();
                buffer_of_storage_.push_back(
                    persistent_.mark_of(graph_, map.storages[std::size_t(first)].first));
            } else if (storage.persistent) {
                buffer_of_storage_.push_back(persistent_.mark_of(graph_, storage.first));
            } else if (group_of[s] < 0) {
                buffer_of_storage_.push_back(add_buffer(graph_.value(storage.first).name,
                                                        plan::BufferRole::transient, storage.bytes,
                                                        storage.first_step, storage.last_step));
            } else {
                const auto g = std::size_t(group_of[s]);
                if (buffer_of_group[g] < 0) buffer_of_group[g] = add_group(map.groups[g]);
                buffer_of_storage_.push_back(buffer_of_group[g]);
            }
        }
    }

    // One buffer for all members, which notes where in it each of them begins.
    int add_group(const StorageGroup& group) {
        std::int64_t bytes = 0;
        int first = std::numeric_limits<int>::max(), last = 0;
        for (const int member : group.members) {
            const auto s = std::size_t(member);
            const Storage& storage = lowered_.storage.storages[s];
            offset_of_storage_[s] = rounded(bytes);
            bytes = offset_of_storage_[s] + storage.bytes;
            first = std::min(first, storage.first_step);
            last = std::max(last, storage.last_step);
        }
        if (group.part >= 0) {
            const Storage& part = lowered_.storage.storages[std::size_t(group.part)];
            DTNN_CHECK(bytes <= part.bytes * ranks_, "{} parts of {} bytes are fewer than {}",
                       ranks_, part.bytes, bytes);
            bytes = part.bytes * ranks_;
            first = std::min(first, part.first_step);
            last = std::max(last, part.last_step);
        }
        return add_buffer(group.name + ".bucket", plan::BufferRole::transient, bytes, first, last);
    }

    int add_buffer(std::string name, plan::BufferRole role, std::int64_t bytes, int first,
                   int last) {
        plan::Buffer buffer;
        buffer.name = std::move(name);
        buffer.role = role;
        buffer.bytes = bytes;
        buffer.program = index_;
        buffer.first_step = first;
        buffer.last_step = last;
        buffers_.push_back(std::move(buffer));
        blocks_.push_back({bytes, first, last});
        return int(buffers_.size()) - 1;
    }

    int tensor(ValueId id) {
        int& known = tensor_of_[id.index()];
        if (known >= 0) return known;
        Value& value = graph_.value(id);
        plan::Tensor record;
        record.name = value.name;
        record.buffer = buffer_of_storage_[std::size_t(lowered_.storage.of_value[id.index()])];
        record.offset = offset_of_storage_[std::size_t(lowered_.storage.of_value[id.index()])];
        const Type& type = graph_.type(id);
        record.dtype = type.dtype;
        record.dims = type.dims;
        record.order = type.order;
        record.by_rank = by_rank_[std::size_t(lowered_.storage.of_value[id.index()])];
        known = int(program_.tensors.size());
        program_.tensors.push_back(std::move(record));
        return known;
    }

    const std::string& value_name(ValueId id) const {
        const int known = tensor_of_[id.index()];
        return known < 0 ? graph_.value(id).name : program_.tensors[std::size_t(known)].name;
    }

    bool in_prologue(const LoweredStep& step) const {
        return int(step.node.index()) < graph_.prologue;
    }

    // A step that is there already, by its number; those of the prologue come first.
    const plan::Step& step_at(std::size_t number) const {
        const std::size_t prologue = program_.prologue.size();
        return number < prologue ? program_.prologue[number] : program_.steps[number - prologue];
    }

    // The group of parameters whose own part the node writes, or -1.
    int updated_group(const Node& node) const {
        const int storage = lowered_.storage.of_value[node.outputs.front().index()];
        if (storage < 0 || !by_rank_[std::size_t(storage)]) return -1;
        const auto& groups = lowered_.storage.groups;
        return int(std::find_if(groups.begin(), groups.end(),
                                [&](const StorageGroup& group) { return group.part == storage; }) -
                   groups.begin());
    }

    std::string step_name(const Node& node) {
        std::string name;
        // An update is named after what it updates, so that its name does not depend on how many
        // come before it; an end of an exchange after the exchange. One of several is "all".
        if (op(node.op).exchange)
            name.append(std::get<std::string>(node.attributes.at("collective"))).append(1, '.');
        else if (member_count(node.attributes) > 1)
            name.append("all.");
        else if (const ValueId state = state_of_[node.outputs.front().index()]; state.valid())
            name.append(value_name(state)).append(1, '.');
        else if (const int group = updated_group(node); group >= 0)
            name.append(lowered_.storage.groups[std::size_t(group)].name).append(1, '.');
        else if (node.layer.valid())
            name.append(graph_.layers[node.layer.index()].name).append(1, '.');
        name += node.op;
        const auto number = std::uint32_t(uses_.size());
        const auto name_of_step = [&](std::uint32_t n) -> const std::string& {
            return step_at(n).name;
        };
        const std::uint32_t first = step_names_.find_or_add(name, number, name_of_step);
        uses_.push_back(first == number ? 1 : 0);
        if (first == number) return name;
        std::string numbered;
        do
            numbered = fmt::format("{}.{}", name, std::max(++uses_[first], 2));
        while (step_names_.find_or_add(numbered, number, name_of_step) != number);
        return numbered;
    }

    void add_step(int number) {
        LoweredStep& lowered = lowered_.steps[std::size_t(number)];
        const Node& node = graph_.node(lowered.node);
        plan::Step step;
        step.name = step_name(node);
        step.op = std::move(lowered.op);
        step.kernel = lowered.kernel->name;
        step.kernel_class = lowered.kernel_class;
        step.refusals = refusals_.index_of(lowered);
        step.attributes = std::move(lowered.attributes);
        step.sources.reserve(node.inputs.size());
        for (ValueId id : node.inputs) {
            step.sources.push_back(tensor(id));
            // The parameters behind it stand for where its results go.
            if (op(node.op).exchange == plan::kAllGatherWait) break;
        }
        step.destinations.reserve(node.outputs.size());
        for (ValueId id : node.outputs)
            step.destinations.push_back(tensor(id));
        if (lowered.workspace > 0)
            step.workspace = add_buffer(step.name + ".workspace", plan::BufferRole::workspace,
                                        lowered.workspace, number, number);
        step.flops = lowered.cost.flops;
        step.bytes = lowered.cost.bytes;
        step.layer = node.layer.valid() ? int(node.layer.index()) : -1;
        step.phase = node.phase;
        step.place = node.place;
        if (op(node.op).exchange) add_end_of_exchange(node, step);
        (in_prologue(lowered) ? program_.prologue : program_.steps).push_back(std::move(step));
    }

    // By the value that an exchange ends with: the parameter whose gradient it is, as a mark.
    void find_exchanged_parameters() {
        for (const Update& update : graph_.updates) {
            const Value& state = graph_.value(update.state);
            const Value& result = graph_.value(update.value);
            if (result.kind != ValueKind::result || state.kind != ValueKind::parameter) continue;
            // Other exchanges end in statistics, but in the program that averages them.
            if (!graph_.parameter(state.parameter).trainable &&
                program_.kind != ProgramKind::synchronise)
                continue;
            const Node& node = graph_.node(result.producer);
            const auto members = std::size_t(member_count(node.attributes));
            const auto place =
                std::size_t(std::find(node.outputs.begin(), node.outputs.end(), update.value) -
                            node.outputs.begin());
            const std::size_t member = place * members / node.outputs.size();
            const std::vector<ValueId> inputs(node.inputs.begin(), node.inputs.end());
            for (const ValueId input : of_member(inputs, member, members)) {
                const Value& operand = graph_.value(input);
                if (operand.kind == ValueKind::result &&
                    op(graph_.node(operand.producer).op).exchange)
                    parameter_of_gradient_[input.index()] =
                        persistent_.mark_of(graph_, update.state);
            }
        }
    }

    // The shards that own_part makes, with the updates that read them.
    std::vector<EmittedShard> shards() {
        std::vector<EmittedShard> found;
        std::unordered_map<std::size_t, std::size_t> shard_of;  // by value: the own part
        for (const Node& node : graph_.nodes) {
            if (op(node.op).own_part) {
                shard_of[node.outputs[0].index()] = found.size();
                EmittedShard& shard = found.emplace_back();
                shard.buffer = std::get<std::string>(node.attributes.at("collective"));
                const Type& type = graph_.type(node.outputs[0]);
                shard.part = type.elements();
                shard.part_bytes = type.bytes();
                for (const ValueId input : node.inputs)
                    shard.parameters.push_back(persistent_.mark_of(graph_, input));
            }
            const auto known =
                node.inputs.empty() ? shard_of.end() : shard_of.find(node.inputs[0].index());
            if (known == shard_of.end() || node.phase != Phase::update) continue;
            EmittedShard& shard = found[known->second];
            const Node& wait = graph_.node(graph_.value(node.inputs[1]).producer);
            shard.name = std::get<std::string>(wait.attributes.at("collective"));
            for (std::size_t i = 2; i < node.inputs.size(); ++i)
                if (const Value& operand = graph_.value(node.inputs[i]);
                    operand.kind == ValueKind::parameter)
                    shard.states.push_back(persistent_.mark_of(graph_, node.inputs[i]));
            reduced_by_[shard.name] = shard;
        }
        return found;
    }

    // The start makes the collective, the wait of the same name ends it.
    void add_end_of_exchange(const Node& node, plan::Step& step) {
        DTNN_CHECK(!in_prologue_node(node), "{} in the prologue", node.op);
        const std::string name = std::get<std::string>(node.attributes.at("collective"));
        const auto number = int(program_.steps.size());
        auto known = std::find_if(program_.collectives.begin(), program_.collectives.end(),
                                  [&](const plan::Collective& c) { return c.name == name; });
        const plan::ExchangeEnd end = *op(node.op).exchange;
        if (end.end == plan::End::start) {
            DTNN_CHECK(known == program_.collectives.end(), "two exchanges are named {}", name);
            plan::Collective& collective = program_.collectives.emplace_back();
            collective.name = name;
            collective.kind = end.kind;
            const plan::Tensor& first = program_.tensors[std::size_t(step.sources.front())];
            const plan::Tensor& last = program_.tensors[std::size_t(step.sources.back())];
            collective.buffer = first.buffer;
            collective.offset = first.offset;
            collective.bytes =
                last.offset - first.offset + element_count(last.dims) * size_of(last.dtype);
            // Parts are exchanged all together.
            if (first.by_rank) collective.bytes *= ranks_;
            if (const auto shard = reduced_by_.find(name); shard != reduced_by_.end()) {
                collective.bytes = shard->second.part_bytes * ranks_;
                collective.parameters = shard->second.parameters;
            }
            collective.dtype = first.dtype;
            collective.start = number;
            known = std::prev(program_.collectives.end());
        } else {
            DTNN_CHECK(known != program_.collectives.end() && known->wait < 0,
                       "{} of {} without a start", node.op, name);
            known->wait = number;
            for (const ValueId output : node.outputs)
                if (const auto parameter = parameter_of_gradient_.find(output.index());
                    parameter != parameter_of_gradient_.end())
                    known->parameters.push_back(parameter->second);
            if (!known->parameters.empty() && parallel_.compression != plan::Compression::full)
                send_in_fewer_bytes(*known);
        }
        step.attributes = {{"collective", std::int64_t{known - program_.collectives.begin()}}};
    }

    // The gradients' exchange is whole: it gets the memory for their other form.
    void send_in_fewer_bytes(plan::Collective& collective) {
        collective.compression = parallel_.compression;
        if (collective.compression == plan::Compression::top_k)
            collective.density = parallel_.density;
        const std::int64_t elements = collective.bytes / size_of(collective.dtype);
        const auto prologue = int(program_.prologue.size());
        collective.scratch = add_buffer(
            collective.name + ".scratch", plan::BufferRole::transient,
            plan::compression_scratch_bytes(collective.compression, elements, collective.density),
            prologue + collective.start, prologue + collective.wait);
    }

    bool in_prologue_node(const Node& node) const {
        return int(graph_.value(node.outputs.front()).producer.index()) < graph_.prologue;
    }

    LoweredProgram& lowered_;
    Graph& graph_;
    const PersistentRegion& persistent_;
    RefusalTable& refusals_;
    int index_;
    int ranks_;
    const plan::Parallel& parallel_;
    std::vector<bool> by_rank_;                                 // by storage: of each rank's part
    std::unordered_map<std::string, EmittedShard> reduced_by_;  // by exchange of its gradients
    plan::Program program_;
    std::vector<plan::Buffer> buffers_;
    std::vector<int> buffer_of_storage_;
    std::vector<std::int64_t> offset_of_storage_;  // in its buffer
    std::unordered_map<std::size_t, int> parameter_of_gradient_;
    std::vector<Block> blocks_;      // by buffer
    plan::NameIndex step_names_;     // by number of the step, the prologue's first
    std::vector<int> uses_;          // by step: how often its name was wanted; 0: as a numbered one
    std::vector<ValueId> state_of_;  // by new value that an update makes: the state, or invalid
    std::vector<int> tensor_of_;
};

}  // namespace

std::int64_t emit_program(LoweredProgram& lowered, const PersistentRegion& persistent,
                          RefusalTable& refusals, int index, int ranks,
                          const plan::Parallel& parallel, EmittedProgram& emitted) {
    return ProgramEmitter(lowered, persistent, refusals, index, ranks, parallel).run(emitted);
}

}  // namespace dtnn::compiler
