#include "runtime/checkpoint/weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "runtime/base/run_error.hpp"
#include "runtime/checkpoint/parameter_tensors.hpp"
#include "runtime/checkpoint/safetensors.hpp"
#include "runtime/exec/executor.hpp"

namespace dtnn::runtime {
namespace {

std::vector<std::string> differences(const plan::Plan& plan, const Safetensors& file) {
    std::vector<std::string> found;
    for (const plan::Parameter& parameter : plan.parameters) {
        if (parameter.optimizer_state) continue;
        const StoredTensor* tensor = file.find(parameter.name);
        if (tensor == nullptr) {
            found.push_back(fmt::format("{} {} is missing", parameter.name,
                                        describe_tensor(parameter.dtype, parameter.dims)));
        } else if (tensor->dtype != parameter.dtype || tensor->dims != parameter.dims) {
            found.push_back(fmt::format("{} is {} in the file and {} in the plan", parameter.name,
                                        describe_tensor(tensor->dtype, tensor->dims),
                                        describe_tensor(parameter.dtype, parameter.dims)));
        }
    }
    for (const StoredTensor& tensor : file.tensors) {
        const bool known = std::any_of(
            plan.parameters.begin(), plan.parameters.end(), [&](const plan::Parameter& parameter) {
                return !parameter.optimizer_state && parameter.name == tensor.name;
            });
        if (!known) {
            found.push_back(fmt::format("{} {} is not in the plan", tensor.name,
                                        describe_tensor(tensor.dtype, tensor.dims)));
        }
    }
    return found;
}

}  // namespace

void save_weights(const Executor& executor, const std::string& path, const std::string& checksum) {
    const plan::Plan& plan = executor.plan();
    ParameterTensors tensors;
    for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
        if (!plan.parameters[i].optimizer_state) tensors.add(executor, i, plan.parameters[i].name);
    }
    write_safetensors(path, tensors.all(),
                      {{"format", "dtnn"}, {"model", plan.model}, {"plan", checksum}});
}

void save_evaluated_weights(const Executor& executor, const std::string& path,
                            const std::string& checksum) {
    write_safetensors(path, evaluated_tensors(executor).all(),
                      {{"format", "dtnn"}, {"model", executor.plan().model}, {"plan", checksum}});
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
        set_parameter(executor, i, file.find(parameter.name)->bytes);
    }
    begin_averages(executor);
}

}  // namespace dtnn::runtime
