#include "runtime/checkpoint/weights.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "base/json.hpp"
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

constexpr std::size_t kMostNames = 10'000;
constexpr const char* kClassNames = "class_names";
constexpr const char* kFeatureNames = "feature_names";

std::map<std::string, std::string> metadata_of(const plan::Plan& plan, const std::string& checksum,
                                               const TrainedNames& names) {
    std::map<std::string, std::string> metadata = {
        {"format", "dtnn"}, {"model", plan.model}, {"plan", checksum}};
    const auto add = [&](const char* key, const std::vector<std::string>& list) {
        if (!list.empty() && list.size() <= kMostNames) metadata[key] = write_json(Json(list));
    };
    add(kClassNames, names.classes);
    add(kFeatureNames, names.features);
    return metadata;
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

void save_weights(const Executor& executor, const std::string& path, const std::string& checksum,
                  const TrainedNames& names) {
    const plan::Plan& plan = executor.plan();
    ParameterTensors tensors;
    for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
        if (!plan.parameters[i].optimizer_state) tensors.add(executor, i, plan.parameters[i].name);
    }
    write_safetensors(path, tensors.all(), metadata_of(plan, checksum, names));
}

void save_evaluated_weights(const Executor& executor, const std::string& path,
                            const std::string& checksum, const TrainedNames& names) {
    write_safetensors(path, evaluated_tensors(executor).all(),
                      metadata_of(executor.plan(), checksum, names));
}

TrainedNames read_trained_names(const std::string& path) {
    const std::map<std::string, std::string> metadata = read_safetensors_metadata(path);
    const auto list = [&](const char* key) -> std::vector<std::string> {
        const auto found = metadata.find(key);
        if (found == metadata.end()) return {};
        const Json json = parse_json_or_discard(found->second);
        std::vector<std::string> names;
        if (!json.is_array() || json.size() > kMostNames) return {};
        for (const Json& name : json) {
            if (!name.is_string()) return {};
            names.push_back(name.get<std::string>());
        }
        return names;
    };
    return {list(kClassNames), list(kFeatureNames)};
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
    // A tensor that a user's own map leaves out was left out on purpose.
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
