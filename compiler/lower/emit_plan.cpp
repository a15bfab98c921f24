#include "compiler/lower/emit_plan.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "compiler/lower/plan_memory.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {

namespace {

std::int64_t rounded(std::int64_t bytes) {
    return (bytes + plan::kAlignment - 1) / plan::kAlignment * plan::kAlignment;
}

// ---- What persists.

class PersistentRegion {
  public:
    explicit PersistentRegion(plan::Plan& plan) : plan_(plan) {}

    void collect(const Graph& graph) {
        for (const Parameter& parameter : graph.parameters)
            collect(graph, parameter);
        for (ValueId id : graph.inputs) {
            const Value& value = graph.value(id);
            auto [known, added] = inputs_.emplace(value.name, input_bytes_.size());
            if (added) {
                input_names_.push_back(value.name);
                input_bytes_.push_back(0);
            }
            std::int64_t& bytes = input_bytes_[known->second];
            bytes = std::max(bytes, graph.type(id).bytes());
        }
    }

    /// Lays everything out and returns where it ends; afterwards marks lead to buffers.
    std::int64_t finish() {
        const std::size_t count = plan_.parameters.size();
        std::vector<std::size_t> order(count);
        std::iota(order.begin(), order.end(), std::size_t{0});
        // The optimizer's state last: it is what a run that only evaluates does not read.
        std::stable_partition(order.begin(), order.end(),
                              [&](std::size_t i) { return !plan_.parameters[i].optimizer_state; });
        std::vector<plan::Parameter> ordered;
        ordered.reserve(count);
        buffer_of_parameter_.resize(count);
        for (const std::size_t i : order) {
            plan::Parameter& parameter = ordered.emplace_back(std::move(plan_.parameters[i]));
            std::int64_t bytes =
                plan::element_count(parameter.dims) * plan::size_of(parameter.dtype);
            auto role =
                parameter.optimizer_state ? plan::BufferRole::state : plan::BufferRole::parameter;
            parameter.buffer = add(parameter.name, role, bytes);
            (parameter.optimizer_state ? plan_.memory.optimizer : plan_.memory.parameters) +=
                rounded(bytes);
            buffer_of_parameter_[i] = parameter.buffer;
        }
        plan_.parameters = std::move(ordered);
        for (std::size_t i = 0; i < input_names_.size(); ++i) {
            buffer_of_input_.push_back(
                add(input_names_[i], plan::BufferRole::input, input_bytes_[i]));
            plan_.memory.inputs += rounded(input_bytes_[i]);
        }
        return end_;
    }

    /// Stands for the buffer of a parameter or an input until finish() has made it: less than -1.
    int mark_of(const Graph& graph, ValueId id) const {
        const Value& value = graph.value(id);
        if (value.kind == ValueKind::input)
            return -3 - 2 * static_cast<int>(inputs_.at(value.name));
        return -2 -
               2 * static_cast<int>(parameter_index_.at(graph.parameter(value.parameter).name));
    }
    int buffer_of(int mark) const {
        const auto index = static_cast<std::size_t>((-2 - mark) / 2);
        return mark % 2 == 0 ? buffer_of_parameter_[index] : buffer_of_input_[index];
    }

  private:
    void collect(const Graph& graph, const Parameter& parameter) {
        const Type& type = graph.type(parameter.value);
        auto [known, added] = parameter_index_.emplace(parameter.name, plan_.parameters.size());
        if (!added) {
            const plan::Parameter& other = plan_.parameters[known->second];
            DTNN_CHECK(other.dims == parameter.dims && other.physical_dims == type.dims &&
                           other.order == type.order && other.dtype == type.dtype,
                       "programs disagree about `{}`", parameter.name);
            return;
        }
        plan::Parameter record;
        record.name = parameter.name;
        record.role = parameter.role;
        record.trainable = parameter.trainable;
        record.optimizer_state = parameter.optimizer_state;
        record.dtype = type.dtype;
        record.dims = parameter.dims;
        record.physical_dims = type.dims;
        record.order = type.order;
        record.initializer = parameter.initializer;
        record.layer = parameter.layer.valid() ? static_cast<int>(parameter.layer.index()) : -1;
        record.place = parameter.place;
        plan_.parameters.push_back(std::move(record));
    }

    int add(const std::string& name, plan::BufferRole role, std::int64_t bytes) {
        plan::Buffer buffer;
        buffer.name = name;
        buffer.role = role;
        buffer.offset = end_;
        buffer.bytes = bytes;
        end_ += rounded(bytes);
        plan_.buffers.push_back(std::move(buffer));
        return static_cast<int>(plan_.buffers.size()) - 1;
    }

