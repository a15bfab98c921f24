#pragma once
/// The list of a sweep's plans, which `dtnnc compile --sweep` writes beside them, and where the run
/// of each plan is: what the compiler's commands and the runtime's must agree on.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dtnn::plan {

inline constexpr const char* kSweepIndex = "index.json";
inline constexpr std::string_view kSweepPlanEnding = ".plan.json";
/// The folder of the runs, in the sweep's: runs/NAME is that of NAME.plan.json.
inline constexpr const char* kSweepRuns = "runs";
/// The table of the runs, in the sweep's folder.
inline constexpr const char* kSweepTable = "results.csv";

/// A setting with its values, as --sweep gave them.
struct SweptSetting {
    std::string path;                 ///< "training.batch_size"
    std::vector<std::string> values;  ///< YAML
};

struct SweptPlan {
    std::string file;                   ///< in the sweep's folder; empty: none was written
    std::vector<std::string> settings;  ///< "training.batch_size=32", one for each swept setting
    std::int64_t parameters = 0;
    std::int64_t arena_bytes = 0;
    std::int64_t forward_flops_per_sample = 0;
    std::int64_t train_step_flops = 0;

    /// The file without its ending: the name of the plan's run.
    std::string name() const;
    /// The value that was chosen for the swept setting `index`: "32".
    std::string value(std::size_t index) const;
};

struct SweepIndex {
    std::string spec;
    std::vector<std::string> settings;  ///< of --set
    std::vector<SweptSetting> sweeps;
    std::vector<SweptPlan> plans;  ///< the first sweep changes slowest
};

std::string to_json(const SweepIndex& index);

/// Reads what to_json() has written. What is wrong is in `error`, else that is empty: text that is
/// no index, a plan whose file is not a name in the folder, two of one name, settings that are not
/// one for each sweep.
SweepIndex read_sweep_index(std::string_view text, std::string& error);

}  // namespace dtnn::plan
