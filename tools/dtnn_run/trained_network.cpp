#include "tools/dtnn_run/trained_network.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "runtime/base/run_error.hpp"
#include "runtime/report/run_files.hpp"
#include "runtime/report/run_folder.hpp"

namespace dtnn {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file is its command line

TrainedNetwork trained_network(const std::string& path, const std::string& weights) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(path, ignored)) {
        // Whether a plan is there, whoever reads it says.
        if (!weights.empty()) return {path, path, weights};
        if (!std::filesystem::exists(path, ignored))
            throw RunError(Exit::failed, fmt::format("{} is not there", path),
                           "name the folder of a run, or a plan with --weights FILE");
        throw RunError(Exit::usage, fmt::format("nobody says which weights {} has", path),
                       "give --weights FILE, or the folder of a run in place of the plan");
    }
    const RunFolder run(path);
    refuse_links(run.path());  // before anything in it is read
    TrainedNetwork network{path, run.plan(), weights.empty() ? run.weights() : weights};
    for (const std::string& file : {network.plan, network.weights})
        if (!std::filesystem::exists(file, ignored))
            throw RunError(
                Exit::failed, fmt::format("{} is not there", file),
                file == network.plan
                    ? fmt::format("name the folder of a run, as runs/NAME; {} is none", path)
                    : fmt::format("a run has weights when it has ended: dtnn-run --resume {}",
                                  path));
    return network;
}

}  // namespace dtnn