    plan::Plan& plan_;
    std::unordered_map<std::string, std::size_t> parameter_index_;  // in the order of arrival
    std::unordered_map<std::string, std::size_t> inputs_;
    std::vector<int> buffer_of_parameter_, buffer_of_input_;  // by arrival, after finish()
    std::vector<std::string> input_names_;
    std::vector<std::int64_t> input_bytes_;
    std::int64_t end_ = 0;
};

// ---- Why kernels were not chosen: few different lists, many steps.

class RefusalTable {
  public:
    explicit RefusalTable(plan::Plan& plan) : plan_(plan) {}

    int index_of(const LoweredStep& step) {
        if (!step.refusals) return -1;
        const auto [known, added] = by_list_.try_emplace(step.refusals, 0);
        if (!added) return known->second;
        std::vector<std::string> texts;
        for (const plan::Refusal& refusal : *step.refusals)
            texts.insert(texts.end(), {refusal.kernel, refusal.reason});
        const auto [equal, fresh] =
            by_text_.try_emplace(std::move(texts), static_cast<int>(plan_.refusals.size()));
        if (fresh) plan_.refusals.push_back({*step.refusals});
        return known->second = equal->second;
    }

  private:
    plan::Plan& plan_;
    std::unordered_map<std::shared_ptr<const std::vector<plan::Refusal>>, int> by_list_;
    std::map<std::vector<std::string>, int> by_text_;
};

// ---- One program.

// The program with the buffers that are its own. Their offsets count from the start of the
// transient region, their indices from the first of them, until those before them are known.
struct EmittedProgram {
    plan::Program program;
    std::vector<plan::Buffer> buffers;
};

class ProgramEmitter {
  public:
    ProgramEmitter(const LoweredProgram& lowered, const PersistentRegion& persistent,
                   RefusalTable& refusals, int index)
        : lowered_(lowered),
          graph_(lowered.graph),
          persistent_(persistent),
          refusals_(refusals),
          index_(index),
          tensor_of_(graph_.values.size(), -1) {}

    /// Makes the program; returns the bytes of its transient region.
    std::int64_t run(EmittedProgram& emitted) {
        program_.name = lowered_.name;
        program_.phase = graph_.training ? "training" : "inference";
        program_.batch = lowered_.batch;
        for (const Update& update : graph_.updates)
            if (graph_.value(update.value).kind == ValueKind::result &&
                graph_.node(graph_.value(update.value).producer).phase == Phase::update)
                updated_[update.value.index()] = graph_.value(update.state).name;
        add_storages();
        for (ValueId id : graph_.inputs)
            program_.inputs.push_back({graph_.value(id).name, tensor(id)});
        for (std::size_t s = 0; s < lowered_.steps.size(); ++s)
            add_step(static_cast<int>(s));
        for (const GraphOutput& output : graph_.outputs)
            program_.outputs.push_back({output.name, tensor(output.value)});
        Placement placement = place_blocks(blocks_);
        for (std::size_t i = 0; i < blocks_.size(); ++i)
            buffers_[i].offset = placement.offsets[i];
        emitted.program = std::move(program_);
        emitted.buffers = std::move(buffers_);
        return placement.bytes;
    }

  private:
    void add_storages() {
        buffers_.reserve(lowered_.storage.storages.size());
        for (const Storage& storage : lowered_.storage.storages) {
            if (storage.persistent) {
                buffer_of_storage_.push_back(persistent_.mark_of(graph_, storage.first));
            } else {
                buffer_of_storage_.push_back(add_buffer(graph_.value(storage.first).name,
                                                        plan::BufferRole::transient, storage.bytes,
                                                        storage.first_step, storage.last_step));
            }
        }
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
        return static_cast<int>(buffers_.size()) - 1;
    }

    int tensor(ValueId id) {
        int& known = tensor_of_[id.index()];
        if (known >= 0) return known;
        const Value& value = graph_.value(id);
        plan::Tensor record;
        record.name = value.name;
        record.buffer =
            buffer_of_storage_[static_cast<std::size_t>(lowered_.storage.of_value[id.index()])];
        const Type& type = graph_.type(id);
        record.dtype = type.dtype;
        record.dims = type.dims;
        record.order = type.order;
        known = static_cast<int>(program_.tensors.size());
        program_.tensors.push_back(std::move(record));
        return known;
    }

