#include "runtime/checkpoint/weights.hpp"

#include <fmt/format.h>

#include <algorithm>
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
    std::map<std::string, std::string> metadata = own_metadata(plan.model, checksum);
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

/// What the differences come to.
std::string misfit(const plan::Plan& plan, const WeightRequest& request, const ReadWeights& read) {
    const auto all =
        std::count_if(plan.parameters.begin(), plan.parameters.end(),
                      [](const plan::Parameter& parameter) { return !parameter.optimizer_state; });
    const auto fitting = std::ptrdiff_t(read.match.alike);
    const std::string by = read.map.empty() ? "" : ", by the names of " + read.map;
    // A new head, or a layer more, leaves most of the others as they were.
    if (2 * fitting >= all)
        return fmt::format(
            "the weights {} do not fit the plan's model `{}`{}: {} of its {} "
            "parameters have a tensor of their extents",
            request.path, plan.model, by, fitting, all);
    const std::string network = network_of(read.file, request.map_folders);
    return fmt::format(
        "the weights {} are of another network than the plan's model `{}`{}: {} of "
        "its {} parameters have a tensor of their extents{}",
        request.path, plan.model, by, fitting, all,
        network.empty() ? "" : "; they are of " + network);
}

std::string first_ten(const std::vector<std::string>& lines) {
    constexpr std::size_t kShown = 10;
    std::string text;
    for (std::size_t i = 0; i < std::min(lines.size(), kShown); ++i)
        text += (i == 0 ? "" : "\n  ") + lines[i];
    if (lines.size() > kShown) text += fmt::format("\n  and {} more", lines.size() - kShown);
    return text;
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
    if (!read.match.differences.empty())
        throw RunError(Exit::mismatch, misfit(plan, request, read), remedy(read.match),
                       first_ten(read.match.differences));
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
