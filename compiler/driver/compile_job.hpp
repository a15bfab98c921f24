#pragma once
/// From a job to its plan: the one way, for commands, tests, calibration and whoever links the
/// library. Nothing here prints or ends the program.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/frontend/specs.hpp"
#include "compiler/support/diagnostics.hpp"
#include "plan/plan.hpp"

namespace dtnn::compiler {

struct Graph;
class TuningHistory;

/// The choices of a caller beside the job. What is left at its default is decided by the job, then
/// by its machine, then by the machine that compiles.
struct CompileOptions {
    std::string device = "cpu";
    std::string isa = {};            ///< empty: the machine's, else the best of this one
    std::string usual_isa = {};      ///< where the machine says none; empty: the best of this one
    int threads = 0;                 ///< 0: the job's, else its machine's cores per rank
    int usual_threads = 0;           ///< where those say nothing; 0: the cores of this process
    std::int64_t memory_budget = 0;  ///< bytes per rank; 0: the job's
    std::vector<std::string> disabled_passes = {};  ///< optional ones
    bool reference_kernels = false;                 ///< chooses the reference kernels only
    /// Times of kernels to choose by, those of the processor that the job's machine names, else of
    /// this machine's; null: none.
    const TuningHistory* tuning = nullptr;
    /// Is called after each phase ("forward", a pass, "schedule", ...) of each program.
    std::function<void(const std::string& phase, const std::string& program, const Graph&)>
        observe = {};
    /// Is called before work that may take long, with what it is.
    std::function<void(const std::string& work)> tell = {};
};

/// The options of a spec beside a plan that it is compared with, so that only what is written can
/// differ: the plan's device and, where the spec or its machine does not say otherwise, the plan's
/// instruction set and threads.
CompileOptions options_beside(const plan::Plan& other);

/// An option that cannot be carried out, whatever the job.
struct OptionMistake {
    std::string text;  ///< names the option as `dtnnc compile` does: "--isa avx3: ..."
    std::string help;  ///< empty: none
};
std::optional<OptionMistake> find_mistake(const CompileOptions& options);

/// Compiles a job. Mistakes of the user, in the options too, are added to `diagnostics` and give no
/// plan; a job whose loading left errors there is not compiled. A bug of ours is an InternalError.
std::optional<plan::Plan> compile_job(const JobSpec& job, const CompileOptions& options,
                                      Diagnostics& diagnostics);

/// Loads a job, or a model alone, and compiles it.
std::optional<plan::Plan> compile_file(const std::string& path, const LoadOptions& load,
                                       const CompileOptions& options, Diagnostics& diagnostics);

}  // namespace dtnn::compiler
