#pragma once
/// The folder that a run writes: plan.json, resolved.yaml, history.jsonl, weights.safetensors,
/// weights_average.safetensors where the training keeps averages, checkpoints/ and best/.

#include <string>

#include "runtime/exec/load.hpp"

namespace dtnn::runtime {

class RunFolder {
  public:
    /// Creates the folder and writes the plan and the resolved spec into it. `output` empty: a new
    /// folder runs/NAME-DATE-TIME, with -2, -3 ... when that is taken. A folder that holds a run
    /// already (a history or weights) is a RunError, unless `replace`; then the run's files are
    /// removed first. One with links in it is, too (run_files.hpp).
    RunFolder(const std::string& output, const LoadedPlan& plan, bool replace);

    /// The folder of a run that began earlier; changes nothing.
    explicit RunFolder(const std::string& existing);

    /// Writes the plan and the resolved spec, again where they are gone.
    void write_plan(const LoadedPlan& plan) const;

    const std::string& path() const { return path_; }
    std::string plan() const { return path_ + "/plan.json"; }
    std::string resolved() const { return path_ + "/resolved.yaml"; }
    std::string history() const { return path_ + "/history.jsonl"; }
    std::string weights() const { return path_ + "/weights.safetensors"; }
    std::string average_weights() const { return path_ + "/weights_average.safetensors"; }

  private:
    std::string path_;
};

/// A name as a part of a path: letters, digits, `-`, `_` and `.` stay, all else becomes `_`; never
/// empty or hidden.
std::string as_folder_name(const std::string& name);

}  // namespace dtnn::runtime
