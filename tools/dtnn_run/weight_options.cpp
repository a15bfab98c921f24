#include "tools/dtnn_run/weight_options.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "base/folders.hpp"
#include "base/spec_folders.hpp"
#include "base/utf8.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/checkpoint/parameter_tensors.hpp"
#include "runtime/checkpoint/weights.hpp"
#include "runtime/report/run_folder.hpp"
#include "runtime/train/initialize.hpp"

namespace dtnn {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file is its command line

std::vector<std::string> weight_option_names() {
    return {"--map", "--layout", "--match", "--keep", "--allow-missing", "--cast"};
}

WeightRequest weight_request(const std::string& path, const WeightOptions& options) {
    WeightRequest request{.path = path,
                          .map = options.map,
                          .layout = options.layout,
                          .allow_missing = options.allow_missing,
                          .cast = options.cast,
                          .keep = options.keep};
    parse_name(options.match, request.match);  // one of the option's choices
    request.map_folders = spec_folders();
    return request;
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

void tell_what_is_left(const LoadedWeights& loaded) {
    const auto tell = [&](const char* what, const std::vector<std::string>& names) {
        if (names.empty()) return;
        std::fprintf(
            stderr, "dtnn-run: %s\n",
            shown_lines(fmt::format("{} ({}):\n  {}", what, names.size(), fmt::join(names, "\n  ")))
                .c_str());
    };
    if (!loaded.map.empty())
        std::fprintf(stderr, "dtnn-run: the weights have the names of %s\n",
                     shown_lines(loaded.map).c_str());
    tell("not in the weights, kept as initialised", loaded.kept);
    tell("in the weights, but not in the plan", loaded.unused);
    tell("of other heads, left out", loaded.dropped);
}

void load_wanted_weights(Executor& executor, const std::string& path,
                         const WeightOptions& options) {
    require_weight_file(path);
    const LoadedWeights loaded = load_weights(executor, weight_request(path, options));
    if (!loaded.kept.empty()) {
        initialize(executor, loaded.kept);
        begin_averages(executor);
    }
    tell_what_is_left(loaded);
}

}  // namespace dtnn
