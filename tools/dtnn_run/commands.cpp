#include "tools/dtnn_run/commands.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "runtime/base/clock.hpp"
#include "runtime/base/environment.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/checkpoint/weights.hpp"
#include "runtime/exec/load.hpp"
#include "runtime/report/bench_report.hpp"
#include "runtime/report/history.hpp"
#include "runtime/report/progress.hpp"
#include "runtime/report/run_folder.hpp"
#include "runtime/report/run_watch.hpp"
#include "runtime/report/trace.hpp"
#include "runtime/train/bench.hpp"
#include "runtime/train/loop.hpp"
#include "tools/dtnn_run/allocation_count.hpp"

namespace dtnn {
namespace {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file is its command line

/// The thread count is settled before anything is read: a mistake there is a mistake of usage.
struct Start {
    std::optional<int> wanted_threads = threads_from_environment();
    LoadedPlan loaded;
    int threads = 1;

    explicit Start(const Options& options) : loaded(load_plan(options.plan)) {
        const ThreadChoice choice = choose_threads(loaded.plan.target.threads, wanted_threads);
        threads = choice.threads;
        if (!choice.warning.empty()) {
            std::fprintf(stderr, "dtnn-run: warning: %s\n", choice.warning.c_str());
        }
    }
};

/// Tells the history and the screen what the loop says.
class RunReport final : public TrainingObserver {
  public:
    RunReport(History& history, ProgressReport& progress, RunWatch& watch, const Start& start)
        : history_(history), progress_(progress), watch_(watch), start_(start) {}
    void first_step() override {
        history_.start(start_.loaded.checksum, start_.threads, 1e3 * seconds_since_start());
    }
    void step(const Progress& progress) override { progress_.step(progress); }
    void epoch(const EpochResult& result) override {
        history_.epoch(result);
        progress_.epoch(result);
        watch_.update();
    }

  private:
    History& history_;
    ProgressReport& progress_;
    RunWatch& watch_;
    const Start& start_;
};

void require_number(const Means& test) {
    if (test.samples > 0 && !std::isfinite(test.values[0])) {
        throw RunError(Exit::diverged,
                       fmt::format("the loss on the test split is {}", test.values[0]),
                       "train with a smaller learning rate");
    }
}

int interrupted(const TrainingResult& result, const RunFolder& folder, History& history,
                ProgressReport& progress) {
    history.interrupted(result);
    history.close();
    progress.say(
        fmt::format("dtnn-run: stopped by a signal after step {}, {} of the epochs are "
                    "done; the weights are {}",
                    result.step, result.epoch, folder.weights()));
    return int(Exit::interrupted);
}

}  // namespace

int train_command(const Options& options) {
    const Start start(options);
    const plan::Plan& plan = start.loaded.plan;
    // Data and memory come first: a run that cannot begin leaves no folder behind.
    // A file that cannot be written is better known now; until the run's end it is a trace of
    // nothing.
    if (!options.trace.empty()) write_file(options.trace, "{\"traceEvents\": []}\n");
    Session session(plan, start.threads, open_source(plan.dataset));
    if (!options.weights.empty()) load_weights(session.executor(), options.weights);
    const RunFolder folder(options.output, start.loaded, options.force);
    History history(folder.history(), plan);
    ProgressReport progress(choose_progress(options.progress), choose_color(options.color), plan);
    RunWatch watch(folder.path(), session.executor(),
                   {options.tensorboard || options.histograms_every > 0, options.histograms_every},
                   0);
    RunReport report(history, progress, watch, start);
    std::optional<Trace> trace;
    if (!options.trace.empty()) trace.emplace(session.executor());
    progress.say(fmt::format("{}: {} samples, {} {}, {} {}; writing {}", plan.name,
                             plan.dataset.train_samples, plan.training.epochs,
                             plan.training.epochs == 1 ? "epoch" : "epochs", start.threads,
                             start.threads == 1 ? "thread" : "threads", folder.path()));
    try {
        const TrainingResult result = train(session, report);
        if (trace) {
            write_file(options.trace, trace->json());
            write_file(folder.path() + "/operator_times.txt", trace->table());
            trace.reset();
        }
        // Someone may have removed it since; hours of training are not lost to that.
        create_folders(folder.path());
        save_weights(session.executor(), folder.weights(), start.loaded.checksum);
        if (result.interrupted) return interrupted(result, folder, history, progress);
        const Means test = session.evaluate(Split::test, session.sampler().test());
        if (stop_requested() != 0) return interrupted(result, folder, history, progress);
        require_number(test);
        history.evaluate(test);
        watch.update();
        history.close();
        const std::vector<std::string> names = measure_names(plan);
        progress.say(fmt::format("test: {}", measures_text(names, test)));
        progress.say(fmt::format("plan     {}\nspec     {}\nhistory  {}\nweights  {}",
                                 folder.plan(), folder.resolved(), folder.history(),
                                 folder.weights()));
        if (options.format == "json") {
            print_out(fmt::format("{{\"version\": 1, \"output\": \"{}\", \"test\": {}}}\n",
                                  json_text(folder.path()), measures_json(names, test)));
        }
        return int(Exit::done);
    } catch (const RunError& error) {
        // The history says how the run ended; when it cannot be written either, the first error is
        // what counts.
        try {
            history.failed(error.detail().empty() ? error.what()
                                                  : error.detail() + ": " + error.what());
        } catch (const RunError&) {  // NOLINT(bugprone-empty-catch)
        }
        throw;
    }
}

int evaluate_command(const Options& options) {
    const Start start(options);
    const plan::Plan& plan = start.loaded.plan;
    Session session(plan, start.threads, open_source(plan.dataset));
    load_weights(session.executor(), options.weights);
    const Means test = session.evaluate(Split::test, session.sampler().test());
    if (stop_requested() != 0) return int(Exit::interrupted);
    require_number(test);
    const std::vector<std::string> names = measure_names(plan);
    if (options.format == "json") {
        print_out(
            fmt::format("{{\"version\": 1, \"name\": \"{}\", \"samples\": {}, \"test\": {}}}\n",
                        json_text(plan.name), test.samples, measures_json(names, test)));
    } else {
        print_out(fmt::format("test: {} ({} samples)\n", measures_text(names, test), test.samples));
    }
    return int(Exit::done);
}

int bench_command(const Options& options) {
    const Start start(options);
    const plan::Plan& plan = start.loaded.plan;
    Session session(
        plan, start.threads,
        options.synthetic_data ? made_up_source(plan.dataset) : open_source(plan.dataset));
    BenchRequest request;
    request.steps = options.steps;
    request.per_step = options.per_step;
    request.allocations = allocation_count;
    const BenchResult result = bench(session, request);
    if (stop_requested() != 0) return int(Exit::interrupted);
    const BenchFacts facts{&plan, plan.memory.arena, session.executor().arena_bytes(),
                           peak_memory(), session.executor().team().size()};
    print_out(options.format == "json" ? bench_json(result, facts) : bench_text(result, facts));
    return int(Exit::done);
}

}  // namespace dtnn
