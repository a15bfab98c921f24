#include "runtime/report/comparison_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <set>

#include "base/escape.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "plan/metrics.hpp"
#include "runtime/report/comparison_table.hpp"
#include "runtime/report/fitted_table.hpp"
#include "runtime/report/html_page.hpp"
#include "runtime/report/line_chart.hpp"
#include "runtime/report/repeated_runs.hpp"
#include "runtime/report/setting_charts.hpp"

namespace dtnn::runtime {
namespace {

/// Curves that can be told apart: as many colours, each as a line and dashed.
constexpr std::size_t kColours = 8;
constexpr std::size_t kMostCurves = 2 * kColours;
/// With more runs than this a difference shows its different values, not one for each run.
constexpr std::size_t kMostValues = 3;
/// More settings than these do not stand between a run and its results.
constexpr std::size_t kMostBefore = 4;
/// Longer values stand in a line of their own, and not in the table of the runs.
constexpr std::size_t kLongestShort = 24;

bool is_short(const std::string& value) {
    return characters(value) <= kLongestShort;
}

/// A path as a link: what is not plain in a URL as %NN.
std::string url_of(const std::string& path) {
    std::string url;
    for (const char c : path) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '/' || c == '.' || c == '_' || c == '-';
        url += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return url;
}

class ComparisonPage {
  public:
    ComparisonPage(const Comparison& comparison, const std::string& path)
        : comparison_(comparison), folder_(std::filesystem::path(path).parent_path()) {
        choose_curves();
    }

    std::string write() const {
        const std::string title = fmt::format("{} runs", comparison_.runs.size());
        return html_page(
            title, head(title),
            {{"settings", "By setting", comparison_.swept ? html_setting_charts(comparison_) : ""},
             {"curves", "Curves", curves()},
             {"runs", "Runs", runs()},
             {"differences", "What differs", differences()},
             {"next", "What next", next()}});
    }

