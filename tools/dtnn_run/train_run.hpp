#pragma once
/// A training as one of its ranks does it: from the beginning, or from the newest checkpoint of a
/// run (train_resume.cpp), to the files of its end (train_command.cpp).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/report/progress.hpp"
#include "runtime/report/run_watch.hpp"
#include "runtime/report/trace.hpp"
#include "runtime/train/loop.hpp"
#include "tools/dtnn_run/kept_run.hpp"
#include "tools/dtnn_run/more_epochs.hpp"
#include "tools/dtnn_run/sample_log.hpp"
#include "tools/dtnn_run/start.hpp"
#include "tools/dtnn_run/train_reports.hpp"

namespace dtnn {

/// One rank's part of a run. Rank 0 has the run's folder, and tells of it; the others have neither.
class TrainRun {
  public:
    TrainRun(const Options& options, runtime::Communicator& communicator);

    int run();

  private:
    const plan::Plan& plan() const { return start_.loaded.plan; }
    bool first() const { return communicator_.rank() == 0; }
    void open_folder();
    std::optional<runtime::TrainingState> of_first(
        const std::optional<runtime::TrainingState>& state);
    void go_on();
    void tell_sharing(const runtime::TrainingState& state);
    void keep_plan(const std::string& checksum);
    void announce();
    runtime::TrainingState rewind();
    int train_and_finish();
    int finish(const runtime::TrainingResult& result);
    int interrupted(const runtime::TrainingResult& result);
    void save();
    void save_trace();

    const Options& options_;
    runtime::Communicator& communicator_;
    Start start_;
    std::optional<runtime::Session> session_;
    std::string dataset_;
    NothingKept nothing_kept_;
    std::optional<SampleLog> log_;
    // Rank 0 only:
    std::optional<KeptRun> kept_;
    std::vector<EndedTraining> ended_;  ///< of the run, before this one
    std::optional<runtime::ProgressReport> progress_;
    std::string evaluated_ = "validation";  ///< what the passes of now are of
    std::optional<runtime::RunWatch> watch_;
    std::optional<runtime::Trace> trace_;
    std::optional<runtime::TrainingState>
        state_;  ///< where it goes on; nothing: from the beginning
};

}  // namespace dtnn
