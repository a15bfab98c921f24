#include "runtime/report/run_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "base/file_limits.hpp"
#include "base/folders.hpp"
#include "plan/diff/words.hpp"
#include "plan/json/json.hpp"
#include "plan/metrics.hpp"
#include "plan/sweep_index.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/regular_file.hpp"
#include "runtime/report/run_folder.hpp"

namespace dtnn::runtime {
namespace {

namespace fs = std::filesystem;

bool exists(const std::string& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

RunPlaces runs_of_sweep(const std::string& folder) {
    const std::string path = folder + "/" + plan::kSweepIndex;
    std::string error;
    const plan::SweepIndex index =
        plan::read_sweep_index(read_file(path, kMostSmallFileBytes, "a sweep's index"), error);
    if (!error.empty())
        throw RunError(Exit::mismatch, fmt::format("{}: {}", path, error),
                       "write the sweep again: dtnnc compile SPEC --sweep ...");
    RunPlaces places;
    for (const plan::SweptSetting& sweep : index.sweeps)
        places.settings.push_back(sweep.path);
    for (const plan::SweptPlan& one : index.plans) {
        RunPlace& place = places.runs.emplace_back();
        place.name = one.name();
        place.folder = fmt::format("{}/{}/{}", folder, plan::kSweepRuns, one.name());
        place.plan = fmt::format("{}/{}", folder, one.file);
        for (std::size_t i = 0; i < index.sweeps.size(); ++i)
            place.settings.push_back(one.value(i));
    }
    return places;
}

void add_runs(const std::string& folder, bool inside, RunPlaces& places) {
    if (exists(folder + "/plan.json")) {
        places.runs.push_back({base_name(folder), folder, folder + "/plan.json", {}});
        return;
    }
    if (exists(folder + "/" + plan::kSweepIndex)) {
        for (RunPlace& run : runs_of_sweep(folder).runs) {
            run.settings.clear();
            places.runs.push_back(std::move(run));
        }
        return;
    }
    const std::size_t before = places.runs.size();
    if (!inside)
        for (const std::string& name : names_in(folder))
            add_runs(folder == "." ? name : folder + "/" + name, true, places);
    if (inside || places.runs.size() > before) return;
    throw RunError(Exit::usage, fmt::format("{} is no folder of a run", folder),
                   "name the folder that dtnn-run wrote: it has plan.json and history.jsonl; or "
                   "that of a sweep, or one with such folders in it");
}

/// Names that are taken twice give way to the folders.
void tell_apart(std::vector<RunPlace>& runs) {
    std::map<std::string, int> counts;
    for (const RunPlace& run : runs)
        ++counts[run.name];
    std::set<std::string> folders;
    std::erase_if(runs, [&](const RunPlace& run) { return !folders.insert(run.folder).second; });
    for (RunPlace& run : runs)
        if (counts[run.name] > 1) run.name = run.folder;
}

plan::Plan read_plan_of(const RunPlace& place) {
    const std::string own = place.folder + "/plan.json";
    const std::string& path = exists(own) ? own : place.plan;
    plan::ReadResult read = plan::read_plan(read_file(path, kMostPlanBytes, "a plan"));
    if (!read.plan)
        throw RunError(Exit::mismatch, fmt::format("{}: {}", path, read.error),
                       "the file is no plan of this version; compile the job again");
    return std::move(*read.plan);
}

RunState state_of(const RunHistory& history, const std::string& path) {
    if (is_being_written(path)) return RunState::running;
    const bool begun = !history.start.empty() || !history.epochs.empty();
    return begun || history.ending != RunState::unfinished ? history.ending : RunState::waiting;
}

ComparedRun run_of(const RunPlace& place, const plan::Plan& plan) {
    ComparedRun run;
    run.name = place.name;
    run.folder = place.folder;
    run.settings = place.settings;
    run.epochs = plan.training.epochs;
    for (const plan::Layer& layer : plan.layers)
        run.trainable += layer.trainable;
    run.arena_bytes = plan.memory.arena;
    const std::string history = place.folder + "/history.jsonl";
    if (exists(history)) {
        run.history = read_history(history);
        run.state = state_of(run.history, history);
    }
    if (run.state == RunState::failed) run.error = run.history.error;
    return run;
}

/// Joins what each plan differs in from the first to rows with a value of each run.
class DifferenceRows {
  public:
    void add(std::size_t run, const std::vector<plan::Change>& changes) {
        for (const plan::Change& change : changes) {
            if (!change.chosen) continue;
            const std::string key = fmt::format("{}\n{}\n{}", plan::name_of(change.section),
                                                change.what, fmt::join(change.members, "\n"));
            const auto [found, fresh] = indices_.emplace(key, rows_.size());
            if (fresh) rows_.push_back(row_of(change));
            rows_[found->second].values[run] = words_of(change.after, change.unit);
        }
    }

    std::vector<RunDifference> finish(std::size_t runs) const {
        std::vector<RunDifference> result;
        for (const Row& row : rows_) {
            RunDifference one = row.difference;
            for (std::size_t i = 0; i < runs; ++i) {
                const auto found = row.values.find(i);
                one.values.push_back(found == row.values.end() ? row.first : found->second);
            }
            result.push_back(std::move(one));
        }
        // Changes of the mathematics stand before the rest.
        std::stable_sort(result.begin(), result.end(), [](const auto& a, const auto& b) {
            return a.meaning == plan::kMath && b.meaning != plan::kMath;
        });
        return result;
    }

  private:
    struct Row {
        RunDifference difference;
        std::string first;  ///< the first run's value, and that of all who do not differ from it
        std::map<std::size_t, std::string> values;
    };

    static std::string words_of(const std::string& json, plan::Unit unit) {
        return json.empty() ? "-" : plan::value_words(json, unit);
    }

    static Row row_of(const plan::Change& change) {
        Row row;
        row.difference.what = change.what;
        if (!change.members.empty())
            row.difference.what += fmt::format(" ({})", plan::member_words(change.members));
        row.difference.meaning = change.meaning;
        row.difference.reason = change.reason;
        row.first = words_of(change.before, change.unit);
        return row;
    }

    std::vector<Row> rows_;
    std::map<std::string, std::size_t> indices_;
};

/// Whether the measure is better when larger; nothing for what is neither.
std::optional<bool> higher_is_better(const plan::Plan& plan, const std::string& name) {
    if (name == plan::kLossName) return false;
    for (const plan::Metric& metric : plan.training.metrics) {
        if (metric.name != name) continue;
        const plan::MetricInfo* info = plan::find_metric(metric.type);
        if (info == nullptr || info->better == plan::MetricBetter::neither) return std::nullopt;
        return plan::higher_is_better(metric);
    }
    return std::nullopt;
}

/// The measures of all runs, each once, in the order in which they are first told.
class MeasureList {
  public:
    void add(const plan::Plan& plan, const RunHistory& history) {
        for (const std::string& name : history.names) {
            const std::optional<bool> higher = higher_is_better(plan, name);
            if (!higher) continue;
            bool validation = false, training = false;
            for (const EpochRecord& epoch : history.epochs) {
                validation = validation || epoch.validation.numbers.contains(name);
                training = training || epoch.train.numbers.contains(name);
            }
            if (!validation && !training) continue;
            const auto found =
                std::find_if(measures_.begin(), measures_.end(),
                             [&](const ComparedMeasure& one) { return one.name == name; });
            if (found == measures_.end())
                measures_.push_back({name, validation, *higher});
            else
                found->validation = found->validation || validation;
        }
        for (const auto& [name, value] : history.test.numbers)
            if (std::find(tested_.begin(), tested_.end(), name) == tested_.end())
                tested_.push_back(name);
    }

    std::vector<ComparedMeasure> measures() const { return measures_; }

    /// As the others are ordered.
    std::vector<std::string> tested() const {
        std::vector<std::string> names;
        for (const ComparedMeasure& one : measures_)
            if (std::find(tested_.begin(), tested_.end(), one.name) != tested_.end())
                names.push_back(one.name);
        for (const std::string& name : tested_)
            if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
        return names;
    }

  private:
    std::vector<ComparedMeasure> measures_;
    std::vector<std::string> tested_;
};

}  // namespace

RunPlaces find_runs(const std::vector<std::string>& paths) {
    if (paths.size() == 1) {
        const std::string folder = RunFolder(paths.front()).path();
        if (!exists(folder + "/plan.json") && exists(folder + "/" + plan::kSweepIndex))
            return runs_of_sweep(folder);
    }
    RunPlaces places;
    for (const std::string& path : paths)
        add_runs(RunFolder(path).path(), false, places);
    tell_apart(places.runs);
    return places;
}

std::string ComparedMeasure::title() const {
    return (validation ? "validation." : "training.") + name;
}

std::string ComparedMeasure::words() const {
    return (validation ? "validation " : "training ") + name;
}

std::int64_t ComparedRun::epochs_done() const {
    return history.epochs.empty() ? 0 : history.epochs.back().epoch;
}

double ComparedRun::seconds() const {
    double seconds = 0;
    for (const EpochRecord& epoch : history.epochs)
        seconds += epoch.seconds;
    return seconds;
}

std::optional<BestValue> ComparedRun::best(const ComparedMeasure& measure) const {
    return best_value(history, measure);
}

std::vector<ComparedMeasure> measures_of(const plan::Plan& plan, const RunHistory& history) {
    MeasureList list;
    list.add(plan, history);
    return list.measures();
}

std::optional<BestValue> best_value(const RunHistory& history, const ComparedMeasure& measure) {
    std::optional<BestValue> best;
    for (const EpochRecord& epoch : history.epochs) {
        const Measures& measures = measure.validation ? epoch.validation : epoch.train;
        const auto found = measures.numbers.find(measure.name);
        if (found == measures.numbers.end() || !std::isfinite(found->second)) continue;
        const double value = found->second;
        if (!best || (measure.higher ? value > best->value : value < best->value))
            best = BestValue{value, epoch.epoch};
    }
    return best;
}

std::vector<std::size_t> Comparison::best_runs(const ComparedMeasure& measure) const {
    std::vector<std::size_t> best;
    double value = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const std::optional<BestValue> own = runs[i].best(measure);
        if (!own) continue;
        if (!best.empty() && (measure.higher ? own->value < value : own->value > value)) continue;
        if (best.empty() || own->value != value) best.clear();
        best.push_back(i);
        value = own->value;
    }
    return best;
}

Comparison compare_runs(const RunPlaces& places, Unreadable unreadable) {
    Comparison result;
    result.settings = places.settings;
    result.swept = !places.settings.empty();
    DifferenceRows rows;
    MeasureList measures;
    std::optional<plan::Plan> first;
    for (const RunPlace& place : places.runs) {
        try {
            plan::Plan plan = read_plan_of(place);
            result.runs.push_back(run_of(place, plan));
            measures.add(plan, result.runs.back().history);
            if (first)
                rows.add(result.runs.size() - 1, plan::diff(*first, plan));
            else
                first = std::move(plan);
        } catch (const RunError& error) {
            if (unreadable == Unreadable::refused || error.exit() == Exit::interrupted) throw;
            result.runs.push_back(
                {place.name, place.folder, RunState::failed, error.what(), place.settings, {}});
        }
    }
    result.differences = rows.finish(result.runs.size());
    result.measures = measures.measures();
    result.tested = measures.tested();
    if (result.settings.empty()) {
        for (const RunDifference& difference : result.differences) {
            result.settings.push_back(difference.what);
            for (std::size_t i = 0; i < result.runs.size(); ++i)
                result.runs[i].settings.push_back(difference.values[i]);
        }
    }
    return result;
}

}  // namespace dtnn::runtime