  private:
    /// The runs whose curves are drawn: all, or those that are best in the first measure.
    void choose_curves() {
        std::vector<std::size_t> order(comparison_.runs.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::erase_if(order,
                      [&](std::size_t i) { return comparison_.runs[i].history.epochs.empty(); });
        if (order.size() > kMostCurves && !comparison_.measures.empty()) {
            const ComparedMeasure& measure = comparison_.measures.front();
            const double sign = measure.higher ? -1 : 1;
            const auto rank = [&](std::size_t i) {
                const std::optional<BestValue> best = comparison_.runs[i].best(measure);
                return best ? sign * best->value : std::numeric_limits<double>::infinity();
            };
            std::stable_sort(order.begin(), order.end(),
                             [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
            order.resize(kMostCurves);
            std::sort(order.begin(), order.end());
        }
        styles_.resize(comparison_.runs.size());
        for (std::size_t i = 0; i < order.size(); ++i)
            styles_[order[i]] = fmt::format("c{}{}", i % kColours, i < kColours ? "" : " dashed");
    }

    std::string head(const std::string& title) const {
        std::vector<std::pair<std::string, std::string>> facts;
        std::size_t finished = 0, failed = 0;
        double seconds = 0;
        for (const ComparedRun& run : comparison_.runs) {
            finished += std::size_t(run.state == RunState::finished);
            failed += std::size_t(run.state == RunState::failed);
            seconds += run.seconds();
        }
        facts.emplace_back("finished", fmt::format("{} of {}", finished, comparison_.runs.size()));
        if (failed > 0) facts.emplace_back("failed", fmt::to_string(failed));
        facts.emplace_back("time of all", elapsed_time_text(seconds));
        for (const ComparedMeasure& measure : comparison_.measures) {
            const std::vector<std::size_t> best = comparison_.best_runs(measure);
            if (best.empty()) continue;
            const ComparedRun& run = comparison_.runs[best.front()];
            facts.emplace_back(
                "best " + measure.words(),
                fmt::format(
                    "{}, {}", short_number(run.best(measure)->value),
                    best.size() > 1 ? fmt::format("a tie of {} runs", best.size()) : run.name));
        }
        return fmt::format("<header>\n<h1>{}</h1>\n{}</header>\n", html_escaped(title),
                           html_facts(facts));
    }

    std::string swatch(std::size_t run) const {
        return fmt::format("<span class=\"swatch {}\"></span>",
                           styles_[run].empty() ? "none" : styles_[run]);
    }

    LineChart chart_of(const ComparedMeasure& measure) const {
        LineChart chart{measure.words(), "epoch", {}, false};
        chart.whole_x = true;
        chart.legend = false;
        for (std::size_t i = 0; i < comparison_.runs.size(); ++i) {
            if (styles_[i].empty()) continue;
            Curve curve{comparison_.runs[i].name, styles_[i], {}, {}};
            for (const EpochRecord& epoch : comparison_.runs[i].history.epochs) {
                const Measures& measures = measure.validation ? epoch.validation : epoch.train;
                const auto found = measures.numbers.find(measure.name);
                curve.x.push_back(double(epoch.epoch));
                curve.y.push_back(found == measures.numbers.end() ? std::nan("") : found->second);
            }
            chart.curves.push_back(std::move(curve));
        }
        return chart;
    }

    /// The training losses by steps, as far as the histories have them.
    LineChart chart_by_steps() const {
        LineChart chart{"training loss by steps", "step", {}, false};
        chart.whole_x = true;
        chart.legend = false;
        for (std::size_t i = 0; i < comparison_.runs.size(); ++i) {
            if (styles_[i].empty()) continue;
            Curve curve{comparison_.runs[i].name, styles_[i], {}, {}};
            for (const EpochRecord& epoch : comparison_.runs[i].history.epochs) {
                curve.x.insert(curve.x.end(), epoch.steps.begin(), epoch.steps.end());
                curve.y.insert(curve.y.end(), epoch.losses.begin(), epoch.losses.end());
            }
            constexpr std::size_t kMostPoints = 200;
            if (!curve.x.empty()) chart.curves.push_back(thinned(std::move(curve), kMostPoints));
        }
        return chart;
    }

    std::string curves() const {
        std::string charts;
        for (const ComparedMeasure& measure : comparison_.measures) {
            charts += svg_of(chart_of(measure));
            // The loss, which is minimised, stands beside what it is good for.
            if (measure.validation && measure.name == plan::kLossName)
                charts += svg_of(chart_of({measure.name, false, measure.higher}));
        }
        charts += svg_of(chart_by_steps());
        if (charts.empty()) return "";
        std::string legend;
        std::size_t drawn = 0;
        for (std::size_t i = 0; i < comparison_.runs.size(); ++i) {
            if (styles_[i].empty()) continue;
            ++drawn;
            legend += fmt::format("<span>{}{}</span>\n", swatch(i), link_to(comparison_.runs[i]));
        }
        std::string text = fmt::format(
            "<div class=\"charts\">\n{}</div>\n<p class=\"legend\">{}</p>\n", charts, legend);
        if (drawn < comparison_.runs.size())
            text += fmt::format(
                "<p>{} of {} runs: those with epochs{}.</p>\n", drawn, comparison_.runs.size(),
                drawn == kMostCurves
                    ? fmt::format(", the best by {}", comparison_.measures.front().words())
                    : "");
        return text;
    }

    static std::filesystem::path page_of(const ComparedRun& run) {
        return std::filesystem::path(run.folder) / "report.html";
    }

    static bool has_page(const ComparedRun& run) {
        std::error_code ignored;
        return std::filesystem::exists(page_of(run), ignored);
    }

    /// The run's name, as a link to its own page where that has been written.
    std::string link_to(const ComparedRun& run) const {
        if (!has_page(run)) return html_breakable(run.name);
        std::error_code error;
        const std::filesystem::path from = folder_.empty() ? std::filesystem::path(".") : folder_;
        const std::filesystem::path relative =
            std::filesystem::proximate(page_of(run), from, error);
        if (error) return html_breakable(run.name);
        return fmt::format("<a href=\"{}\">{}</a>", url_of(relative.string()),
                           html_breakable(run.name));
    }

    static std::string state_of(const ComparedRun& run) {
        const char* style = run.state == RunState::finished ? "good"
                            : run.state == RunState::failed ? "bad"
                                                            : "pause";
        return fmt::format("<span class=\"{}\">{}</span>", style, name_of(run.state));
    }

    /// Whether all runs have short values there: the column.
    bool fits(std::size_t setting) const {
        return std::all_of(
            comparison_.runs.begin(), comparison_.runs.end(), [&](const ComparedRun& run) {
                return setting >= run.settings.size() || is_short(run.settings[setting]);
            });
    }

    std::string runs() const {
        std::vector<TableColumn> columns, settings;
        const auto column = [&](std::string head, const auto& cell_of) {
            columns.push_back({std::move(head), {}});
            for (std::size_t i = 0; i < comparison_.runs.size(); ++i)
                columns.back().cells.push_back(cell_of(comparison_.runs[i], i));
        };
        std::vector<std::string> elsewhere;
        for (std::size_t i = 0; i < comparison_.settings.size(); ++i) {
            const std::string head = short_setting(comparison_.settings, comparison_.settings[i]);
            if (!fits(i)) {
                elsewhere.push_back(head);
                continue;
            }
            column(head, [&](const ComparedRun& run, std::size_t) {
                return i < run.settings.size() ? html_any_break(run.settings[i]) : "";
            });
        }
        settings.swap(columns);
        column("state", [](const ComparedRun& run, std::size_t) { return state_of(run); });
        const bool before = settings.size() <= kMostBefore;
        if (before) columns.insert(columns.end(), settings.begin(), settings.end());
        bool pages = true, bests = false, ties = false;
        for (const ComparedMeasure& measure : comparison_.measures) {
            column("best " + measure.words(), [&](const ComparedRun& run, std::size_t i) {
                bests = bests || run.best(measure);
                return best_cell(run, i, measure);
            });
            ties = ties || comparison_.best_runs(measure).size() > 1;
        }
        for (const std::string& name : comparison_.tested)
            column("test " + name, [&](const ComparedRun& run, std::size_t) {
                const auto found = run.history.test.numbers.find(name);
                return found == run.history.test.numbers.end() ? "" : short_number(found->second);
            });
        column("epochs", [](const ComparedRun& run, std::size_t) {
            return fmt::format("{}/{}", run.epochs_done(), run.epochs);
        });
        column("time", [](const ComparedRun& run, std::size_t) {
            return run.epochs_done() == 0 ? "" : elapsed_time_text(run.seconds());
        });
        column("parameters",
               [](const ComparedRun& run, std::size_t) { return grouped(run.trainable); });
        if (!before) columns.insert(columns.end(), settings.begin(), settings.end());
        std::vector<RowName> names;
        std::string notes;
        for (std::size_t i = 0; i < comparison_.runs.size(); ++i) {
            const ComparedRun& run = comparison_.runs[i];
            names.push_back(
                {run.name,
                 "<div class=\"name\">" + swatch(i) + "<span>" + link_to(run) + "</span></div>",
                 swatch(i)});
            pages = pages && has_page(run);
            if (!run.error.empty())
                notes += fmt::format("<p class=\"bad why\">{} failed: {}</p>\n",
                                     html_escaped(run.name), html_lines(run.error));
        }
        if (bests) notes += "<p>In brackets: the epoch of the best value.</p>\n";
        if (ties) notes += "<p>A tie: several runs have the same best value.</p>\n";
        if (!elsewhere.empty())
            notes += fmt::format(
                "<p>Settings too long for this table stand <a href=\"#differences\">below</a>: "
                "{}.</p>\n",
                html_escaped(fmt::format("{}", fmt::join(elsewhere, ", "))));
        if (!pages)
            notes +=
                "<p>A run's name leads to its own page once <code>dtnn-run report RUN</code> has "
                "written that.</p>\n";
        return html_fitted_table("run", names, columns) + notes + repeated();
    }

    /// The mean and the deviation of runs that repeat one experiment.
    std::string repeated() const {
        const Repetition repetition = repeated_runs(comparison_);
        if (repetition.groups.empty()) return "";
        std::vector<std::string> over;
        std::vector<TableColumn> columns;
        const auto column = [&](std::string head, const auto& cell_of) {
            columns.push_back({std::move(head), {}});
            for (const RepeatedRuns& group : repetition.groups)
                columns.back().cells.push_back(cell_of(group));
        };
        std::optional<std::size_t> named;  // the setting that the rows are named by
        std::string head;
        for (std::size_t i = 0; i < comparison_.settings.size(); ++i) {
            const std::string name = short_setting(comparison_.settings, comparison_.settings[i]);
            if (std::find(repetition.over.begin(), repetition.over.end(),
                          comparison_.settings[i]) != repetition.over.end()) {
                over.push_back(name);
            } else if (!named) {
                named = i;
                head = name;
            } else {
                column(name, [&](const RepeatedRuns& group) {
                    return html_any_break(group.settings[i]);
                });
            }
        }
        std::vector<RowName> names;
        for (const RepeatedRuns& group : repetition.groups) {
            const std::string name = named ? group.settings[*named] : "all";
            names.push_back({name, html_any_break(name)});
        }
        column("runs", [](const RepeatedRuns& group) { return fmt::to_string(group.runs.size()); });
        for_each_value(comparison_, [&](const std::string& name, const auto& value) {
            column(name, [&](const RepeatedRuns& group) {
                const std::optional<RunSpread> spread = run_spread(comparison_, group, value);
                return spread ? fmt::format("{} &plusmn; {:.2g}", short_number(spread->mean),
                                            spread->deviation)
                              : "";
            });
        });
        return fmt::format(
            "<h3>Mean and deviation over {}</h3>\n{}<p>The deviation is the sample's, by n - "
            "1.</p>\n",
            html_escaped(fmt::format("{}", fmt::join(over, " and "))),
            html_fitted_table(head, names, columns));
    }

    std::string best_cell(const ComparedRun& run, std::size_t index,
                          const ComparedMeasure& measure) const {
        const std::optional<BestValue> best = run.best(measure);
        if (!best) return "";
        const std::vector<std::size_t> of_all = comparison_.best_runs(measure);
        const bool is_best = comparison_.runs.size() > 1 &&
                             std::find(of_all.begin(), of_all.end(), index) != of_all.end();
        return fmt::format("<span{}>{}</span> <small>({}{})</small>",
                           is_best ? " class=\"best\"" : "", short_number(best->value), best->epoch,
                           is_best && of_all.size() > 1 ? ", tie" : "");
    }

    std::string differences() const {
        if (comparison_.runs.size() < 2) return "";
        if (comparison_.differences.empty())
            return "<p>Nothing was chosen otherwise: the runs differ in how they went only.</p>\n";
        const bool each = comparison_.runs.size() <= kMostValues;
        std::vector<std::string> heads = {"what"};
        if (each)
            for (const ComparedRun& run : comparison_.runs)
                heads.push_back(run.name);
        else
            heads.emplace_back("values");
        heads.insert(heads.end(), {"meaning", "because"});
        CardTable table(heads);
        for (const RunDifference& one : comparison_.differences) {
            std::vector<std::string> cells = {html_breakable(one.what)};
            if (each) {
                for (const std::string& value : one.values)
                    cells.push_back(html_breakable(value));
            } else {
                std::vector<std::string> values;
                for (const std::string& value : one.values)
                    if (std::find(values.begin(), values.end(), value) == values.end())
                        values.push_back(value);
                const bool brief = std::all_of(values.begin(), values.end(), is_short);
                for (std::string& value : values)
                    value = html_breakable(value);
                cells.push_back(fmt::format("{}", fmt::join(values, brief ? ", " : "<br/>")));
            }
            cells.insert(cells.end(),
                         {html_escaped(plan::label_of(one.meaning)), html_escaped(one.reason)});
            table.add(cells);
        }
        return table.finish();
    }

    std::string next() const {
        std::vector<std::pair<std::string, std::string>> commands;
        if (!comparison_.measures.empty()) {
            const ComparedMeasure& measure = comparison_.measures.front();
            if (const std::vector<std::size_t> best = comparison_.best_runs(measure);
                !best.empty()) {
                const ComparedRun& run = comparison_.runs[best.front()];
                const std::string folder = command_word(run.folder);
                commands.emplace_back(
                    fmt::format("Look at the run with the best {}:", measure.words()),
                    fmt::format("dtnn-run report {}", folder));
                if (run.state == RunState::finished)
                    commands.emplace_back(
                        "Predict with it:",
                        fmt::format("dtnn-run predict {}/plan.json --weights "
                                    "{}/weights.safetensors --input FILE-OR-FOLDER -o answers.csv",
                                    folder, folder));
            }
        }
        for (const ComparedRun& run : comparison_.runs) {
            if (run.state != RunState::interrupted && run.state != RunState::unfinished) continue;
            commands.emplace_back(fmt::format("Go on with {}:", run.name),
                                  fmt::format("dtnn-run --resume {}", command_word(run.folder)));
        }
        if (comparison_.runs.size() > 1)
            commands.emplace_back("What two plans differ in, consequences and all:",
                                  fmt::format("dtnnc diff {}/plan.json {}/plan.json",
                                              command_word(comparison_.runs[0].folder),
                                              command_word(comparison_.runs[1].folder)));
        return html_commands(commands);
    }

    const Comparison& comparison_;
    std::filesystem::path folder_;     ///< of the page
    std::vector<std::string> styles_;  ///< of each run's curves; empty: none are drawn
};

}  // namespace

std::string comparison_page(const Comparison& comparison, const std::string& path) {
    return ComparisonPage(comparison, path).write();
}

}  // namespace dtnn::runtime
