/// Training: from the beginning, or from the newest checkpoint of a run.

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "plan/diff.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/checkpoint/run_checkpoints.hpp"
#include "runtime/checkpoint/weights.hpp"
#include "runtime/report/history.hpp"
#include "runtime/report/progress.hpp"
#include "runtime/report/run_folder.hpp"
#include "runtime/report/run_watch.hpp"
#include "runtime/report/trace.hpp"
#include "runtime/train/initialize.hpp"
#include "runtime/train/loop.hpp"
#include "tools/dtnn_run/commands.hpp"
#include "tools/dtnn_run/start.hpp"

namespace dtnn {
namespace {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file is its command line

/// Tells the history and the screen what the loop says.
class RunReport final : public TrainingObserver {
  public:
    RunReport(History& history, ProgressReport& progress, RunWatch& watch, const Start& start,
              std::string dataset)
        : history_(history),
          progress_(progress),
          watch_(watch),
          start_(start),
          dataset_(std::move(dataset)) {}
    void first_step() override {
        if (!history_.empty()) return;  // a run that goes on
        history_.start(start_.loaded.checksum, start_.threads, 1e3 * seconds_since_start(),
                       dataset_);
    }
    void step(const Progress& progress) override { progress_.step(progress); }
    void epoch(const EpochResult& result) override {
        history_.epoch(result);
        progress_.epoch(result);
        watch_.update();
    }
    void searching(const TrainingState& from, std::int64_t until_step) override {
        progress_.say(
            fmt::format("dtnn-run: a loss is not a number; repeating steps {} to {} to find "
                        "what made it",
                        from.step + 1, until_step));
    }

  private:
    History& history_;
    ProgressReport& progress_;
    RunWatch& watch_;
    const Start& start_;
    std::string dataset_;
};

/// The plan to train by: the one that is given, or the run's own. Both: they must be the same.
std::string plan_path(const Options& options) {
    if (options.resume.empty()) {
        if (!options.plan.empty()) return options.plan;
        throw RunError(Exit::usage, "train needs a PLAN, or --resume RUN",
                       "dtnn-run PLAN, or dtnn-run --resume RUN");
    }
    const std::string own = RunFolder(options.resume).plan();
    if (options.plan.empty()) return own;
    const LoadedPlan given = load_plan(options.plan), kept = load_plan(own);
    if (given.checksum == kept.checksum) return own;
    throw RunError(Exit::mismatch,
                   fmt::format("{} is not the plan that {} began with", options.plan,
                               RunFolder(options.resume).path()),
                   "leave the plan out to go on, or begin a new run with the run's weights "
                   "(--weights)",
                   plan::headline(plan::diff(kept.plan, given.plan)));
}

class TrainRun {
  public:
    explicit TrainRun(const Options& options)
        : options_(options),
          start_(plan_path(options)),
          session_(plan(), start_.threads, open_source(plan().dataset)),
          dataset_(fmt::format("xxh3:{:016x}", session_.source().content_hash())) {
        if (!options.weights.empty())
            load_wanted_weights(session_.executor(), options.weights, options.weight_options);
        folder_.emplace(options.resume.empty()
                            ? RunFolder(options.output, start_.loaded, options.force)
                            : RunFolder(options.resume));
        history_.emplace(
            folder_->history(), plan(),
            options.resume.empty() ? LineFile::Begin::empty : LineFile::Begin::as_it_is);
        checkpoints_.emplace(folder_->path(), session_.executor(),
                             RunIdentity{start_.loaded.checksum, dataset_, start_.threads},
                             [this] { return history_->flush(); });
        progress_.emplace(choose_progress(options.progress), choose_color(options.color), plan());
        if (!options.resume.empty()) go_on();
        watch_.emplace(folder_->path(), session_.executor(),
                       WatchRequest{options.tensorboard || options.histograms_every > 0,
                                    options.histograms_every},
                       state_ ? state_->step : 0);
        if (!options.trace.empty()) trace_.emplace(session_.executor());
    }

    int run();

  private:
    const plan::Plan& plan() const { return start_.loaded.plan; }
    void go_on();
    void announce();
    TrainingState rewind();
    int finish(const TrainingResult& result);
    int interrupted(const TrainingResult& result);
    void save();
    void save_trace();

