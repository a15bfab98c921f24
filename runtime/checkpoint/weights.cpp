#include "runtime/checkpoint/weights.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "runtime/base/arrangement.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/checkpoint/parameter_tensors.hpp"
#include "runtime/checkpoint/safetensors.hpp"
#include "runtime/exec/executor.hpp"

namespace dtnn::runtime {
namespace {

/// The tensor's elements in the parameter's logical order and type.
template <class From, class To>
std::vector<std::byte> converted(const WeightMatch::Pair& pair) {
    const Arrangement arrangement(pair.form.view, pair.form.order);
    std::vector<std::byte> logical(std::size_t(arrangement.elements()) * sizeof(To));
    const std::byte* from = pair.tensor->bytes.data();
    arrangement.for_each(0, arrangement.elements(), [&](std::int64_t i, std::int64_t place) {
        From value;
        std::memcpy(&value, from + std::size_t(place) * sizeof(From), sizeof(From));
        const To result = To(value);
        std::memcpy(logical.data() + std::size_t(i) * sizeof(To), &result, sizeof(To));
    });
    return logical;
}

void set_from(const Executor& executor, const WeightMatch::Pair& pair) {
    const bool wide_from = pair.tensor->dtype == plan::DType::f64;
    const bool wide_to = executor.plan().parameters[pair.parameter].dtype == plan::DType::f64;
    const bool as_it_is =
        wide_from == wide_to && Arrangement(pair.form.view, pair.form.order).identity();
    if (as_it_is) {
        set_parameter(executor, pair.parameter, pair.tensor->bytes);
    } else if (wide_from) {
        set_parameter(executor, pair.parameter,
                      wide_to ? converted<double, double>(pair) : converted<double, float>(pair));
    } else {
        set_parameter(executor, pair.parameter,
                      wide_to ? converted<float, double>(pair) : converted<float, float>(pair));
    }
}

std::string remedy(const WeightMatch& match) {
    if (match.pydtnn)
        return "name weights of the same model; --map FILE says which array is which parameter, "
               "--allow-missing takes a part of them";
    return "name the weights of a run of this plan; --map FILE renames tensors or leaves them out, "
           "--allow-missing takes a part, --layout and --cast convert";
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

LoadedWeights load_weights(const Executor& executor, const WeightRequest& request) {
    const plan::Plan& plan = executor.plan();
    NameMap map = request.map.empty() ? NameMap() : NameMap::read(request.map);
    const WeightFile file = read_weight_file(request.path);
    const WeightMatch match = match_weights(plan, file, request, std::move(map));
    if (!match.differences.empty()) {
        throw RunError(Exit::mismatch,
                       fmt::format("the weights {} do not fit the plan's model `{}`", request.path,
                                   plan.model),
                       remedy(match), fmt::format("{}", fmt::join(match.differences, "\n  ")));
    }
    LoadedWeights loaded{{}, match.unused, match.layout};
    for (const std::size_t missing : match.missing)
        loaded.kept.push_back(plan.parameters[missing].name);
    for (const WeightMatch::Pair& pair : match.pairs)
        set_from(executor, pair);
    begin_averages(executor);
    return loaded;
}

void load_weights(const Executor& executor, const std::string& path) {
    load_weights(executor, WeightRequest{.path = path});
}

}  // namespace dtnn::runtime
