/// Files of weights: what is in them, the same in another format, and others' as a plan's and back.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/quantity_text.hpp"
#include "base/spec_folders.hpp"
#include "base/text.hpp"
#include "runtime/base/files.hpp"
#include "runtime/checkpoint/weight_exchange.hpp"
#include "runtime/checkpoint/weight_file.hpp"
#include "runtime/checkpoint/weight_maps.hpp"
#include "runtime/exec/load.hpp"
#include "runtime/report/run_folder.hpp"
#include "tools/dtnn_run/commands.hpp"
#include "tools/dtnn_run/start.hpp"

namespace dtnn {
namespace {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file is its command line

/// A file as it is, or the weights that the run of a folder ended with.
std::string file_of(const Options& options) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(options.weights, ignored)) {
        if (!options.average) return options.weights;
        throw RunError(Exit::usage, "--average is for the folder of a run",
                       "name the folder, or the file that it has, weights_average.safetensors");
    }
    const RunFolder folder(options.weights);
    std::string path = options.average ? folder.average_weights() : folder.weights();
    if (std::filesystem::exists(path, ignored)) return path;
    throw RunError(Exit::mismatch, fmt::format("{} is not there", path),
                   options.average
                       ? "only runs that keep moving averages write them: training.average"
                       : "the run has not ended; name the parameters.safetensors of one of its "
                         "checkpoints, or go on with it (--resume)");
}

std::string list_json(const WeightFile& file) {
    Json tensors = Json::array();
    for (const StoredTensor& tensor : file.tensors)
        tensors.push_back({{"name", tensor.name},
                           {"type", plan::name_of(tensor.dtype)},
                           {"shape", tensor.dims},
                           {"bytes", tensor.bytes.size()}});
    const Json whole = {{"version", 1},
                        {"format", file.format},
                        {"metadata", file.metadata},
                        {"tensors", std::move(tensors)}};
    return write_json(whole, 2) + "\n";
}

std::string list_text(const WeightFile& file) {
    std::size_t longest = 4;
    std::int64_t elements = 0, bytes = 0;
    for (const StoredTensor& tensor : file.tensors)
        longest = std::max(longest, std::min<std::size_t>(tensor.name.size(), 100));
    std::string text;
    for (const StoredTensor& tensor : file.tensors) {
        text += fmt::format("{:<{}}  {:<4}  [{}]\n", tensor.name, longest,
                            plan::name_of(tensor.dtype), fmt::join(tensor.dims, ","));
        elements += element_count(tensor.dims);
        bytes += std::int64_t(tensor.bytes.size());
    }
    for (const auto& [key, value] : file.metadata)
        text += fmt::format("{}: {}\n", key, value);
    return text + fmt::format("{} tensors, {} elements, {} ({})\n", file.tensors.size(),
                              grouped(elements), bytes_text(double(bytes)), file.format);
}

/// The plan that gives weights their names and axes: the one that is given, or that of the run.
plan::Plan plan_of_weights(const Options& options) {
    if (!options.plan.empty()) return read_plan_file(options.plan).plan;
    std::error_code ignored;
    if (std::filesystem::is_directory(options.weights, ignored))
        return read_plan_file(RunFolder(options.weights).plan()).plan;
    throw RunError(Exit::usage, "--map and --layout need the plan of the weights",
                   "add --plan PLAN, or name the run's folder, which has its plan");
}

void export_for_others(const Options& options, const std::string& path) {
    const plan::Plan plan = plan_of_weights(options);
    const WeightOptions& wanted = options.weight_options;
    const std::vector<std::string> folders = spec_folders();
    WeightLayout layout = WeightLayout::own;
    std::optional<NameMap> map;
    if (!wanted.map.empty()) {
        map = map_for_others(plan, wanted.map, folders).map;
        if (const auto said = parse_layout(map->layout())) layout = *said;
    }
    if (const auto said = parse_layout(wanted.layout)) layout = *said;
    // The weights themselves are the plan's, whoever gets them.
    const ReadWeights read = read_weights(plan, {.path = path});
    const ExchangedWeights others = weights_for_others(plan, read.match, map, layout);
    const char* format = layout == WeightLayout::torch ? "pt" : "others";
    write_weight_file(options.output, others.tensors, {{"format", format}});
}

}  // namespace

int weights_list_command(const Options& options) {
    const WeightFile file = read_weight_file(file_of(options));
    print_out(options.format == tools::Format::json ? list_json(file) : list_text(file));
    return int(Exit::done);
}

int weights_export_command(const Options& options) {
    const std::string path = file_of(options);
    const WeightOptions& wanted = options.weight_options;
    // `auto` is no layout: it stands for none said.
    if (wanted.map.empty() && wanted.layout == "auto") {
        const WeightFile file = read_weight_file(path);
        write_weight_file(options.output, file.tensors, file.metadata);
    } else {
        export_for_others(options, path);
    }
    tell_written(options.output);
    return int(Exit::done);
}

int weights_import_command(const Options& options) {
    const plan::Plan plan = read_plan_file(options.plan).plan;
    const ReadWeights read =
        read_weights(plan, weight_request(file_of(options), options.weight_options));
    const ExchangedWeights own = own_weights(plan, read.match);
    write_weight_file(options.output, own.tensors, {{"format", "dtnn"}, {"model", plan.model}});
    tell_what_is_left(what_is_left(plan, read));
    tell_written(options.output);
    return int(Exit::done);
}

}  // namespace dtnn
