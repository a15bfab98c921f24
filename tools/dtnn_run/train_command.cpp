/// Training: from the beginning, or from the newest checkpoint of a run.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "base/json_text.hpp"
#include "base/saturating.hpp"
#include "plan/rules/local_steps.hpp"
#include "plan/rules/parallel.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/checkpoint/run_checkpoints.hpp"
#include "runtime/checkpoint/weights.hpp"
#include "runtime/report/history_writer.hpp"
#include "runtime/report/progress.hpp"
#include "runtime/report/run_folder.hpp"
#include "runtime/report/run_watch.hpp"
#include "runtime/report/trace.hpp"
#include "runtime/train/initialize.hpp"
#include "runtime/train/loop.hpp"
#include "tools/dtnn_run/commands.hpp"
#include "tools/dtnn_run/job_notes.hpp"
#include "tools/dtnn_run/more_epochs.hpp"
#include "tools/dtnn_run/plan_path.hpp"
#include "tools/dtnn_run/sample_log.hpp"
#include "tools/dtnn_run/start.hpp"

namespace dtnn {
namespace {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file is its command line

/// The report of a rank whose training rank 0 reports.
class RankReport : public TrainingObserver {
  public:
    explicit RankReport(SampleLog* log) : log_(log) {}
    void batch(const BatchSamples& batch) override {
        if (log_ != nullptr) log_->add(batch);
    }

  private:
    SampleLog* log_;
};

/// Tells the history and the screen what the loop says.
class RunReport final : public RankReport {
  public:
    RunReport(SampleLog* log, HistoryWriter& history, ProgressReport& progress, RunWatch& watch,
              const Start& start, std::string dataset, std::vector<std::string> class_names,
              int ranks)
        : RankReport(log),
          history_(history),
          progress_(progress),
          watch_(watch),
          start_(start),
          dataset_(std::move(dataset)),
          class_names_(std::move(class_names)),
          ranks_(ranks) {}
    void first_step() override {
        if (!history_.empty()) return;  // a run that goes on
        history_.start(start_.loaded.checksum, start_.threads, 1e3 * seconds_since_start(),
                       dataset_, ranks_, class_names_);
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
    HistoryWriter& history_;
    ProgressReport& progress_;
    RunWatch& watch_;
    const Start& start_;
    std::string dataset_;
    std::vector<std::string> class_names_;
    int ranks_;
};

/// The keeper of a rank whose checkpoints and best weights rank 0 keeps.
class NothingKept final : public TrainingKeeper {
  public:
    void checkpoint(TrainingState) override {}
    void keep_best(const BestWeights&) override {}
    void forget_others(const std::vector<KeptWeights>&) override {}
    void take_back(const BestWeights&) override {}
};

/// One rank's part of a run. Rank 0 has the run's folder, and tells of it; the others have neither.
class TrainRun {
  public:
    TrainRun(const Options& options, Communicator& communicator)
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

    int run();

  private:
    const plan::Plan& plan() const { return start_.loaded.plan; }
    bool first() const { return communicator_.rank() == 0; }
    void open_folder();
    std::optional<TrainingState> of_first(const std::optional<TrainingState>& state);
    void go_on();
    void tell_sharing(const TrainingState& state);
    void keep_plan(const std::string& checksum);
    void announce();
    TrainingState rewind();
    int train_and_finish();
    int finish(const TrainingResult& result);
    int interrupted(const TrainingResult& result);
    void save();
    void save_trace();

