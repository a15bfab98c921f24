#include "runtime/checkpoint/parameter_names.hpp"

#include <algorithm>
#include <string_view>

#include "runtime/checkpoint/weight_order.hpp"

namespace dtnn::runtime {
namespace {

struct TorchRole {
    const char* role;
    const char* name;
};
constexpr TorchRole kTorchRoles[] = {{"weights", "weight"},
                                     {"gamma", "weight"},
                                     {"bias", "bias"},
                                     {"beta", "bias"},
                                     {"running_mean", "running_mean"},
                                     {"running_variance", "running_var"}};

}  // namespace

ParameterNames::ParameterNames(const plan::Plan& plan) {
    for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
        if (!plan.parameters[i].optimizer_state) places_.emplace(plan.parameters[i].name, i);
    }
}

std::optional<std::size_t> ParameterNames::find(const std::string& name) const {
    if (const auto exact = places_.find(name); exact != places_.end()) return exact->second;
    const std::size_t end = name.find_last_of("./");
    if (end == std::string::npos) return std::nullopt;
    const std::string_view ending = std::string_view(name).substr(end + 1);
    const std::string role = role_spelled(ending);
    if (role.empty()) return std::nullopt;
    const std::string layer = name.substr(0, end) + ".";
    const auto place = [&](const std::string& of_layer) -> std::optional<std::size_t> {
        const auto found = places_.find(layer + of_layer);
        if (found == places_.end()) return std::nullopt;
        return found->second;
    };
    if (const auto found = place(role)) return found;
    for (const TorchRole& torch : kTorchRoles) {
        if (ending != torch.name) continue;
        if (const auto found = place(torch.role)) return found;
    }
    return std::nullopt;
}

std::string torch_name(const plan::Parameter& parameter) {
    for (const TorchRole& torch : kTorchRoles) {
        if (parameter.role != torch.role || !parameter.name.ends_with("." + parameter.role))
            continue;
        return parameter.name.substr(0, parameter.name.size() - parameter.role.size()) + torch.name;
    }
    return parameter.name;
}

std::string wrapper_in(const WeightFile& file) {
    std::string wrapper;
    const auto all_have = [&](const std::string& start) {
        return !file.tensors.empty() && std::all_of(file.tensors.begin(), file.tensors.end(),
                                                    [&](const StoredTensor& tensor) {
                                                        return tensor.name.starts_with(start);
                                                    });
    };
    for (bool more = true; more;) {
        more = false;
        for (const char* name : {"module.", "_orig_mod."}) {
            if (!all_have(wrapper + name)) continue;
            wrapper += name;
            more = true;
        }
    }
    return wrapper;
}

bool is_batch_count(const StoredTensor& tensor) {
    return tensor.dtype == DType::i64 && tensor.dims.empty() &&
           (tensor.name == kBatchCount || tensor.name.ends_with(std::string(".") + kBatchCount));
}

}  // namespace dtnn::runtime
