#pragma once
/// A plan from what the user names: a spec, which is compiled, or a plan, which is read and
/// audited.

#include <optional>
#include <stdexcept>
#include <string>

#include "compiler/driver/compile_job.hpp"
#include "compiler/support/diagnostics.hpp"
#include "plan/plan.hpp"
#include "plan/sweep_index.hpp"
#include "tools/dtnnc/options.hpp"

namespace dtnn::tools {

/// The options of `compile` beyond the common ones; `summary` and `diff` compile specs with the
/// defaults.
struct CompileCommand {
    compiler::CompileOptions options;
    std::string memory_budget;      ///< "4GiB"; empty: the job's
    std::vector<std::string> emit;  ///< PHASE or PHASE:PROGRAM
    std::string tuning;       ///< the file of times to choose kernels by; empty: the usual one
    bool no_tuning = false;   ///< chooses without times
    bool every_fold = false;  ///< a job whose folds are not chosen from is FoldsWanted
};

/// A job is cut into so many folds (`k_folds`), and says of none that it is kept for validation.
struct FoldsWanted {
    std::int64_t folds;
};

/// How kernels are chosen, of commands that write plans.
void declare_tuning(OptionList& list, CompileCommand& command);

/// Compiles a spec, of one with folds the first where none is chosen. Nothing when `diagnostics`
/// has errors. Throws UsageError for options that cannot be carried out and InternalError for our
/// bugs, after the graph was written aside.
std::optional<plan::Plan> compile_spec(const std::string& spec, const CompileCommand& command,
                                       const CommonOptions& common,
                                       compiler::Diagnostics& diagnostics);

/// A file that cannot be used as a plan: exit code 5.
class PlanError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Whether the file is a plan: it begins like one, or is called .json.
bool is_plan(const std::string& path);

/// Reads and audits; throws PlanError.
plan::Plan load_plan(const std::string& path);

/// The plan that is named, or that of the spec, compiled: nothing when `diagnostics` has errors.
/// Options of specs are refused for a plan.
std::optional<plan::Plan> named_plan(const std::string& spec_or_plan, const CompileCommand& command,
                                     const CommonOptions& common,
                                     compiler::Diagnostics& diagnostics);

/// Reads the index of the sweep in the folder; throws PlanError.
plan::SweepIndex read_sweep(const std::string& folder);

}  // namespace dtnn::tools
