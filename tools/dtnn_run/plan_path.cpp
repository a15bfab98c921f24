#include "tools/dtnn_run/plan_path.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "plan/diff/diff.hpp"
#include "plan/rules/parallel.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/checkpoint/training_identity.hpp"
#include "runtime/exec/load.hpp"
#include "runtime/report/run_files.hpp"
#include "runtime/report/run_folder.hpp"

namespace dtnn {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file is its command line

bool for_any_ranks(const plan::Plan& plan) {
    return plan.parallel.data && plan.parallel.any_ranks;
}

std::string plan_path(const Options& options, int ranks) {
    if (options.resume.empty()) {
        if (!options.plan.empty()) return options.plan;
        throw RunError(Exit::usage, "train needs a PLAN, or --resume RUN",
                       "dtnn-run PLAN, or dtnn-run --resume RUN");
    }
    const RunFolder run(options.resume);
    refuse_links(run.path());  // before anything in it is read
    std::string own = run.plan();
    std::error_code ignored;
    if (!std::filesystem::exists(own, ignored)) {
        if (!std::filesystem::is_directory(run.path() + "/checkpoints", ignored)) {
            throw RunError(Exit::usage, fmt::format("{} is no folder of a run", run.path()),
                           "name the folder that dtnn-run wrote: it has plan.json, history.jsonl "
                           "and checkpoints");
        }
        // That it is the run's plan, the checkpoint says, which holds its checksum.
        if (!options.plan.empty()) return options.plan;
        throw RunError(Exit::mismatch, fmt::format("{} is gone", own),
                       fmt::format("give the plan that the run began with: dtnn-run PLAN --resume "
                                   "{}",
                                   run.path()));
    }
    if (options.plan.empty()) return own;
    const LoadedPlan given = load_plan(options.plan, ranks), kept = read_plan_file(own);
    if (given.checksum == kept.checksum) return own;
    const bool same_batch = given.plan.training.batch_size == kept.plan.training.batch_size ||
                            plan::global_batch(given.plan, ranks) ==
                                plan::global_batch(kept.plan, kept.plan.target.ranks);
    if (training_identity(given.plan) == training_identity(kept.plan) &&
        (for_any_ranks(kept.plan) || same_batch))
        return options.plan;
    throw RunError(Exit::mismatch,
                   fmt::format("{} is not the plan that {} began with", options.plan,
                               RunFolder(options.resume).path()),
                   "leave the plan out to go on, or begin a new run with the run's weights "
                   "(--weights)",
                   plan::headline(plan::diff(kept.plan, given.plan)));
}

}  // namespace dtnn