    const Options& options_;
    Start start_;
    Session session_;
    std::string dataset_;
    std::optional<RunFolder> folder_;
    std::optional<History> history_;
    std::optional<RunCheckpoints> checkpoints_;
    std::optional<ProgressReport> progress_;
    std::optional<RunWatch> watch_;
    std::optional<Trace> trace_;
    std::optional<TrainingState> state_;  ///< where it goes on; nothing: from the beginning
};

void TrainRun::go_on() {
    checkpoints_->clean();
    std::optional<Checkpoint> newest = checkpoints_->load_newest(warn);
    if (!newest) {
        history_->resume({}, 0, start_.threads);
        progress_->say(fmt::format("dtnn-run: {} has no checkpoint yet; beginning from the start",
                                   folder_->path()));
        return;
    }
    if (newest->dataset != dataset_) {
        throw RunError(Exit::mismatch,
                       fmt::format("the dataset `{}` is not what it was when the checkpoint was "
                                   "written",
                                   plan().dataset.name),
                       "bring back the samples that the training began with, or begin a new run "
                       "with the run's weights (--weights)",
                       fmt::format("its hash is {}, it was {}", dataset_, newest->dataset));
    }
    if (newest->threads != start_.threads) {
        warn(fmt::format(
            "the checkpoint is of a run with {} {}, this one has {}; sums are rounded "
            "otherwise, and the results with them",
            newest->threads, newest->threads == 1 ? "thread" : "threads", start_.threads));
    }
    history_->resume(newest->state, newest->history_bytes, start_.threads);
    state_ = std::move(newest->state);
}

void TrainRun::announce() {
    const plan::Training& training = plan().training;
    progress_->say(fmt::format("{}: {} samples, {} {}, {} {}; writing {}", plan().name,
                               plan().dataset.train_samples, training.epochs,
                               training.epochs == 1 ? "epoch" : "epochs", start_.threads,
                               start_.threads == 1 ? "thread" : "threads", folder_->path()));
    if (!state_) return;
    if (state_->epoch >= training.epochs || !state_->stop.empty()) {
        progress_->say(fmt::format("its training was over after step {}", state_->step));
        return;
    }
    progress_->say(fmt::format("going on after step {}, {} {} of epoch {}", state_->step,
                               state_->batch, state_->batch == 1 ? "step" : "steps",
                               state_->epoch + 1));
}

/// The newest state that can be gone back to.
TrainingState TrainRun::rewind() {
    if (std::optional<Checkpoint> newest = checkpoints_->load_newest(warn)) return newest->state;
    initialize(session_.executor());
    if (!options_.weights.empty())
        load_weights(session_.executor(),
                     weight_request(options_.weights, options_.weight_options));
    return {};
}

int TrainRun::interrupted(const TrainingResult& result) {
    try {
        history_->interrupted(result);
        history_->close();
    } catch (const RunError& error) {
        warn(error.what());
    }
    progress_->say(fmt::format(
        "dtnn-run: stopped by a signal after step {}, {} of the epochs are done; go on with\n"
        "  dtnn-run --resume {}",
        result.step, result.epoch, folder_->path()));
    return int(Exit::interrupted);
}

void TrainRun::save() {
    // Someone may have removed it since; hours of training are not lost to that.
    create_folders(folder_->path());
    save_weights(session_.executor(), folder_->weights(), start_.loaded.checksum);
    if (plan().training.average_decay > 0) {
        save_evaluated_weights(session_.executor(), folder_->average_weights(),
                               start_.loaded.checksum);
    }
}

/// Behind the weights: a trace is not worth losing them.
void TrainRun::save_trace() {
    if (!trace_) return;
    try {
        write_file(options_.trace, trace_->json());
        write_file(folder_->path() + "/operator_times.txt", trace_->table());
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
    if (!result.stop.empty()) progress_->say("training ends: " + result.stop);
    if (result.restored) {
        progress_->say(fmt::format("the weights are those of epoch {}, {} {:.4g}",
                                   result.restored->epoch, result.restored->metric,
                                   result.restored->value));
    }
    const PassValues test = session_.evaluate(Split::test, session_.sampler().test());
    if (stop_requested() != 0) {
        checkpoints_->checkpoint(result.state);
        return interrupted(result);
    }
    require_number(test);
    // Behind whatever a checkpoint may have been written with: a run that goes on tells it again.
    history_->stopped(result);
    history_->restored(result);
    history_->evaluate(test);
    watch_->update();
    history_->close();
    checkpoints_->forget_dropped();
    progress_->say(fmt::format("test: {}", measures_text(test)));
    progress_->say(fmt::format("plan     {}\nspec     {}\nhistory  {}\nweights  {}",
                               folder_->plan(), folder_->resolved(), folder_->history(),
                               folder_->weights()));
    if (plan().training.average_decay > 0) progress_->say("averages " + folder_->average_weights());
    if (options_.format == "json") {
        print_out(fmt::format("{{\"version\": 1, \"output\": \"{}\", \"test\": {}}}\n",
                              json_text(folder_->path()), measures_json(test)));
    }
    return int(Exit::done);
}

int TrainRun::run() {
    announce();
    try {
        // What it began with is in no plan: a run that is killed before its first checkpoint would
        // not find it again.
        if (!options_.weights.empty()) checkpoints_->checkpoint({});
        RunReport report(*history_, *progress_, *watch_, start_, dataset_);
        TrainingRequest request;
        request.from = state_ ? &*state_ : nullptr;
        request.keeper = &*checkpoints_;
        request.check_numbers = options_.check_numbers;
        request.rewind = [this] { return rewind(); };
        return finish(train(session_, report, request));
    } catch (const RunError& error) {
        // The history says how the run ended; when it cannot be written either, the first error is
        // what counts.
        try {
            history_->failed(error.detail().empty() ? error.what()
                                                    : error.detail() + ": " + error.what());
        } catch (const RunError&) {  // NOLINT(bugprone-empty-catch)
        }
        throw;
    }
}

}  // namespace

int train_command(const Options& options) {
    // A file that cannot be written is better known now; until the run's end it is a trace of
    // nothing.
    if (!options.trace.empty()) write_file(options.trace, "{\"traceEvents\": []}\n");
    return TrainRun(options).run();
}

}  // namespace dtnn
