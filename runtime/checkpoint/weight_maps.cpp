#include "runtime/checkpoint/weight_maps.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "base/folders.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/checkpoint/kept_parameters.hpp"
#include "runtime/checkpoint/parameter_names.hpp"
#include "runtime/checkpoint/weight_exchange.hpp"

namespace dtnn::runtime {
namespace {

const char* const kMaps = "weights";
const std::string kEnd = ".json";

/// The files of maps, by their names.
std::map<std::string, std::string> map_files(const std::vector<std::string>& folders) {
    std::map<std::string, std::string> files;
    std::error_code ignored;
    for (const std::string& folder : folders) {
        const std::string maps = folder + "/" + kMaps;
        if (!std::filesystem::is_directory(maps, ignored)) continue;
        for (const std::string& source : names_in(maps)) {
            const std::string path = maps + "/" + source;
            if (!std::filesystem::is_directory(path, ignored)) continue;
            for (const std::string& file : names_in(path)) {
                if (!file.ends_with(kEnd)) continue;
                files.emplace(source + "/" + file.substr(0, file.size() - kEnd.size()),
                              path + "/" + file);
            }
        }
    }
    return files;
}

/// How a map would send a file's tensors to a plan's parameters.
struct Trial {
    std::vector<const StoredTensor*> tensors;  ///< by parameter; null: none
    bool complete = false;                     ///< of those that do not keep what they have
    std::size_t given = 0;
};

Trial try_map(const plan::Plan& plan, const ParameterNames& names, const WeightFile& file,
              const KeptParameters& kept, NameMap map) {
    Trial trial;
    trial.tensors.resize(plan.parameters.size());
    const std::string wrapper = wrapper_in(file);
    for (const StoredTensor& tensor : file.tensors) {
        const auto target = map.find(tensor.name, wrapper);
        if (!target || target->dropped) continue;
        const auto place = names.find(target->name);
        if (!place || trial.tensors[*place] != nullptr) continue;
        trial.tensors[*place] = &tensor;
        ++trial.given;
    }
    trial.complete = trial.given > 0;
    for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
        const plan::Parameter& parameter = plan.parameters[i];
        if (!parameter.optimizer_state && trial.tensors[i] == nullptr)
            trial.complete = trial.complete && kept.matches(parameter.name);
    }
    return trial;
}

/// Whether the file's names need a map at all.
bool has_other_names(const ParameterNames& names, const WeightFile& file) {
    if (file.written_by_run().value_or(false)) return false;
    const std::size_t wrapper = wrapper_in(file).size();
    return std::any_of(file.tensors.begin(), file.tensors.end(), [&](const StoredTensor& tensor) {
        return !is_batch_count(tensor) && !is_pydtnn_name(tensor.name) &&
               !names.find(tensor.name) && !names.find(tensor.name.substr(wrapper));
    });
}

std::vector<std::string> models_of(const std::vector<ShippedMap>& maps) {
    std::vector<std::string> models;
    for (const ShippedMap& shipped : maps) {
        for (const auto& model : shipped.map.models())
            models.push_back(model.first);
    }
    std::sort(models.begin(), models.end());
    return models;
}

/// A map that ships is called by a plain name; a file of that name by a path, as ./NAME.
bool is_shipped_name(const std::string& name) {
    return !name.ends_with(kEnd) && !name.starts_with('.') && !name.starts_with('/');
}

[[noreturn]] void refuse_none(const plan::Plan& plan, const std::string& name,
                              const std::vector<ShippedMap>& maps) {
    throw RunError(Exit::mismatch,
                   fmt::format("no map of {} fits the plan's model `{}`", name, plan.model),
                   fmt::format("there are maps for {}; --map FILE names one of your own",
                               fmt::join(models_of(maps), ", ")));
}

}  // namespace

std::vector<ShippedMap> shipped_maps(const std::vector<std::string>& folders,
                                     const std::string& name) {
    std::vector<ShippedMap> maps;
    for (const auto& [called, path] : map_files(folders)) {
        if (name.empty() || called == name || called.starts_with(name + "/"))
            maps.push_back({called, NameMap::read(path)});
    }
    return maps;
}

