/// dtnn-run sweep: trains the plans of a sweep one after the other, each in a process of its own,
/// so that one that is killed leaves the others alone. What is finished is left as it is, what has
/// begun goes on, what a process writes already (another sweep of the folder, a job of Slurm) is
/// left to that.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>

#include "base/files.hpp"
#include "base/utf8.hpp"
#include "plan/sweep_index.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/exec/load.hpp"
#include "runtime/report/comparison_table.hpp"
#include "runtime/report/history_reader.hpp"
#include "runtime/report/run_comparison.hpp"
#include "runtime/report/run_files.hpp"
#include "runtime/report/run_folder.hpp"
#include "tools/dtnn_run/commands.hpp"
#include "tools/dtnn_run/more_epochs.hpp"
#include "tools/dtnn_run/start_job.hpp"

namespace dtnn {
namespace {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file is its command line

void say(const std::string& text) {
    std::fprintf(stderr, "dtnn-run: %s\n", shown_lines(text).c_str());
}

bool exists(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

class SweepRun {
  public:
    explicit SweepRun(const Options& options) : options_(options) {
        folder_ = RunFolder(options.plan).path();
        if (!exists(folder_ + "/" + plan::kSweepIndex))
            throw RunError(Exit::usage, fmt::format("{} is no folder of a sweep", folder_),
                           "name the folder that dtnnc compile SPEC --sweep K=V,V wrote: it has "
                           "index.json and the plans");
        for (const char* name : {plan::kSweepRuns, plan::kSweepTable})
            refuse_link(fmt::format("{}/{}", folder_, name));
        places_ = find_runs({folder_});
        for (const RunPlace& place : places_.runs)
            refuse_link(place.folder);
    }

    int run();

  private:
    enum class Step { done, failed, stop };

    Step train(const RunPlace& place, const std::string& title);
    bool is_of_plan(const RunPlace& place) const;
    bool is_done(const RunPlace& place) const;
    JobRequest request_of(const RunPlace& place) const;
    Comparison table() const;
    void write_table(const Comparison& comparison) const;

    const Options& options_;
    std::string folder_;
    RunPlaces places_;
    std::map<std::string, std::string> failed_;  ///< why, by name
};

/// Whether the run follows this plan, or did before it was given more epochs.
bool SweepRun::is_of_plan(const RunPlace& place) const {
    Options of_run;
    of_run.resume = place.folder;
    const std::string checksum = read_plan_file(place.plan).checksum;
    const std::vector<EndedTraining> ended = ended_trainings(of_run);
    return read_plan_file(RunFolder(place.folder).plan()).checksum == checksum ||
           std::any_of(ended.begin(), ended.end(),
                       [&](const EndedTraining& one) { return one.loaded.checksum == checksum; });
}

bool SweepRun::is_done(const RunPlace& place) const {
    const RunFolder run(place.folder);
    return exists(run.history()) && exists(run.plan()) &&
           read_history(run.history()).ending == RunState::finished && is_of_plan(place);
}

JobRequest SweepRun::request_of(const RunPlace& place) const {
    JobRequest request;
    request.ranks = std::max(1, options_.ranks);
    request.max_restarts = options_.max_restarts;
    request.answers_are_notes = true;
    std::vector<std::string> options = {"--color=" + options_.color,
                                        "--progress=" + options_.progress};
    if (options_.tensorboard) options.emplace_back("--tensorboard");
    const bool begun = exists(RunFolder(place.folder).plan());
    // Another plan is refused by the run itself, which says what differs.
    const bool by_itself = begun && is_of_plan(place);
    const auto words = [options, place, by_itself](bool again) {
        std::vector<std::string> all = {
            "train", again ? "--resume=" + place.folder : "--output=" + place.folder};
        all.insert(all.end(), options.begin(), options.end());
        if (!by_itself) all.insert(all.end(), {"--", place.plan});
        return all;
    };
    request.words = words(begun);
    request.run = place.folder;
    request.words_again = [words](const std::string& run, bool) {
        return words(exists(RunFolder(run).plan()));
    };
    return request;
}

SweepRun::Step SweepRun::train(const RunPlace& place, const std::string& title) {
    const std::string history = RunFolder(place.folder).history();
    try {
        if (is_being_written(history)) {
            say(title + ": another process trains it");
            return Step::done;
        }
        if (is_done(place)) {
            say(title + ": finished");
            return Step::done;
        }
        say(title);
        const JobEnd end = run_job(request_of(place));
        if (end.stop_asked || end.code == int(Exit::interrupted)) return Step::stop;
        if (end.code == 0) return Step::done;
        // Between the look and the start another process may have taken it.
        if (is_being_written(history)) {
            say(title + ": another process trains it");
            return Step::done;
        }
        failed_[place.name] =
            end.reason.empty() ? fmt::format("it ended with {}", end.code) : end.reason;
    } catch (const RunError& error) {
        if (error.exit() == Exit::interrupted) throw;
        say(fmt::format("{}: {}", place.name, error.what()));
        failed_[place.name] = error.what();
    }
    return Step::failed;
}

/// Several sweeps of the folder may write it at once: FileAside gives each a file of its own.
void SweepRun::write_table(const Comparison& comparison) const {
    const std::string path = fmt::format("{}/{}", folder_, plan::kSweepTable);
    const std::string text = comparison_csv(comparison);
    const int error =
        replace_file(path, [&](int descriptor) { return write_all(descriptor, text); });
    if (error != 0) throw system_error("write", path, error);
}

/// The runs as they stand; of those that this process has seen fail, why.
Comparison SweepRun::table() const {
    Comparison comparison = compare_runs(places_, Unreadable::failed);
    for (ComparedRun& run : comparison.runs) {
        const auto found = failed_.find(run.name);
        if (found == failed_.end()) continue;
        run.state = RunState::failed;
        if (run.error.empty()) run.error = found->second;
    }
    return comparison;
}

int SweepRun::run() {
    bool stopped = false;
    for (std::size_t i = 0; i < places_.runs.size() && !options_.table_only; ++i) {
        if (stop_requested() != 0) stopped = true;
        if (stopped) break;
        const RunPlace& place = places_.runs[i];
        stopped = train(place, fmt::format("run {} of {}, {}", i + 1, places_.runs.size(),
                                           place.name)) == Step::stop;
        write_table(table());
    }
    const Comparison comparison = table();
    write_table(comparison);
    print_out(options_.format == tools::Format::json  ? comparison_json(comparison)
              : options_.format == tools::Format::csv ? comparison_csv(comparison)
                                                      : comparison_text(comparison));
    say(fmt::format("table {}/{}", folder_, plan::kSweepTable));
    for (const auto& [name, why] : failed_)
        say(fmt::format("{} failed: {}", name, why));
    if (stopped) {
        say(fmt::format("stopped by a signal; go on with\n  dtnn-run sweep {}", folder_));
        return int(Exit::interrupted);
    }
    return failed_.empty() ? int(Exit::done) : int(Exit::failed);
}

}  // namespace

int sweep_command(const Options& options) {
    return SweepRun(options).run();
}

}  // namespace dtnn
