#include "runtime/checkpoint/weights.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <utility>

#include "runtime/base/arrangement.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/checkpoint/parameter_tensors.hpp"
#include "runtime/checkpoint/safetensors.hpp"
#include "runtime/checkpoint/weight_exchange.hpp"
#include "runtime/exec/executor.hpp"

namespace dtnn::runtime {
namespace {

void set_from(const Executor& executor, const WeightMatch::Pair& pair) {
    const plan::Parameter& parameter = executor.plan().parameters[pair.parameter];
    const bool as_it_is = pair.tensor->dtype == parameter.dtype &&
                          Arrangement(pair.form.view, pair.form.order).identity();
    if (as_it_is)
        set_parameter(executor, pair.parameter, pair.tensor->bytes);
    else
        set_parameter(executor, pair.parameter, logical_bytes(parameter, pair));
}

std::string remedy(const WeightMatch& match) {
    if (match.pydtnn)
        return "name weights of the same model; --map FILE says which array is which parameter, "
               "--allow-missing takes a part of them";
    return "name the weights of a run of this plan; --map FILE renames tensors or leaves them out, "
           "--keep NAMES keeps a part as it is (a new head), --allow-missing takes what fits by "
           "name, --layout and --cast convert";
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

ReadWeights read_weights(const plan::Plan& plan, const WeightRequest& request) {
    ReadWeights read{read_weight_file(request.path), {}, {}};
    ShippedMap wanted = wanted_map(plan, read.file, request);
    read.map = std::move(wanted.name);
    read.match = match_weights(plan, read.file, request, std::move(wanted.map));
    if (!read.match.differences.empty()) {
        throw RunError(
            Exit::mismatch,
            fmt::format("the weights {} do not fit the plan's model `{}`{}", request.path,
                        plan.model, read.map.empty() ? "" : ", by the names of " + read.map),
            remedy(read.match), fmt::format("{}", fmt::join(read.match.differences, "\n  ")));
    }
    return read;
}

LoadedWeights what_is_left(const plan::Plan& plan, const ReadWeights& read) {
    LoadedWeights loaded{{}, read.match.unused, {}, read.map, read.match.layout};
    for (const std::size_t missing : read.match.missing)
        loaded.kept.push_back(plan.parameters[missing].name);
    // What a user's own map leaves out, the user has said.
    if (!read.map.empty()) loaded.dropped = read.match.dropped;
    return loaded;
}

LoadedWeights load_weights(const Executor& executor, const WeightRequest& request) {
    const ReadWeights read = read_weights(executor.plan(), request);
    for (const WeightMatch::Pair& pair : read.match.pairs)
        set_from(executor, pair);
    begin_averages(executor);
    return what_is_left(executor.plan(), read);
}

void load_weights(const Executor& executor, const std::string& path) {
    load_weights(executor, WeightRequest{.path = path});
}

}  // namespace dtnn::runtime
