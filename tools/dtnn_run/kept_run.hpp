#pragma once
/// What a training leaves on the disk: the run's folder with its plan, history, checkpoints and
/// weights.

#include <functional>
#include <string>

#include "runtime/checkpoint/run_checkpoints.hpp"
#include "runtime/report/history_writer.hpp"
#include "runtime/report/run_folder.hpp"
#include "runtime/train/session.hpp"

namespace dtnn {

struct KeptRun {
    /// Both outlive it. `begin` says whether a history that is there goes on; `warn` is told what
    /// was mended.
    KeptRun(runtime::RunFolder the_folder, const runtime::LoadedPlan& loaded,
            runtime::Session& session, runtime::RunIdentity identity,
            runtime::LineFile::Begin begin, const std::function<void(const std::string&)>& warn);
    KeptRun(const KeptRun&) = delete;
    KeptRun& operator=(const KeptRun&) = delete;

    /// Writes the weights, and the averages where the training keeps some.
    void save();
    /// The history's last lines, once the test has been evaluated.
    void tell_end(const runtime::TrainingResult& result, const runtime::PassValues& test);

    const runtime::LoadedPlan& loaded;
    runtime::Session& session;
    runtime::RunFolder folder;
    runtime::HistoryWriter history;
    runtime::RunCheckpoints checkpoints;
};

}  // namespace dtnn
