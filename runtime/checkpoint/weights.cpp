#include "runtime/checkpoint/weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/base/arrangement.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/checkpoint/safetensors.hpp"
#include "runtime/exec/executor.hpp"

namespace dtnn::runtime {
namespace {

std::size_t byte_count(const plan::Parameter& parameter) {
    return std::size_t(plan::element_count(parameter.dims) * plan::size_of(parameter.dtype));
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

std::string describe(plan::DType dtype, const plan::Dims& dims) {
    return fmt::format("{} [{}]", plan::name_of(dtype), fmt::join(dims, ","));
}

std::vector<std::string> differences(const plan::Plan& plan, const Safetensors& file) {
    std::vector<std::string> found;
    for (const plan::Parameter& parameter : plan.parameters) {
        if (parameter.optimizer_state) continue;
        const StoredTensor* tensor = file.find(parameter.name);
        if (tensor == nullptr) {
            found.push_back(fmt::format("{} {} is missing", parameter.name,
                                        describe(parameter.dtype, parameter.dims)));
        } else if (tensor->dtype != parameter.dtype || tensor->dims != parameter.dims) {
            found.push_back(fmt::format("{} is {} in the file and {} in the plan", parameter.name,
                                        describe(tensor->dtype, tensor->dims),
                                        describe(parameter.dtype, parameter.dims)));
        }
    }
    for (const StoredTensor& tensor : file.tensors) {
        const bool known = std::any_of(
            plan.parameters.begin(), plan.parameters.end(), [&](const plan::Parameter& parameter) {
                return !parameter.optimizer_state && parameter.name == tensor.name;
            });
        if (!known) {
            found.push_back(fmt::format("{} {} is not in the plan", tensor.name,
                                        describe(tensor.dtype, tensor.dims)));
        }
    }
    return found;
}

}  // namespace

void save_weights(const Executor& executor, const std::string& path, const std::string& checksum) {
    const plan::Plan& plan = executor.plan();
    std::vector<StoredTensor> tensors;
    std::vector<std::vector<std::byte>> storage;
    storage.reserve(plan.parameters.size());
    for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
        const plan::Parameter& parameter = plan.parameters[i];
        if (parameter.optimizer_state) continue;
        const Arrangement arrangement(parameter.physical_dims, parameter.order);
        std::vector<std::byte>& bytes = storage.emplace_back(byte_count(parameter));
        if (parameter.dtype == plan::DType::f32) {
            gather<float>(arrangement, executor.parameter(i), bytes.data());
        } else {
            gather<double>(arrangement, executor.parameter(i), bytes.data());
        }
        tensors.push_back({parameter.name, parameter.dtype, parameter.dims, bytes});
    }
    write_safetensors(path, tensors,
                      {{"format", "dtnn"}, {"model", plan.model}, {"plan", checksum}});
}

void load_weights(const Executor& executor, const std::string& path) {
    const plan::Plan& plan = executor.plan();
    const Safetensors file = read_safetensors(path);
    const std::vector<std::string> found = differences(plan, file);
    if (!found.empty()) {
        constexpr std::size_t kShown = 10;
        std::string list;
        for (std::size_t i = 0; i < std::min(found.size(), kShown); ++i)
            list += (i == 0 ? "" : "\n  ") + found[i];
        if (found.size() > kShown) list += fmt::format("\n  and {} more", found.size() - kShown);
        throw RunError(
            Exit::mismatch,
            fmt::format("the weights {} do not fit the plan's model `{}`", path, plan.model),
            "name the weights of a run of this plan", list);
    }
    for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
        const plan::Parameter& parameter = plan.parameters[i];
        if (parameter.optimizer_state) continue;
        const Arrangement arrangement(parameter.physical_dims, parameter.order);
        const std::byte* bytes = file.find(parameter.name)->bytes.data();
        if (parameter.dtype == plan::DType::f32) {
            scatter<float>(arrangement, bytes, executor.parameter(i));
        } else {
            scatter<double>(arrangement, bytes, executor.parameter(i));
        }
    }
}

}  // namespace dtnn::runtime
