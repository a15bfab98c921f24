/// Training: from its first step to the files of its end.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <optional>
#include <utility>

#include "base/json_text.hpp"
#include "base/text.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/checkpoint/weights.hpp"
#include "runtime/train/initialize.hpp"
#include "tools/dtnn_run/commands.hpp"
#include "tools/dtnn_run/plan_path.hpp"
#include "tools/dtnn_run/train_run.hpp"

namespace dtnn {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file is its command line

TrainRun::TrainRun(const Options& options, Communicator& communicator)
    : options_(options),
      communicator_(communicator),
      start_(start_together(
          communicator, options, [&] { return plan_path(options, communicator.ranks()); },
          [&](LoadedPlan kept) {
              return plan_of_more_epochs(options, std::move(kept), communicator.ranks());
          })) {
    OpenData data = open_data(communicator, start_.loaded.plan);
    dataset_ = data.hash;
    together(communicator, "the memory and the weights", [&] {
        session_.emplace(plan(), start_.threads, std::move(data.source), communicator);
        session_->set_rank_samples(data.samples);
        pin_threads(start_, *session_);
        if (!options.weights.empty())
            load_wanted_weights(session_->executor(), options.weights, options.weight_options);
    });
    together(communicator, "the run's folder", [&] {
        if (first()) open_folder();
        if (!options.log_samples.empty())
            log_.emplace(options.log_samples, communicator.rank(), communicator.ranks(),
                         !options.resume.empty());
    });
    if (!options.resume.empty()) state_ = of_first(state_);
    if (log_ && !options.resume.empty()) log_->cut_after(state_ ? state_->step : 0);
}

void TrainRun::announce() {
    const plan::Training& training = plan().training;
    if (!first()) return;
    const int ranks = communicator_.ranks();
    std::int64_t samples = plan().dataset.train_samples;
    // The samples that an epoch sees, where ranks have data of their own.
    if (const plan::LocalSteps* local = session_->local_steps())
        samples = local->samples_before(local->steps());
    progress_->say(fmt::format(
        "{}: {} samples, {}, {}{}{}; writing {}", plan().name, samples,
        count_text(training.epochs, "epoch"), ranks == 1 ? "" : fmt::format("{} ranks, ", ranks),
        count_text(start_.threads, "thread"), ranks == 1 ? "" : " each", kept_->folder.path()));
    if (!start_.processors.empty())
        progress_->say(fmt::format("{}threads stay on processors {}", ranks == 1 ? "" : "rank 0: ",
                                   fmt::join(start_.processors, ", ")));
    if (!state_) return;
    if (state_->epoch >= training.epochs || !state_->stop.empty()) {
        progress_->say(fmt::format("its training was over after step {}", state_->step));
        return;
    }
    progress_->say(fmt::format("going on after step {}, {} of epoch {}", state_->step,
                               count_text(state_->batch, "step"), state_->epoch + 1));
}

/// The newest state that can be gone back to. The parameters become those of rank 0 when the loop
/// begins again.
TrainingState TrainRun::rewind() {
    std::optional<TrainingState> state;
    together(communicator_, "going back", [&] {
        if (first()) {
            if (std::optional<Checkpoint> newest = kept_->checkpoints.load_newest(warn))
                state = newest->state;
        }
        if (state) return;
        initialize(session_->executor());
        if (!options_.weights.empty())
            load_weights(session_->executor(),
                         weight_request(options_.weights, options_.weight_options));
    });
    return of_first(state).value_or(TrainingState{});
}

int TrainRun::interrupted(const TrainingResult& result) {
    if (!first()) return int(Exit::interrupted);
    try {
        kept_->history.interrupted(result);
        kept_->history.close();
    } catch (const RunError& error) {
        warn(error.what());
    }
    progress_->say(fmt::format(
        "dtnn-run: stopped by a signal after step {}, {} of the epochs are done; go on with\n"
        "  dtnn-run --resume {}",
        result.step, result.epoch, kept_->folder.path()));
    return int(Exit::interrupted);
}

void TrainRun::save() {
    if (first()) kept_->save();
}

/// Behind the weights: a trace is not worth losing them.
void TrainRun::save_trace() {
    if (!trace_) return;
    try {
        write_file(options_.trace, trace_->json());
        write_file(kept_->folder.path() + "/operator_times.txt", trace_->table());
    } catch (const RunError& error) {
        warn(error.what());
    }
    trace_.reset();
}

int TrainRun::finish(const TrainingResult& result) {
    if (result.interrupted) {
        // The checkpoint is on the disk. What else cannot be written does not change that the run
        // can go on.
        try {
            save();
            save_trace();
        } catch (const RunError& error) {
            warn(error.what());
        }
        return interrupted(result);
    }
    save();
    save_trace();
    if (result.not_restored) {
        const RunError& error = *result.not_restored;
        throw SharedRunError(RunError(
            error.exit(), fmt::format("the best weights cannot be taken back: {}", error.what()),
            fmt::format("{} are those of the last epoch",
                        kept_ ? kept_->folder.weights() : "the run's weights"),
            error.detail()));
    }
    if (first() && !result.stop.empty()) progress_->say("training ends: " + result.stop);
    if (first() && result.restored) {
        progress_->say(fmt::format("the weights are those of epoch {}, {} {:.4g}",
                                   result.restored->epoch, result.restored->metric,
                                   result.restored->value));
    }
    evaluated_ = "test";
    const PassValues test = session_->evaluate(Split::test, session_->sampler().test());
    if (test.stopped) {
        session_->gather_states();
        if (first()) kept_->checkpoints.checkpoint(result.state);
        return interrupted(result);
    }
    together(communicator_, "the test's loss", [&] { require_number(test); });
    if (!first()) return int(Exit::done);
    kept_->tell_end(result, test);
    watch_->update();
    kept_->history.close();
    kept_->checkpoints.forget_dropped();
    const bool json = options_.format == tools::Format::json;
    // All is done and kept; the exit code says whether the answer came to where it was wanted.
    const bool answered =
        progress_->answer(json ? fmt::format("{{\"version\": 1, \"output\": {}, \"test\": {}}}",
                                             json_text(kept_->folder.path()), measures_json(test))
                               : "test: " + measures_text(test),
                          json);
    progress_->say(fmt::format("plan     {}\nspec     {}\nhistory  {}\nweights  {}",
                               kept_->folder.plan(), kept_->folder.resolved(),
                               kept_->folder.history(), kept_->folder.weights()));
    if (plan().training.average_decay > 0)
        progress_->say("averages " + kept_->folder.average_weights());
    return int(answered ? Exit::done : Exit::failed);
}

int TrainRun::train_and_finish() {
    // The weights that it began with are in no plan: a run that is killed before its first
    // checkpoint would not find them again.
    if (!options_.weights.empty()) {
        TrainingState beginning;
        beginning.ranks = communicator_.ranks();
        session_->gather_states();
        if (first()) kept_->checkpoints.checkpoint(beginning);
        session_->executor().shard_states().clear();
    }
    SampleLog* const log = log_ ? &*log_ : nullptr;
    RankReport quiet(log);
    std::optional<RunReport> report;
    if (first()) {
        report.emplace(
            log, kept_->history, *progress_, *watch_,
            RunBeginning{start_, dataset_, class_names_of(session_->source(), plan().dataset),
                         communicator_.ranks()});
    }
    TrainingRequest request;
    request.from = state_ ? &*state_ : nullptr;
    request.keeper = first() ? static_cast<TrainingKeeper*>(&kept_->checkpoints) : &nothing_kept_;
    request.check_numbers = options_.check_numbers;
    request.rewind = [this] { return rewind(); };
    return finish(
        train(*session_, first() ? static_cast<TrainingObserver&>(*report) : quiet, request));
}

int TrainRun::run() {
    const UnderWay training;
    announce();
    try {
        return train_and_finish();
    } catch (const RunError& error) {
        if (!first()) throw;
        // The history says how the run ended; when it cannot be written either, the first error is
        // what counts.
        try {
            kept_->history.failed(error.detail().empty() ? error.what()
                                                         : error.detail() + ": " + error.what());
        } catch (const RunError&) {  // NOLINT(bugprone-empty-catch)
        }
        throw;
    }
}

int train_command(const Options& options) {
    return with_ranks(
        options, [&](Communicator& communicator) { return TrainRun(options, communicator).run(); });
}

}  // namespace dtnn
