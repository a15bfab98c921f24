#include "tools/dtnn_run/train_reports.hpp"

#include <fmt/format.h>

#include <utility>

#include "runtime/base/clock.hpp"

namespace dtnn {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file is its command line

void RankReport::batch(const BatchSamples& batch) {
    if (log_ != nullptr) log_->add(batch);
}

RunReport::RunReport(SampleLog* log, HistoryWriter& history, ProgressReport& progress,
                     RunWatch& watch, RunBeginning beginning)
    : RankReport(log),
      history_(history),
      progress_(progress),
      watch_(watch),
      beginning_(std::move(beginning)) {}

void RunReport::first_step() {
    if (!history_.empty()) return;  // a run that goes on
    history_.start(beginning_.start.loaded.checksum, beginning_.start.threads,
                   1e3 * seconds_since_start(), beginning_.dataset, beginning_.ranks,
                   beginning_.class_names);
}

void RunReport::step(const Progress& progress) {
    progress_.step(progress);
}

void RunReport::epoch(const EpochResult& result) {
    history_.epoch(result);
    progress_.epoch(result);
    watch_.update();
}

void RunReport::searching(const TrainingState& from, std::int64_t until_step) {
    progress_.say(fmt::format(
        "dtnn-run: a loss is not a number; repeating steps {} to {} to find what made it",
        from.step + 1, until_step));
}

}  // namespace dtnn