    std::string step_name(const Node& node) {
        std::string name = node.op;
        // An update is named after what it updates, so that its name does not depend on how many
        // come before it.
        if (auto state = updated_.find(node.outputs.front().index()); state != updated_.end())
            name = state->second + "." + node.op;
        else if (node.layer.valid())
            name = graph_.layers[node.layer.index()].name + "." + node.op;
        int& uses = uses_of_name_[name];
        ++uses;
        if (uses == 1 && names_.insert(name).second) return name;
        std::string numbered;
        do
            numbered = fmt::format("{}.{}", name, std::max(uses++, 2));
        while (!names_.insert(numbered).second);
        --uses;
        return numbered;
    }

    void add_step(int number) {
        const LoweredStep& lowered = lowered_.steps[static_cast<std::size_t>(number)];
        const Node& node = graph_.node(lowered.node);
        plan::Step step;
        step.name = step_name(node);
        step.op = lowered.op;
        step.kernel = lowered.kernel->name;
        step.refusals = refusals_.index_of(lowered);
        step.attributes = lowered.attributes;
        for (ValueId id : node.inputs)
            step.sources.push_back(tensor(id));
        for (ValueId id : node.outputs)
            step.destinations.push_back(tensor(id));
        if (lowered.workspace > 0)
            step.workspace = add_buffer(step.name + ".workspace", plan::BufferRole::workspace,
                                        lowered.workspace, number, number);
        step.flops = lowered.cost.flops;
        step.bytes = lowered.cost.bytes;
        step.layer = node.layer.valid() ? static_cast<int>(node.layer.index()) : -1;
        step.phase = name_of(node.phase);
        step.place = node.place;
        bool prologue = static_cast<int>(lowered.node.index()) < graph_.prologue;
        (prologue ? program_.prologue : program_.steps).push_back(std::move(step));
    }

    const LoweredProgram& lowered_;
    const Graph& graph_;
    const PersistentRegion& persistent_;
    RefusalTable& refusals_;
    int index_;
    plan::Program program_;
    std::vector<plan::Buffer> buffers_;
    std::vector<int> buffer_of_storage_;
    std::vector<Block> blocks_;  // by buffer
    std::vector<int> tensor_of_;
    std::unordered_map<std::size_t, std::string> updated_;  // by new value: the state's name
    std::unordered_map<std::string, int> uses_of_name_;
    std::unordered_set<std::string> names_;
};

}  // namespace

struct PlanEmitter::State {
    explicit State(plan::Plan& target) : plan(target), persistent(target), refusals(target) {}

    plan::Plan& plan;
    PersistentRegion persistent;
    RefusalTable refusals;
    std::vector<EmittedProgram> programs;
};

PlanEmitter::PlanEmitter(plan::Plan& plan) : state_(std::make_unique<State>(plan)) {}
PlanEmitter::~PlanEmitter() = default;

void PlanEmitter::add(const LoweredProgram& program) {
    state_->persistent.collect(program.graph);
    const auto index = static_cast<int>(state_->programs.size());
    EmittedProgram& emitted = state_->programs.emplace_back();
    ProgramEmitter emitter(program, state_->persistent, state_->refusals, index);
    std::int64_t& transient = state_->plan.memory.transient;
    transient = std::max(transient, emitter.run(emitted));
}

void PlanEmitter::finish() {
    plan::Plan& plan = state_->plan;
    const PersistentRegion& persistent = state_->persistent;
    const std::int64_t base = state_->persistent.finish();
    for (EmittedProgram& emitted : state_->programs) {
        const auto first = static_cast<int>(plan.buffers.size());
        for (plan::Buffer& buffer : emitted.buffers) {
            buffer.offset += base;
            plan.buffers.push_back(std::move(buffer));
        }
        emitted.buffers = {};
        for (plan::Tensor& tensor : emitted.program.tensors)
            tensor.buffer =
                tensor.buffer < -1 ? persistent.buffer_of(tensor.buffer) : first + tensor.buffer;
        for (auto* steps : {&emitted.program.prologue, &emitted.program.steps})
            for (plan::Step& step : *steps)
                if (step.workspace >= 0) step.workspace += first;
        plan.programs.push_back(std::move(emitted.program));
    }
    plan.memory.arena = base + plan.memory.transient;
}

void emit_plan(const std::vector<LoweredProgram>& programs, plan::Plan& plan) {
    PlanEmitter emitter(plan);
    for (const LoweredProgram& program : programs)
        emitter.add(program);
    emitter.finish();
}

}  // namespace dtnn::compiler
