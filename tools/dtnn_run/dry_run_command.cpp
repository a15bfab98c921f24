#include <fmt/format.h>

#include <algorithm>

#include "plan/audit/audit.hpp"
#include "plan/json/json.hpp"
#include "plan/rules/parallel.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/exec/plan_text.hpp"
#include "runtime/train/dry_run.hpp"
#include "tools/dtnn_run/commands.hpp"

namespace dtnn {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file is its command line

namespace {

RunError refused(const std::string& path, const std::string& fact, const std::string& help) {
    return RunError(Exit::mismatch, fmt::format("the plan {} is refused: {}", path, fact), help);
}

/// Not load_plan(): the machine of the ranks is not this one.
plan::Plan read_and_audit(const std::string& path) {
    const std::string text = plan_text(path);
    plan::ReadResult result = plan::read_plan(text);
    if (!result.plan)
        throw refused(path, result.error, "name a plan, the output of dtnnc compile SPEC -o PLAN");
    const std::vector<std::string> findings = plan::audit(*result.plan);
    if (!findings.empty())
        throw refused(path, findings.front(),
                      "compile the job again with the dtnnc of this version");
    return std::move(*result.plan);
}

}  // namespace

int dry_run_command(const Options& options) {
    if (options.plan.empty())
        throw RunError(Exit::usage, "no plan is named", "name one: dtnn-run --dry-run PLAN");
    const plan::Plan plan = read_and_audit(options.plan);
    const int ranks = options.ranks > 0 ? options.ranks : std::max(plan.target.ranks, 1);
    if (const std::string reason = plan::refuses_ranks(plan, ranks); !reason.empty()) {
        throw refused(options.plan, reason,
                      plan.parallel.data
                          ? "give the job `parallel: {data: auto}` for any number of ranks"
                          : "give the job `parallel: {data: auto}` and compile it again");
    }
    if (plan.training.batch_size < 1 || plan.training.accumulation < 1 ||
        plan.dataset.train_samples < 1)
        throw refused(options.plan, "it trains on no samples",
                      "compile the job again with the dtnnc of this version");
    const DryRun result = dry_run(plan, ranks);
    if (options.format == tools::Format::json) print_out(dry_run_json(result, plan));
    if (!result.findings.empty()) {
        throw RunError(Exit::mismatch,
                       fmt::format("{} ranks cannot run the plan {} together: {}", ranks,
                                   options.plan, fmt::join(result.findings, "; ")),
                       "compile the job again with the dtnnc of this version");
    }
    if (options.format != tools::Format::json) print_out(dry_run_text(result, plan));
    return int(Exit::done);
}

}  // namespace dtnn
