#include "runtime/report/comparison_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/json.hpp"
#include "base/quantity_text.hpp"
#include "base/table.hpp"

namespace dtnn::runtime {
namespace {

/// The width of a table that cuts nothing: names of runs are copied from it.
constexpr int kUncut = 10000;

std::optional<double> tested_value(const ComparedRun& run, const std::string& name) {
    const auto found = run.history.test.numbers.find(name);
    if (run.state != RunState::finished || found == run.history.test.numbers.end())
        return std::nullopt;
    return found->second;
}

/// The best runs, by measure: for people a mark behind the value.
bool is_best(const Comparison& comparison, const ComparedMeasure& measure, std::size_t run) {
    return comparison.runs.size() > 1 && comparison.best_run(measure) == run;
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
    for (const ComparedMeasure& measure : comparison.measures) {
        const std::optional<std::size_t> best = comparison.best_run(measure);
        if (!best) continue;
        const ComparedRun& run = comparison.runs[*best];
        const BestValue value = *run.best(measure);
        text += fmt::format("* {} {}, epoch {}: {}\n", measure.title(), short_number(value.value),
                            value.epoch, called(comparison, run));
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
        if (const std::optional<std::size_t> best = comparison.best_run(measure))
            winners[measure.title()] = comparison.runs[*best].name;
    for (const RunDifference& one : comparison.differences)
        differences.push_back({{"what", one.what},
                               {"meaning", plan::label_of(one.meaning)},
                               {"reason", one.reason},
                               {"values", one.values}});
    const Json document = {{"version", 1},
                           {"runs", std::move(runs)},
                           {"best", std::move(winners)},
                           {"differences", std::move(differences)}};
    return write_json(document, 1) + "\n";
}

}  // namespace dtnn::runtime