    const Options& options_;
    Communicator& communicator_;
    Start start_;
    std::optional<Session> session_;
    std::string dataset_;
    NothingKept nothing_kept_;
    std::optional<SampleLog> log_;
    // Rank 0 only:
    std::optional<RunFolder> folder_;
    std::optional<HistoryWriter> history_;
    std::vector<EndedTraining> ended_;  ///< of the run, before this one
    std::optional<RunCheckpoints> checkpoints_;
    std::optional<ProgressReport> progress_;
    std::string evaluated_ = "validation";  ///< what the passes of now are of
    std::optional<RunWatch> watch_;
    std::optional<Trace> trace_;
    std::optional<TrainingState> state_;  ///< where it goes on; nothing: from the beginning
};

void TrainRun::open_folder() {
    // A file that cannot be written is better known now; until the run's end it is a trace of
    // nothing.
    if (!options_.trace.empty()) write_file(options_.trace, "{\"traceEvents\": []}\n");
    folder_.emplace(options_.resume.empty()
                        ? RunFolder(options_.output, start_.loaded, options_.force)
                        : RunFolder(options_.resume));
    leave_note("run", folder_->path());
    history_.emplace(folder_->history(), plan(),
                     options_.resume.empty() ? LineFile::Begin::empty : LineFile::Begin::as_it_is,
                     [this] {
                         warn(
                             fmt::format("{} was removed while the run writes it; it is there "
                                         "again, with plan and history",
                                         folder_->path()));
                         folder_->write_plan(start_.loaded);
                     });
    if (!options_.resume.empty()) ended_ = ended_trainings(options_);
    checkpoints_.emplace(folder_->path(), session_->executor(),
                         RunIdentity{start_.loaded.checksum, dataset_, start_.threads,
                                     ended_identities(ended_, plan())},
                         [this] { return history_->flush(); });
    progress_.emplace(choose_progress(options_.progress), choose_color(options_.color), plan(),
                      options_.progress_seconds);
    session_->watch_evaluation([this](std::int64_t done, std::int64_t batches) {
        progress_->part(evaluated_ + ": batch", done, batches);
    });
    if (!options_.resume.empty()) go_on();
    watch_.emplace(folder_->path(), session_->executor(),
                   WatchRequest{options_.tensorboard || options_.histograms_every > 0,
                                options_.histograms_every},
                   state_ ? state_->step : 0);
    if (!options_.trace.empty()) trace_.emplace(session_->executor());
}

/// What rank 0 has read, on all ranks.
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
    folder_->write_plan(start_.loaded);
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
    checkpoints_->clean();
    std::optional<Checkpoint> newest = checkpoints_->load_newest(warn);
    std::error_code ignored;
    const bool plan_is_gone = !std::filesystem::exists(folder_->plan(), ignored);
    if (!newest && plan_is_gone) {
        throw RunError(
            Exit::mismatch,
            fmt::format("{} is gone, and no checkpoint says whether {} is the run's plan",
                        folder_->plan(), options_.plan),
            "begin a new run: dtnn-run PLAN --output DIR");
    }
    if (!newest && !options_.epochs.empty()) {
        throw RunError(Exit::mismatch,
                       fmt::format("{} keeps no checkpoint: how the optimizer stood at its end is "
                                   "not there",
                                   folder_->path()),
                       "begin a new training with the run's weights (--weights)");
    }
    if (!newest) {
        const LoadedPlan kept = read_plan_file(folder_->plan());
        if (for_any_ranks(kept.plan) &&
            kept.plan.training.batch_size != plan().training.batch_size) {
            throw RunError(Exit::mismatch,
                           fmt::format("{} has no checkpoint that says how many ranks it had",
                                       folder_->path()),
                           "begin a new run: dtnn-run PLAN --output DIR");
        }
        keep_plan(kept.checksum);
        history_->resume({}, 0, start_.threads, communicator_.ranks());
        progress_->say(fmt::format("dtnn-run: {} has no checkpoint yet; beginning from the start",
                                   folder_->path()));
        return;
    }
    // Another number of ranks has other data, too, where each has its own.
    if (plan().parallel.private_data)
        static_cast<void>(at_ranks(plan(), newest->state, communicator_.ranks()));
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
    tell_sharing(newest->state);
    const AnotherTraining another = begin_another_training(ended_, plan(), communicator_.ranks(),
                                                           newest->training, newest->state);
    state_ = at_ranks(plan(), newest->state, communicator_.ranks());
    keep_ended_plans(folder_->path(), ended_);
    keep_plan(plan_is_gone ? "" : newest->plan);
    history_->resume(*state_, newest->history_bytes, start_.threads, communicator_.ranks());
    if (another.begins)
        history_->continued(state_->epoch, plan().training.epochs, another.spanning);
    for (const std::string& line : another.lines)
        progress_->say(line);
    state_ = std::move(newest->state);
}

void TrainRun::announce() {
    const plan::Training& training = plan().training;
    if (!first()) return;
    const int ranks = communicator_.ranks();
    std::int64_t samples = plan().dataset.train_samples;
    // What an epoch sees, where ranks have data of their own.
    if (const plan::LocalSteps* local = session_->local_steps())
        samples = local->samples_before(local->steps());
    progress_->say(fmt::format("{}: {} samples, {} {}, {}{} {}{}; writing {}", plan().name, samples,
                               training.epochs, training.epochs == 1 ? "epoch" : "epochs",
                               ranks == 1 ? "" : fmt::format("{} ranks, ", ranks), start_.threads,
                               start_.threads == 1 ? "thread" : "threads",
                               ranks == 1 ? "" : " each", folder_->path()));
    if (!start_.processors.empty())
        progress_->say(fmt::format("{}threads stay on processors {}", ranks == 1 ? "" : "rank 0: ",
                                   fmt::join(start_.processors, ", ")));
    if (!state_) return;
    if (state_->epoch >= training.epochs || !state_->stop.empty()) {
        progress_->say(fmt::format("its training was over after step {}", state_->step));
        return;
    }
    progress_->say(fmt::format("going on after step {}, {} {} of epoch {}", state_->step,
                               state_->batch, state_->batch == 1 ? "step" : "steps",
                               state_->epoch + 1));
}

/// The newest state that can be gone back to. The parameters become those of rank 0 when the loop
/// begins again.
TrainingState TrainRun::rewind() {
    std::optional<TrainingState> state;
    together(communicator_, "going back", [&] {
        if (first()) {
            if (std::optional<Checkpoint> newest = checkpoints_->load_newest(warn))
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
    if (!first()) return;
    // Someone may have removed it since; hours of training are not lost to that.
    create_folders(folder_->path());
    save_weights(session_->executor(), folder_->weights(), start_.loaded.checksum);
    if (plan().training.average_decay > 0) {
        save_evaluated_weights(session_->executor(), folder_->average_weights(),
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
    if (result.not_restored) {
        const RunError& error = *result.not_restored;
        throw SharedRunError(RunError(
            error.exit(), fmt::format("the best weights cannot be taken back: {}", error.what()),
            fmt::format("{} are those of the last epoch",
                        folder_ ? folder_->weights() : "the run's weights"),
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
        if (first()) checkpoints_->checkpoint(result.state);
        return interrupted(result);
    }
    together(communicator_, "the test's loss", [&] { require_number(test); });
    if (!first()) return int(Exit::done);
    // Behind whatever a checkpoint may have been written with: a run that goes on tells it again.
    history_->stopped(result);
    history_->restored(result);
    history_->evaluate(test);
    watch_->update();
    history_->close();
    checkpoints_->forget_dropped();
    const bool json = options_.format == "json";
    progress_->answer(json ? fmt::format("{{\"version\": 1, \"output\": {}, \"test\": {}}}",
                                         json_text(folder_->path()), measures_json(test))
                           : "test: " + measures_text(test),
                      json);
    progress_->say(fmt::format("plan     {}\nspec     {}\nhistory  {}\nweights  {}",
                               folder_->plan(), folder_->resolved(), folder_->history(),
                               folder_->weights()));
    if (plan().training.average_decay > 0) progress_->say("averages " + folder_->average_weights());
    return int(Exit::done);
}

int TrainRun::train_and_finish() {
    // What it began with is in no plan: a run that is killed before its first checkpoint would not
    // find it again.
    if (!options_.weights.empty()) {
        TrainingState beginning;
        beginning.ranks = communicator_.ranks();
        session_->gather_states();
        if (first()) checkpoints_->checkpoint(beginning);
        session_->executor().shard_states().clear();
    }
    SampleLog* const log = log_ ? &*log_ : nullptr;
    RankReport quiet(log);
    std::optional<RunReport> report;
    if (first()) {
        report.emplace(log, *history_, *progress_, *watch_, start_, dataset_,
                       session_->source().class_names(), communicator_.ranks());
    }
    TrainingRequest request;
    request.from = state_ ? &*state_ : nullptr;
    request.keeper = first() ? static_cast<TrainingKeeper*>(&*checkpoints_) : &nothing_kept_;
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
            history_->failed(error.detail().empty() ? error.what()
                                                    : error.detail() + ": " + error.what());
        } catch (const RunError&) {  // NOLINT(bugprone-empty-catch)
        }
        throw;
    }
}

}  // namespace

int train_command(const Options& options) {
    return with_ranks(
        options, [&](Communicator& communicator) { return TrainRun(options, communicator).run(); });
}

}  // namespace dtnn
