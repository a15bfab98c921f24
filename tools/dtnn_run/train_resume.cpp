/// The folder of a training's run, and going on with what it holds.

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "base/file_limits.hpp"
#include "base/saturating.hpp"
#include "base/text.hpp"
#include "plan/rules/local_steps.hpp"
#include "plan/rules/parallel.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/regular_file.hpp"
#include "runtime/report/history_reader.hpp"
#include "tools/dtnn_run/commands.hpp"
#include "tools/dtnn_run/job_notes.hpp"
#include "tools/dtnn_run/plan_path.hpp"
#include "tools/dtnn_run/train_run.hpp"

namespace dtnn {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file is its command line

void TrainRun::open_folder() {
    // A file that cannot be written is better known now; until the run's end it is a trace of
    // nothing.
    if (!options_.trace.empty()) write_file(options_.trace, "{\"traceEvents\": []}\n");
    const bool begins = options_.resume.empty();
    const RunFolder folder = begins ? RunFolder(options_.output, start_.loaded, options_.force)
                                    : RunFolder(options_.resume);
    leave_note("run", folder.path());
    if (!begins) {
        ended_ = ended_trainings(options_);
        for (EndedTraining& one : ended_)
            take_data(one, plan());
    }
    kept_.emplace(folder, start_.loaded, *session_,
                  RunIdentity{start_.loaded.checksum, dataset_, start_.threads,
                              ended_identities(ended_, plan())},
                  begins ? LineFile::Begin::empty : LineFile::Begin::as_it_is, warn);
    progress_.emplace(choose_progress(options_.progress), choose_color(options_.color), plan(),
                      options_.progress_seconds);
    session_->watch_evaluation([this](std::int64_t done, std::int64_t batches) {
        progress_->part(evaluated_ + ": batch", done, batches);
    });
    if (!options_.resume.empty()) go_on();
    watch_.emplace(kept_->folder.path(), session_->executor(),
                   WatchRequest{options_.tensorboard || options_.histograms_every > 0,
                                options_.histograms_every},
                   state_ ? state_->step : 0);
    if (!options_.trace.empty()) trace_.emplace(session_->executor());
}

/// The state that rank 0 has read, on all ranks.
std::optional<TrainingState> TrainRun::of_first(const std::optional<TrainingState>& state) {
    if (communicator_.ranks() == 1) return state;
    const auto all = communicator_.all_gather(
        first() && state ? bytes_of(*state) : std::vector<std::byte>(), "the checkpoint's state");
    if (all.front().empty()) return std::nullopt;
    if (first()) return state;  // with what has not travelled
    return state_of(all.front());
}

/// The run's plan was this one, or one that shares the work in another way.
void TrainRun::keep_plan(const std::string& checksum) {
    if (checksum == start_.loaded.checksum) return;
    kept_->folder.write_plan(start_.loaded);
}

/// Says how the ranks share the training otherwise than those that the checkpoint is of.
void TrainRun::tell_sharing(const TrainingState& state) {
    const int ranks = communicator_.ranks();
    const std::int64_t now = plan().training.batch_size;
    const std::int64_t before = state.batch_size > 0 ? state.batch_size : now;
    const std::int64_t global = saturating_product({before, state.ranks});
    const bool same = global == plan::global_batch(plan(), ranks);
    // Other batches of another product are refused in any case, and so are local steps.
    if (state.ranks == ranks || plan::moves_locally(plan().parallel)) return;
    if (before != now && !same && !options_.keep_global_batch) return;
    const std::string change = fmt::format(
        "the checkpoint is of {}, global batches of {} samples; this run has {}, global batches of "
        "{}",
        sharing_text(state.ranks, before), global, sharing_text(ranks, now),
        plan::global_batch(plan(), ranks));
    if (same) {
        for (const std::string& reason : plan::depends_on_ranks(plan()))
            warn(fmt::format("{}: the same, but {}", change, reason));
        return;
    }
    if (options_.keep_global_batch)
        throw RunError(Exit::mismatch, change, keep_batch_help(global, ranks));
    warn(fmt::format("{}, and the results are others (--keep-global-batch refuses that)", change));
}

void TrainRun::go_on() {
    kept_->checkpoints.clean();
    std::optional<Checkpoint> newest = kept_->checkpoints.load_newest(warn);
    std::error_code ignored;
    const bool plan_is_gone = !std::filesystem::exists(kept_->folder.plan(), ignored);
    if (!newest && plan_is_gone) {
        throw RunError(
            Exit::mismatch,
            fmt::format("{} is gone, and no checkpoint says whether {} is the run's plan",
                        kept_->folder.plan(), options_.plan),
            "begin a new run: dtnn-run PLAN --output DIR");
    }
    if (!newest && !options_.epochs.empty()) {
        throw RunError(
            Exit::mismatch,
            fmt::format("{} keeps no checkpoint: how the optimizer stood at its end is not there",
                        kept_->folder.path()),
            "begin a new training with the run's weights (--weights)");
    }
    if (!newest) {
        const LoadedPlan kept = read_plan_file(kept_->folder.plan());
        if (for_any_ranks(kept.plan) &&
            kept.plan.training.batch_size != plan().training.batch_size) {
            throw RunError(Exit::mismatch,
                           fmt::format("{} has no checkpoint that says how many ranks it had",
                                       kept_->folder.path()),
                           "begin a new run: dtnn-run PLAN --output DIR");
        }
        keep_plan(kept.checksum);
        kept_->history.resume({}, 0, start_.threads, communicator_.ranks());
        progress_->say(fmt::format("dtnn-run: {} has no checkpoint yet; beginning from the start",
                                   kept_->folder.path()));
        return;
    }
    // Another number of ranks has other data, too, where each has its own.
    if (plan().parallel.private_data)
        static_cast<void>(at_ranks(plan(), newest->state, communicator_.ranks()));
    if (newest->dataset != dataset_) {
        throw RunError(
            Exit::mismatch,
            fmt::format("the dataset `{}` is not what it was when the checkpoint was written",
                        plan().dataset.name),
            "bring back the samples that the training began with, or begin a new run with the "
            "run's weights (--weights)",
            fmt::format("its hash is {}, it was {}", dataset_, newest->dataset));
    }
    if (newest->threads != start_.threads) {
        warn(
            fmt::format("the checkpoint is of a run with {}, this one has {}; sums are rounded "
                        "otherwise, and the results with them",
                        count_text(newest->threads, "thread"), start_.threads));
    }
    tell_sharing(newest->state);
    const AnotherTraining another = begin_another_training(ended_, plan(), communicator_.ranks(),
                                                           newest->training, newest->state);
    state_ = at_ranks(plan(), newest->state, communicator_.ranks());
    keep_ended_plans(kept_->folder.path(), ended_);
    keep_plan(plan_is_gone ? "" : newest->plan);
    // The end of the training before is a result, whatever becomes of this one.
    const std::int64_t told =
        another.begins
            ? bytes_of_ended(read_file(kept_->folder.history(), kMostHistoryBytes, "a history"),
                             newest->history_bytes)
            : newest->history_bytes;
    kept_->history.resume(*state_, told, start_.threads, communicator_.ranks());
    if (another.begins)
        kept_->history.continued(state_->epoch, plan().training.epochs, another.spanning);
    for (const std::string& line : another.lines)
        progress_->say(line);
    state_ = std::move(newest->state);
}

}  // namespace dtnn