ShippedMap wanted_map(const plan::Plan& plan, const WeightFile& file,
                      const WeightRequest& request) {
    const ParameterNames names(plan);
    std::vector<ShippedMap> maps;
    if (request.map.empty()) {
        const bool by_name = request.match == MatchBy::unsaid || request.match == MatchBy::name;
        if (!by_name || request.map_folders.empty() || !has_other_names(names, file)) return {};
        maps = shipped_maps(request.map_folders, "");
    } else {
        if (is_shipped_name(request.map)) maps = shipped_maps(request.map_folders, request.map);
        if (maps.empty()) return {"", NameMap::read(request.map)};
    }
    const KeptParameters kept(plan, request.keep);
    const ShippedMap* best = nullptr;
    Trial fitting;
    for (const ShippedMap& shipped : maps) {
        Trial trial = try_map(plan, names, file, kept, shipped.map);
        if (!trial.complete) continue;
        if (best != nullptr && trial.tensors != fitting.tensors)
            throw RunError(Exit::mismatch,
                           fmt::format("the weights {} fit by the maps {} and {}, and not alike",
                                       file.path, best->name, shipped.name),
                           "say which: --map " + best->name);
        if (best == nullptr) {
            best = &shipped;
            fitting = std::move(trial);
        }
    }
    // The attempt by the map of the model, where it does not find all, says what is wrong with the
    // file.
    for (const ShippedMap& shipped : maps) {
        if (best == nullptr && shipped.map.models().contains(plan.model) &&
            try_map(plan, names, file, kept, shipped.map).given > 0)
            best = &shipped;
    }
    if (best == nullptr && maps.size() == 1 && !request.map.empty()) best = maps.data();
    if (best != nullptr) return *best;
    if (request.map.empty()) return {};
    refuse_none(plan, request.map, maps);
}

std::string network_of(const WeightFile& file, const std::vector<std::string>& map_folders) {
    const auto model = file.metadata.find("model");
    if (file.written_by_run().value_or(false) && model != file.metadata.end())
        return fmt::format("the model `{}`", model->second);
    const std::string wrapper = wrapper_in(file);
    for (ShippedMap& shipped : shipped_maps(map_folders, "")) {
        const bool all =
            std::all_of(file.tensors.begin(), file.tensors.end(), [&](const StoredTensor& tensor) {
                return is_batch_count(tensor) || shipped.map.find(tensor.name, wrapper);
            });
        if (all && !file.tensors.empty())
            return fmt::format("a network of {} ({})", shipped.name,
                               fmt::join(models_of({shipped}), ", "));
    }
    return "";
}

ShippedMap map_for_others(const plan::Plan& plan, const std::string& name,
                          const std::vector<std::string>& folders) {
    std::vector<ShippedMap> maps;
    if (is_shipped_name(name)) maps = shipped_maps(folders, name);
    if (maps.empty()) return {"", NameMap::read(name)};
    const auto names_all = [&](const ShippedMap& shipped) {
        const WeightLayout layout = parse_layout(shipped.map.layout()).value_or(WeightLayout::own);
        return std::all_of(
            plan.parameters.begin(), plan.parameters.end(), [&](const plan::Parameter& parameter) {
                return parameter.optimizer_state || name_for_others(parameter, shipped.map, layout);
            });
    };
    // A map for the model comes before others that have its names, too.
    std::stable_partition(maps.begin(), maps.end(), [&](const ShippedMap& shipped) {
        return shipped.map.models().contains(plan.model);
    });
    const ShippedMap* best = nullptr;
    for (const ShippedMap& shipped : maps) {
        if (!names_all(shipped)) continue;
        if (shipped.map.models().contains(plan.model)) return shipped;
        // A model of another name may have the same layers; a part of another has them, too.
        if (best != nullptr)
            throw RunError(Exit::mismatch,
                           fmt::format("the maps {} and {} both have names for all parameters of "
                                       "the plan's model `{}`",
                                       best->name, shipped.name, plan.model),
                           "say which: --map " + best->name);
        best = &shipped;
    }
    if (best != nullptr) return *best;
    if (maps.size() == 1) return maps.front();
    refuse_none(plan, name, maps);
}

}  // namespace dtnn::runtime
