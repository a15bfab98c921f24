#include "runtime/checkpoint/parameter_tensors.hpp"

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <string_view>
#include <utility>

#include "runtime/base/arrangement.hpp"

namespace dtnn::runtime {
namespace {

std::size_t byte_count(const plan::Parameter& parameter) {
    return std::size_t(element_count(parameter.dims) * size_of(parameter.dtype));
}

template <class T>
void gather(const Arrangement& arrangement, const std::byte* physical, std::byte* logical) {
    const T* from = reinterpret_cast<const T*>(physical);
    arrangement.for_each(0, arrangement.elements(), [&](std::int64_t i, std::int64_t place) {
        std::memcpy(logical + std::size_t(i) * sizeof(T), from + place, sizeof(T));
    });
}

template <class T>
void scatter(const Arrangement& arrangement, const std::byte* logical, std::byte* physical) {
    T* to = reinterpret_cast<T*>(physical);
    arrangement.for_each(0, arrangement.elements(), [&](std::int64_t i, std::int64_t place) {
        std::memcpy(to + place, logical + std::size_t(i) * sizeof(T), sizeof(T));
    });
}

}  // namespace

void ParameterTensors::add(const plan::Parameter& like, const std::byte* physical,
                           const std::string& name) {
    const Arrangement arrangement(like.physical_dims, like.order);
    std::span<const std::byte> bytes(physical, byte_count(like));
    if (!arrangement.identity()) {
        std::vector<std::byte>& logical = storage_.emplace_back(bytes.size());
        if (like.dtype == DType::f32) {
            gather<float>(arrangement, bytes.data(), logical.data());
        } else {
            gather<double>(arrangement, bytes.data(), logical.data());
        }
        bytes = logical;  // a vector's elements stay where they are when the vector is moved
    }
    tensors_.push_back({name, like.dtype, like.dims, bytes});
}

void ParameterTensors::add(const Executor& executor, std::size_t index, const std::string& name) {
    const HostView view = executor.parameter_view(index);
    const plan::Parameter& like = executor.plan().parameters[index];
    const std::byte* memory = view.bytes().data();
    if (memory != executor.parameter(index)) {
        // The tensors outlive the view.
        std::vector<std::byte>& kept =
            storage_.emplace_back(view.bytes().begin(), view.bytes().end());
        memory = kept.data();
    }
    add(like, memory, name);
}

void ParameterTensors::add(const Executor& executor, const ShardTensor& tensor) {
    const plan::Parameter& weights = executor.plan().parameters[tensor.weights];
    if (executor.plan().parameters[tensor.state].by_rank)
        add(weights, executor.shard_states().stretch(tensor.state) + weights.offset, tensor.name);
    else
        add(executor, tensor.state, tensor.name);
}

namespace {

void set_values(const plan::Parameter& like, std::span<const std::byte> logical,
                std::byte* physical) {
    const Arrangement arrangement(like.physical_dims, like.order);
    if (like.dtype == DType::f32) {
        scatter<float>(arrangement, logical.data(), physical);
    } else {
        scatter<double>(arrangement, logical.data(), physical);
    }
}

}  // namespace

void set_parameter(const Executor& executor, std::size_t index,
                   std::span<const std::byte> logical) {
    const HostView view = executor.parameter_view(index, HostView::Access::write);
    set_values(executor.plan().parameters[index], logical, view.bytes().data());
}

void set_shard_tensor(Executor& executor, const ShardTensor& tensor,
                      std::span<const std::byte> logical) {
    const plan::Parameter& weights = executor.plan().parameters[tensor.weights];
    if (executor.plan().parameters[tensor.state].by_rank)
        set_values(weights, logical,
                   executor.shard_states().stretch(tensor.state) + weights.offset);
    else
        set_parameter(executor, tensor.state, logical);
}

Dims dims_of(const plan::Plan& plan, const ShardTensor& tensor) {
    const plan::Parameter& state = plan.parameters[tensor.state];
    return state.by_rank ? plan.parameters[tensor.weights].dims : state.dims;
}

std::vector<std::optional<std::size_t>> averages_of(const plan::Plan& plan) {
    const std::string suffix = ".average";
    std::map<std::string_view, std::size_t> averages;
    for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
        const plan::Parameter& parameter = plan.parameters[i];
        if (parameter.kind != plan::ParameterKind::average || !parameter.name.ends_with(suffix))
            continue;
        std::string_view of = parameter.name;
        of.remove_suffix(suffix.size());
        averages.emplace(of, i);
    }
    std::vector<std::optional<std::size_t>> result(plan.parameters.size());
    for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
        const auto found = averages.find(plan.parameters[i].name);
        if (found != averages.end()) result[i] = found->second;
    }
    return result;
}

ParameterTensors evaluated_tensors(const Executor& executor) {
    const plan::Plan& plan = executor.plan();
    const auto averages = averages_of(plan);
    ParameterTensors tensors;
    for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
        if (plan.parameters[i].optimizer_state) continue;
        tensors.add(executor, averages[i].value_or(i), plan.parameters[i].name);
    }
    return tensors;
}

void begin_averages(const Executor& executor) {
    const auto averages = averages_of(executor.plan());
    for (std::size_t i = 0; i < averages.size(); ++i) {
        if (!averages[i]) continue;
        ParameterTensors value;
        value.add(executor, i, "");
        set_parameter(executor, *averages[i], value.all().front().bytes);
    }
}

std::string describe_tensor(DType dtype, const Dims& dims) {
    return fmt::format("{} [{}]", plan::name_of(dtype), fmt::join(dims, ","));
}

}  // namespace dtnn::runtime
