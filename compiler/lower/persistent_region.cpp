#include "compiler/lower/persistent_region.hpp"

#include <algorithm>
#include <numeric>

#include "compiler/lower/plan_memory.hpp"
#include "compiler/support/check.hpp"
#include "plan/rules/compression.hpp"

namespace dtnn::compiler {

namespace {

plan::BufferRole buffer_role_of(plan::InputRole role) {
    if (role == plan::InputRole::kept_steps) return plan::BufferRole::kept;
    if (role == plan::InputRole::carried_state) return plan::BufferRole::carried;
    return plan::BufferRole::input;
}

}  // namespace

void PersistentRegion::collect(const Graph& graph) {
    mark_of_parameter_.clear();
    mark_of_parameter_.reserve(graph.parameters.size());
    plan_.parameters.reserve(graph.parameters.size());
    for (const Parameter& parameter : graph.parameters)
        mark_of_parameter_.push_back(-2 - 2 * collect(graph, parameter));
    for (ValueId id : graph.inputs) {
        const Value& value = graph.value(id);
        auto [known, added] = inputs_.emplace(value.name, input_bytes_.size());
        if (added) {
            input_names_.push_back(value.name);
            input_bytes_.push_back(0);
            input_roles_.push_back(buffer_role_of(value.role));
        }
        std::int64_t& bytes = input_bytes_[known->second];
        bytes = std::max(bytes, graph.type(id).bytes());
    }
}

void PersistentRegion::share_buffer(const std::string& name, const std::vector<int>& marks,
                                    std::int64_t bytes) {
    SharedBuffer wanted{name, {}, bytes, -1};
    for (const int mark : marks)
        wanted.parameters.push_back(std::size_t((-2 - mark) / 2));
    const auto known = std::find_if(shared_.begin(), shared_.end(),
                                    [&](const SharedBuffer& one) { return one.name == name; });
    if (known != shared_.end()) {
        DTNN_CHECK(known->parameters == wanted.parameters && known->bytes == bytes,
                   "programs disagree about `{}`", name);
        return;
    }
    shared_of_parameter_.resize(plan_.parameters.size(), -1);
    offset_of_parameter_.resize(plan_.parameters.size());
    std::int64_t end = 0;
    for (const std::size_t i : wanted.parameters) {
        const plan::Parameter& parameter = plan_.parameters[i];
        DTNN_CHECK(shared_of_parameter_[i] < 0, "`{}` is in two buffers", parameter.name);
        shared_of_parameter_[i] = int(shared_.size());
        offset_of_parameter_[i] = rounded(end);
        end = rounded(end) + element_count(parameter.dims) * size_of(parameter.dtype);
    }
    DTNN_CHECK(end <= bytes, "`{}` of {} bytes has parameters of {}", name, bytes, end);
    shared_.push_back(std::move(wanted));
}

int PersistentRegion::residual_of(const std::string& exchange, std::int64_t elements) {
    plan::Parameter record;
    record.name = exchange + ".residual";
    record.role = "residual";
    record.kind = plan::ParameterKind::residual;
    record.optimizer_state = true;
    record.by_rank = true;
    record.dims = record.physical_dims = {elements};
    const auto next = std::uint32_t(plan_.parameters.size());
    const std::uint32_t known = parameter_index_.find_or_add(
        record.name, next,
        [&](std::uint32_t i) -> const std::string& { return plan_.parameters[i].name; });
    if (known == next)
        plan_.parameters.push_back(std::move(record));
    else
        DTNN_CHECK(plan_.parameters[known].dims == record.dims, "programs disagree about `{}`",
                   record.name);
    return -2 - 2 * int(known);
}

std::int64_t PersistentRegion::finish() {
    const std::size_t count = plan_.parameters.size();
    shared_of_parameter_.resize(count, -1);
    offset_of_parameter_.resize(count);
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    // The optimizer's state last: it is what a run that only evaluates does not read.
    std::stable_partition(order.begin(), order.end(),
                          [&](std::size_t i) { return !plan_.parameters[i].optimizer_state; });
    std::vector<plan::Parameter> ordered;
    ordered.reserve(count);
    buffer_of_parameter_.resize(count);
    place_of_parameter_.resize(count);
    for (const std::size_t i : order) {
        place_of_parameter_[i] = int(ordered.size());
        plan::Parameter& parameter = ordered.emplace_back(std::move(plan_.parameters[i]));
        std::int64_t bytes = element_count(parameter.dims) * size_of(parameter.dtype);
        auto role =
            parameter.optimizer_state ? plan::BufferRole::state : plan::BufferRole::parameter;
        SharedBuffer* shared =
            shared_of_parameter_[i] < 0 ? nullptr : &shared_[std::size_t(shared_of_parameter_[i])];
        if (!shared || shared->buffer < 0) {
            if (shared) bytes = shared->bytes;
            parameter.buffer = add(shared ? shared->name : parameter.name, role, bytes);
            (parameter.optimizer_state ? plan_.memory.optimizer : plan_.memory.parameters) +=
                rounded(bytes);
        }
        if (shared) {
            if (shared->buffer < 0) shared->buffer = parameter.buffer;
            parameter.buffer = shared->buffer;
            parameter.offset = offset_of_parameter_[i];
        }
        buffer_of_parameter_[i] = parameter.buffer;
    }
    plan_.parameters = std::move(ordered);
    buffer_of_input_.resize(input_names_.size());
    place_inputs(plan::BufferRole::input);
    if (plan::has_own_memory(plan_.target) && plan_.memory.inputs > 0) {
        const std::int64_t bytes = plan_.memory.inputs;
        add("inputs_ahead", plan::BufferRole::ahead, bytes);
        plan_.memory.inputs += bytes;
    }
    place_inputs(plan::BufferRole::kept);
    place_inputs(plan::BufferRole::carried);
    return end_;
}

void PersistentRegion::place_inputs(plan::BufferRole role) {
    for (std::size_t i = 0; i < input_names_.size(); ++i) {
        if (input_roles_[i] != role) continue;
        buffer_of_input_[i] = add(input_names_[i], role, input_bytes_[i]);
        plan_.memory.inputs += rounded(input_bytes_[i]);
    }
}

int PersistentRegion::mark_of(const Graph& graph, ValueId id) const {
    const Value& value = graph.value(id);
    if (value.kind == ValueKind::input) return -3 - 2 * int(inputs_.at(value.name));
    return mark_of_parameter_[value.parameter.index()];
}

int PersistentRegion::parameter_of(int mark) const {
    return place_of_parameter_[std::size_t((-2 - mark) / 2)];
}

int PersistentRegion::buffer_of(int mark) const {
    const auto index = std::size_t((-2 - mark) / 2);
    return mark % 2 == 0 ? buffer_of_parameter_[index] : buffer_of_input_[index];
}

std::int64_t PersistentRegion::offset_of(int mark) const {
    return mark % 2 == 0 ? offset_of_parameter_[std::size_t((-2 - mark) / 2)] : 0;
}

int PersistentRegion::collect(const Graph& graph, const Parameter& parameter) {
    const Type& type = graph.type(parameter.value);
    const auto next = std::uint32_t(plan_.parameters.size());
    const std::uint32_t known = parameter_index_.find_or_add(
        parameter.name, next,
        [&](std::uint32_t i) -> const std::string& { return plan_.parameters[i].name; });
    if (known != next) {
        const plan::Parameter& other = plan_.parameters[known];
        DTNN_CHECK(other.dims == parameter.dims && other.physical_dims == type.dims &&
                       other.order == type.order && other.dtype == type.dtype &&
                       other.by_rank == parameter.by_rank,
                   "programs disagree about `{}`", parameter.name);
        return int(known);
    }
    plan::Parameter record;
    record.name = parameter.name;
    record.role = parameter.role;
    record.kind = parameter.kind;
    record.trainable = parameter.trainable;
    record.optimizer_state = parameter.optimizer_state;
    record.by_rank = parameter.by_rank;
    record.dtype = type.dtype;
    record.dims = parameter.dims;
    record.physical_dims = type.dims;
    record.order = type.order;
    record.initializer = parameter.initializer;
    record.layer = parameter.layer.valid() ? int(parameter.layer.index()) : -1;
    record.place = parameter.place;
    plan_.parameters.push_back(std::move(record));
    return int(next);
}

int PersistentRegion::add(const std::string& name, plan::BufferRole role, std::int64_t bytes) {
    plan::Buffer buffer;
    buffer.name = name;
    buffer.role = role;
    buffer.offset = end_;
    buffer.bytes = bytes;
    end_ += rounded(bytes);
    plan_.buffers.push_back(std::move(buffer));
    return int(plan_.buffers.size()) - 1;
}

}  // namespace dtnn::compiler
