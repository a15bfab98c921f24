#include "tools/dtnn_run/weight_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "runtime/checkpoint/weights.hpp"

namespace dtnn {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file is its command line

void add_weight_options(CLI::App& command, WeightOptions& options) {
    command.add_option("--map", options.map,
                       "a JSON file {\"NAME IN THE FILE\": \"NAME IN THE PLAN\"} for the weights; "
                       "* is any text, null leaves out");
    command
        .add_option("--layout", options.layout,
                    "how the file of weights arranges axes: nchw, nhwc and nhwc_gpu as PyDTNN does")
        ->check(CLI::IsMember({"auto", "own", "nchw", "nhwc", "nhwc_gpu"}))
        ->capture_default_str();
    command
        .add_option("--match", options.match,
                    "weights go to parameters by name, or in order by role; auto: by order where "
                    "the names are PyDTNN's")
        ->check(CLI::IsMember({"auto", "name", "order"}))
        ->capture_default_str();
    command.add_flag("--allow-missing", options.allow_missing,
                     "take the weights that fit by name; list the others");
    command.add_flag("--cast", options.cast, "convert weights between f32 and f64");
}

WeightRequest weight_request(const std::string& path, const WeightOptions& options) {
    return {path, options.map, options.layout, options.match, options.allow_missing, options.cast};
}

void load_wanted_weights(const Executor& executor, const std::string& path,
                         const WeightOptions& options) {
    const LoadedWeights loaded = load_weights(executor, weight_request(path, options));
    const auto tell = [&](const char* what, const std::vector<std::string>& names) {
        if (names.empty()) return;
        std::fprintf(
            stderr, "dtnn-run: %s\n",
            fmt::format("{} ({}):\n  {}", what, names.size(), fmt::join(names, "\n  ")).c_str());
    };
    tell("not in the weights, kept as initialised", loaded.kept);
    tell("in the weights, but not in the plan", loaded.unused);
}

}  // namespace dtnn
