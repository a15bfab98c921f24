#include "runtime/report/comparison_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/json.hpp"
#include "base/quantity_text.hpp"
#include "base/table.hpp"
#include "runtime/report/repeated_runs.hpp"

namespace dtnn::runtime {
namespace {

/// The width of a table that cuts nothing: names of runs are copied from it.
constexpr int kUncut = 10000;

/// The best runs, by measure: for people a mark behind the value.
bool is_best(const Comparison& comparison, const ComparedMeasure& measure, std::size_t run) {
    const std::vector<std::size_t> best = comparison.best_runs(measure);
    return comparison.runs.size() > 1 && std::find(best.begin(), best.end(), run) != best.end();
}

std::string called(const Comparison& comparison, const ComparedRun& run) {
    if (comparison.settings.empty() || run.settings.empty()) return run.name;
    std::string text;
    for (std::size_t i = 0; i < run.settings.size(); ++i)
        text += fmt::format("{}{}={}", i == 0 ? "" : " ",
                            short_setting(comparison.settings, comparison.settings[i]),
                            run.settings[i]);
    return text;
}

/// The columns of a table of means: the settings that are no repetition, then every value.
std::string repeated_text(const Comparison& comparison) {
    const Repetition repetition = repeated_runs(comparison);
    if (repetition.groups.empty()) return "";
    Table table;
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < comparison.settings.size(); ++i) {
        const std::string& path = comparison.settings[i];
        if (std::find(repetition.over.begin(), repetition.over.end(), path) !=
            repetition.over.end())
            continue;
        shown.push_back(i);
        table.columns.push_back({short_setting(comparison.settings, path), true});
    }
    table.columns.push_back({"runs", true});
    for (const ComparedMeasure& measure : comparison.measures)
        table.columns.push_back({"best " + measure.title(), true});
    for (const std::string& name : comparison.tested)
        table.columns.push_back({"test " + name, true});
    for (const RepeatedRuns& group : repetition.groups) {
        std::vector<std::string> row;
        for (const std::size_t i : shown)
            row.push_back(group.settings[i]);
        std::size_t runs = 0;
        std::vector<std::string> cells;
        for_each_value(comparison, [&](const std::string&, const auto& value) {
            const std::optional<RunSpread> spread = run_spread(comparison, group, value);
            if (spread) runs = std::max(runs, spread->runs);
            cells.push_back(spread ? spread_text(*spread) : "-");
        });
        row.push_back(fmt::format("{}/{}", runs, group.runs.size()));
        row.insert(row.end(), cells.begin(), cells.end());
        table.rows.push_back(std::move(row));
    }
    std::vector<std::string> over;
    for (const std::string& path : repetition.over)
        over.push_back(short_setting(comparison.settings, path));
    return fmt::format("mean and deviation (of the sample, n - 1) over {}:\n{}",
                       fmt::join(over, " and "), text_table(table, kUncut));
}

}  // namespace

std::string short_setting(const std::vector<std::string>& paths, const std::string& path) {
    const std::size_t dot = path.rfind('.');
    if (dot == std::string::npos) return path;
    const std::string end = path.substr(dot + 1);
    const auto same = std::count_if(paths.begin(), paths.end(), [&](const std::string& other) {
        return other == end || other.ends_with("." + end);
    });
    return same > 1 ? path : end;
}

std::string short_number(double value) {
    return fmt::format("{:.4g}", value);
}

std::string comparison_text(const Comparison& comparison) {
    Table table;
    table.columns.push_back({"run", false});
    for (const std::string& path : comparison.settings)
        table.columns.push_back({short_setting(comparison.settings, path), true});
    table.columns.push_back({"epochs", true});
    table.columns.push_back({"time", true});
    for (const ComparedMeasure& measure : comparison.measures)
        table.columns.push_back({"best " + measure.title(), true});
    for (const std::string& name : comparison.tested)
        table.columns.push_back({"test " + name, true});
    table.columns.push_back({"state", false});
    for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
        const ComparedRun& run = comparison.runs[i];
        std::vector<std::string> row = {run.name};
        row.insert(row.end(), run.settings.begin(), run.settings.end());
        row.push_back(fmt::format("{}/{}", run.epochs_done(), run.epochs));
        row.push_back(run.epochs_done() == 0 ? "-" : elapsed_time_text(run.seconds()));
        for (const ComparedMeasure& measure : comparison.measures) {
            const std::optional<BestValue> best = run.best(measure);
            row.push_back(best ? fmt::format("{}{}", short_number(best->value),
                                             is_best(comparison, measure, i) ? " *" : "  ")
                               : "-  ");
        }
        for (const std::string& name : comparison.tested) {
            const std::optional<double> value = tested_value(run, name);
            row.push_back(value ? short_number(*value) : "-");
        }
        row.push_back(name_of(run.state) + (run.error.empty() ? "" : ": " + run.error));
        table.rows.push_back(std::move(row));
    }
    std::string text = text_table(table, kUncut);
    if (comparison.runs.size() < 2) return text;
    text += repeated_text(comparison);
    for (const ComparedMeasure& measure : comparison.measures) {
        const std::vector<std::size_t> best = comparison.best_runs(measure);
        for (const std::size_t i : best) {
            const ComparedRun& run = comparison.runs[i];
            const BestValue value = *run.best(measure);
            text += fmt::format("* {} {}, epoch {}: {}{}\n", measure.title(),
                                short_number(value.value), value.epoch, called(comparison, run),
                                best.size() > 1 ? " (a tie)" : "");
        }
    }
    return text;
}

