#pragma once
/// The reports of a training while it runs: on rank 0 to the history and the screen, on the others
/// to nobody but the log of samples.

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/report/history_writer.hpp"
#include "runtime/report/progress.hpp"
#include "runtime/report/run_watch.hpp"
#include "runtime/train/loop.hpp"
#include "tools/dtnn_run/sample_log.hpp"
#include "tools/dtnn_run/start.hpp"

namespace dtnn {

/// The report of a rank whose training rank 0 reports.
class RankReport : public runtime::TrainingObserver {
  public:
    explicit RankReport(SampleLog* log) : log_(log) {}
    void batch(const runtime::BatchSamples& batch) override;

  private:
    SampleLog* log_;
};

/// The facts that a run's history says of its beginning.
struct RunBeginning {
    const Start& start;
    std::string dataset;  ///< its hash
    std::vector<std::string> class_names;
    int ranks;
};

/// Tells the history and the screen what the loop says.
class RunReport final : public RankReport {
  public:
    RunReport(SampleLog* log, runtime::HistoryWriter& history, runtime::ProgressReport& progress,
              runtime::RunWatch& watch, RunBeginning beginning);
    void first_step() override;
    void step(const runtime::Progress& progress) override;
    void epoch(const runtime::EpochResult& result) override;
    void searching(const runtime::TrainingState& from, std::int64_t until_step) override;

  private:
    runtime::HistoryWriter& history_;
    runtime::ProgressReport& progress_;
    runtime::RunWatch& watch_;
    RunBeginning beginning_;
};

/// The keeper of a rank whose checkpoints and best weights rank 0 keeps.
class NothingKept final : public runtime::TrainingKeeper {
  public:
    void checkpoint(runtime::TrainingState) override {}
    void keep_best(const runtime::BestWeights&) override {}
    void forget_others(const std::vector<runtime::KeptWeights>&) override {}
    void take_back(const runtime::BestWeights&) override {}
};

}  // namespace dtnn
