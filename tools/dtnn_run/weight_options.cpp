#include "tools/dtnn_run/weight_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "base/utf8.hpp"
#include "runtime/base/folders.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/checkpoint/weights.hpp"
#include "runtime/report/run_folder.hpp"

namespace dtnn {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file is its command line

void add_weight_options(CLI::App& command, WeightOptions& options) {
    command.add_option("--map", options.map,
                       "a JSON file {\"NAME IN THE FILE\": \"NAME IN THE PLAN\"} for the weights; "
                       "* is any text, null leaves out");
    command
        .add_option(
            "--layout", options.layout,
            "how the file of weights arranges axes: own as plans do, torch as PyTorch, nchw, "
            "nhwc and nhwc_gpu as PyDTNN does")
        ->check(CLI::IsMember({"auto", "own", "torch", "nchw", "nhwc", "nhwc_gpu"}))
        ->capture_default_str();
    command
        .add_option(
            "--match", options.match,
            "weights go to parameters by name, or in order by role: file_order, name_order "
            "(2 before 10), or order, the one of them that fits; auto: name, or order where "
            "the names are PyDTNN's")
        ->check(CLI::IsMember({"auto", "name", "order", "file_order", "name_order"}))
        ->capture_default_str();
    command.add_flag("--allow-missing", options.allow_missing,
                     "take the weights that fit by name; list the others");
    command.add_flag("--cast", options.cast, "convert weights between f32 and f64");
    // They say how the file is read; without one they would be passed over.
    if (CLI::Option* weights = command.get_option_no_throw("--weights"))
        for (const char* name : {"--map", "--layout", "--match", "--allow-missing", "--cast"})
            command.get_option(name)->needs(weights);
}

WeightRequest weight_request(const std::string& path, const WeightOptions& options) {
    return {path, options.map, options.layout, options.match, options.allow_missing, options.cast};
}

namespace {

/// A run's folder stands for one of the files in it; only the user knows which.
void require_weight_file(const std::string& path) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(path, ignored)) return;
    const RunFolder run(path);
    std::vector<std::string> files;
    const auto look = [&](const std::string& file) {
        if (std::filesystem::exists(file, ignored)) files.push_back(file);
    };
    look(run.weights());
    look(run.average_weights());
    look(run.path() + "/parameters.safetensors");
    for (std::filesystem::recursive_directory_iterator entry(run.path() + "/best", ignored), end;
         entry != end && files.size() < 4; entry.increment(ignored))
        if (entry->path().extension() == ".safetensors") files.push_back(entry->path().string());
    if (files.empty()) {
        const std::vector<std::string> names = names_in(run.path() + "/checkpoints");
        for (auto name = names.rbegin(); name != names.rend() && files.empty(); ++name)
            look(run.path() + "/checkpoints/" + *name + "/parameters.safetensors");
    }
    throw RunError(Exit::usage, fmt::format("{} is a folder; weights are a file", path),
                   files.empty()
                       ? std::string("there are no weights in it; name a .safetensors or .npz file")
                       : fmt::format("name the file in it: {}", fmt::join(files, ", or ")));
}

}  // namespace

void load_wanted_weights(const Executor& executor, const std::string& path,
                         const WeightOptions& options) {
    require_weight_file(path);
    const LoadedWeights loaded = load_weights(executor, weight_request(path, options));
    const auto tell = [&](const char* what, const std::vector<std::string>& names) {
        if (names.empty()) return;
        std::fprintf(
            stderr, "dtnn-run: %s\n",
            shown_lines(fmt::format("{} ({}):\n  {}", what, names.size(), fmt::join(names, "\n  ")))
                .c_str());
    };
    tell("not in the weights, kept as initialised", loaded.kept);
    tell("in the weights, but not in the plan", loaded.unused);
}

}  // namespace dtnn