std::string differences_text(const Comparison& comparison) {
    std::string text;
    for (const RunDifference& one : comparison.differences)
        text += fmt::format("{}: {}\n    {}: {}\n", one.what, fmt::join(one.values, ", "),
                            plan::label_of(one.meaning), one.reason);
    return text;
}

std::string comparison_csv(const Comparison& comparison) {
    Table table;
    const auto column = [&](const std::string& name) { table.columns.push_back({name, false}); };
    column("run");
    for (const std::string& path : comparison.settings)
        column(path);
    for (const char* name : {"state", "epochs", "epochs_planned", "seconds"})
        column(name);
    for (const ComparedMeasure& measure : comparison.measures) {
        column("best." + measure.title());
        column("best_epoch." + measure.title());
    }
    for (const std::string& name : comparison.tested)
        column("test." + name);
    for (const char* name : {"trainable_parameters", "arena_bytes", "folder", "error"})
        column(name);
    for (const ComparedRun& run : comparison.runs) {
        std::vector<std::string> row = {run.name};
        row.insert(row.end(), run.settings.begin(), run.settings.end());
        row.insert(row.end(), {name_of(run.state), fmt::to_string(run.epochs_done()),
                               fmt::to_string(run.epochs), fmt::format("{:.3f}", run.seconds())});
        for (const ComparedMeasure& measure : comparison.measures) {
            const std::optional<BestValue> best = run.best(measure);
            row.push_back(best ? fmt::to_string(best->value) : "");
            row.push_back(best ? fmt::to_string(best->epoch) : "");
        }
        for (const std::string& name : comparison.tested) {
            const std::optional<double> value = tested_value(run, name);
            row.push_back(value ? fmt::to_string(*value) : "");
        }
        row.insert(row.end(), {fmt::to_string(run.trainable), fmt::to_string(run.arena_bytes),
                               run.folder, run.error});
        table.rows.push_back(std::move(row));
    }
    for (const RepeatedRuns& group : repeated_runs(comparison).groups)
        for (const bool mean : {true, false}) {
            const char* const what = mean ? "mean" : "deviation";
            std::vector<std::string> row = {what};
            row.insert(row.end(), group.settings.begin(), group.settings.end());
            row.insert(row.end(), {what, "", "", ""});
            std::size_t measures = comparison.measures.size();
            for_each_value(comparison, [&](const std::string&, const auto& value) {
                const std::optional<RunSpread> spread = run_spread(comparison, group, value);
                row.push_back(spread ? fmt::to_string(mean ? spread->mean : spread->deviation)
                                     : "");
                if (measures > 0) row.emplace_back(), --measures;  // that of no epoch
            });
            row.resize(table.columns.size());
            table.rows.push_back(std::move(row));
        }
    return csv_table(table);
}

std::string comparison_json(const Comparison& comparison) {
    Json runs = Json::array(), winners = Json::object(), differences = Json::array();
    for (const ComparedRun& run : comparison.runs) {
        Json settings = Json::object(), best = Json::object(), test = Json::object();
        for (std::size_t i = 0; i < run.settings.size(); ++i)
            settings[comparison.settings[i]] = run.settings[i];
        for (const ComparedMeasure& measure : comparison.measures)
            if (const std::optional<BestValue> value = run.best(measure))
                best[measure.title()] = {{"value", value->value}, {"epoch", value->epoch}};
        for (const std::string& name : comparison.tested)
            if (const std::optional<double> value = tested_value(run, name)) test[name] = *value;
        runs.push_back({{"run", run.name},
                        {"folder", run.folder},
                        {"settings", std::move(settings)},
                        {"state", name_of(run.state)},
                        {"epochs", run.epochs_done()},
                        {"epochs_planned", run.epochs},
                        {"seconds", run.seconds()},
                        {"best", std::move(best)},
                        {"test", std::move(test)},
                        {"trainable_parameters", run.trainable},
                        {"arena_bytes", run.arena_bytes},
                        {"error", run.error}});
    }
    for (const ComparedMeasure& measure : comparison.measures)
        if (const std::vector<std::size_t> best = comparison.best_runs(measure); !best.empty())
            winners[measure.title()] = comparison.runs[best.front()].name;
    for (const RunDifference& one : comparison.differences)
        differences.push_back({{"what", one.what},
                               {"meaning", plan::label_of(one.meaning)},
                               {"reason", one.reason},
                               {"values", one.values}});
    Json repeated = Json::array();
    const Repetition repetition = repeated_runs(comparison);
    for (const RepeatedRuns& group : repetition.groups) {
        Json settings = Json::object(), names = Json::array(), values = Json::object();
        for (std::size_t i = 0; i < group.settings.size(); ++i)
            if (!group.settings[i].empty()) settings[comparison.settings[i]] = group.settings[i];
        for (const std::size_t run : group.runs)
            names.push_back(comparison.runs[run].name);
        for_each_value(comparison, [&](const std::string& name, const auto& value) {
            if (const std::optional<RunSpread> spread = run_spread(comparison, group, value))
                values[name] = {{"mean", spread->mean},
                                {"deviation", spread->deviation},
                                {"runs", spread->runs}};
        });
        repeated.push_back({{"over", repetition.over},
                            {"settings", std::move(settings)},
                            {"runs", std::move(names)},
                            {"values", std::move(values)}});
    }
    const Json document = {{"version", 1},
                           {"runs", std::move(runs)},
                           {"repeated", std::move(repeated)},
                           {"best", std::move(winners)},
                           {"differences", std::move(differences)}};
    return write_json(document, 1) + "\n";
}

}  // namespace dtnn::runtime
