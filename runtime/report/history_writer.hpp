#pragma once
/// Writes a run's history.jsonl: a line of JSON for each event. The forms are stable. All figures
/// are those of all ranks together. history_reader.hpp reads it back.
///
///     {"event": "start", "format", "time", "name", "model", "plan", "dataset", "threads", "ranks",
///      "first_step_milliseconds", "version",
///      "machine": {"host", "system", "processor", "processors", "memory_bytes"}, "class_names"}
///           `format` is formats::kHistory; histories of releases before 0.2 do not say it.
///           `class_names` only where the dataset has names for its classes
///     {"event": "epoch", "epoch", "step", "learning_rate", "train": {"loss", METRIC...},
///      "validation": {...}, "samples_per_second", "seconds",
///      "steps": {"step": [...], "loss": [...], "learning_rate": [...]}}
///           `validation` is null where nothing is split off. `steps`: for some steps each, up to
///           the one named, the mean training loss, and the rate of that step
///     {"event": "evaluate", "test": {...}, "samples"}
///     {"event": "stopped", "epoch", "reason"}
///           a schedule has ended the training
///     {"event": "restored", "epoch", METRIC: value}
///           the weights are those of this epoch
///     {"event": "interrupted", "epoch", "step"}
///           epochs finished and steps done
///     {"event": "resume", "time", "epoch", "step", "threads", "ranks"}
///           epochs finished and steps done when the checkpoint was written
///     {"event": "continued", "epoch", "epochs", "spanning"}
///           behind `resume`: the training had ended after `epoch`, and is now another one of so
///           many epochs; the schedules that span all of them
///     {"event": "failed", "error"}

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "runtime/base/files.hpp"
#include "runtime/train/loop.hpp"

namespace dtnn::runtime {

/// {"loss": 0.1, "categorical_accuracy": 0.97} with the shortest digits that read back exactly; a
/// metric may also be a list, or a matrix as a list of rows. NaN and infinities are null.
std::string measures_json(const PassValues& pass);

class HistoryWriter {
  public:
    /// `put_back` is called when the file had been removed, with its folder perhaps, and is there
    /// again: the time to bring back what belongs beside it.
    HistoryWriter(const std::string& path, const plan::Plan& plan,
                  LineFile::Begin begin = LineFile::Begin::empty,
                  std::function<void()> put_back = {});

    /// `dataset_hash` is a hash of everything the samples depend on, so that a changed dataset is
    /// noticed; empty: not known.
    void start(const std::string& checksum, int threads, double first_step_milliseconds,
               const std::string& dataset_hash = {}, int ranks = 1,
               const std::vector<std::string>& class_names = {});
    void epoch(const EpochResult& result);
    void evaluate(const PassValues& test);
    void stopped(const TrainingResult& result);   ///< nothing when no schedule has
    void restored(const TrainingResult& result);  ///< nothing when nothing was
    void interrupted(const TrainingResult& result);
    /// The run goes on from a checkpoint: drops what is behind so many bytes, told after that.
    void resume(const TrainingState& state, std::int64_t bytes, int threads, int ranks = 1);
    /// The training that had ended after `epoch` is now one of so many epochs.
    void continued(std::int64_t epoch, std::int64_t epochs,
                   const std::vector<std::string>& spanning);
    bool empty() const { return file_.bytes() == 0; }
    /// Writes everything to the disk. Returns the length.
    std::int64_t flush();
    void failed(const std::string& error);  ///< nothing after close(): the run itself was done
    void close() { file_.close(); }

  private:
    void see_to_file();
    void add(const std::string& line);

    std::string name_;
    std::string model_;
    LineFile file_;
    std::function<void()> put_back_;
};

}  // namespace dtnn::runtime
