#include "runtime/report/setting_charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "base/escape.hpp"
#include "base/text.hpp"
#include "runtime/report/comparison_table.hpp"
#include "runtime/report/html_page.hpp"
#include "runtime/report/line_chart.hpp"
#include "runtime/report/repeated_runs.hpp"

namespace dtnn::runtime {
namespace {

/// Curves beside each other in one chart; of more combinations of the other settings there is one
/// mean.
constexpr std::size_t kMostGroups = 8;
/// A setting has one row of charts: of the loss and of the first metric.
constexpr std::size_t kMostMeasures = 2;
/// From this ratio of the largest to the smallest on, an axis is logarithmic.
constexpr double kDecades = 20;
constexpr double kPointRadius = 3, kRingRadius = 6;

std::optional<double> number_of(const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || !std::isfinite(value)) return std::nullopt;
    return value;
}

/// Runs that differ in the setting of the axis, in seed and fold only.
struct Group {
    std::vector<std::string> others;  ///< "batch_size 64"
    std::vector<std::size_t> runs;
};

/// The values of a setting, and where they stand.
struct Axis {
    std::string label;
    std::vector<std::string> values;  ///< from left to right
    std::vector<ChartTick> ticks;     ///< one for each value
    bool decades = false;             ///< the places are logarithms
    bool keyed = false;               ///< the ticks are letters that stand for values
};

class SettingChart {
  public:
    SettingChart(const Comparison& comparison, const Repetition& repetition, std::size_t setting)
        : comparison_(comparison), setting_(setting), measures_(comparison.measures) {
        if (measures_.size() > kMostMeasures) measures_.resize(kMostMeasures);
        take_values();
        for (std::size_t i = 0; i < comparison.settings.size(); ++i) {
            const auto& over = repetition.over;
            if (i != setting &&
                std::find(over.begin(), over.end(), comparison.settings[i]) == over.end())
                others_.push_back(i);
        }
        take_groups();
    }

    std::string draw() const {
        if (axis_.values.size() < 2) return "";
        std::string charts;
        for (const ComparedMeasure& measure : measures_)
            charts += svg_of(chart_of(measure));
        if (charts.empty()) return "";
        return fmt::format("<h3>{}</h3>\n<div class=\"charts\">\n{}</div>\n{}",
                           html_breakable(axis_.label), charts, legend());
    }

  private:
    const std::string* value_of(std::size_t run) const {
        const std::vector<std::string>& settings = comparison_.runs[run].settings;
        return setting_ < settings.size() ? &settings[setting_] : nullptr;
    }

    void take_values() {
        axis_.label = short_setting(comparison_.settings, comparison_.settings[setting_]);
        std::vector<std::string>& values = axis_.values;
        for (std::size_t i = 0; i < comparison_.runs.size(); ++i)
            if (const std::string* value = value_of(i))
                if (std::find(values.begin(), values.end(), *value) == values.end())
                    values.push_back(*value);
        if (values.empty()) return;
        if (std::all_of(values.begin(), values.end(),
                        [](const std::string& value) { return number_of(value).has_value(); })) {
            std::sort(values.begin(), values.end(),
                      [](const auto& a, const auto& b) { return *number_of(a) < *number_of(b); });
            const double least = *number_of(values.front()), most = *number_of(values.back());
            const bool decades = least > 0 && most >= kDecades * least;
            for (const std::string& value : values)
                axis_.ticks.push_back(
                    {decades ? std::log10(*number_of(value)) : *number_of(value), value});
            axis_.decades = decades;
            return;
        }
        axis_.keyed = !tick_texts_fit(values);
        for (std::size_t i = 0; i < values.size(); ++i)
            axis_.ticks.push_back({double(i), axis_.keyed ? key_of(i) : values[i]});
    }

    /// "A", "B" ..., which stands for a value that is too long to stand under the panel.
    static std::string key_of(std::size_t index) {
        constexpr std::size_t kLetters = 26;
        return std::string(1 + index / kLetters, char('A' + index % kLetters));
    }

    void take_groups() {
        for (std::size_t run = 0; run < comparison_.runs.size(); ++run) {
            if (!value_of(run)) continue;
            std::vector<std::string> others;
            for (const std::size_t i : others_)
                others.push_back(fmt::format(
                    "{} {}", short_setting(comparison_.settings, comparison_.settings[i]),
                    comparison_.runs[run].settings[i]));
            const auto found =
                std::find_if(groups_.begin(), groups_.end(),
                             [&](const Group& group) { return group.others == others; });
            if (found == groups_.end())
                groups_.push_back({std::move(others), {run}});
            else
                found->runs.push_back(run);
        }
        if (groups_.size() <= kMostGroups) return;
        Group all;
        for (const Group& group : groups_)
            all.runs.insert(all.runs.end(), group.runs.begin(), group.runs.end());
        groups_ = {std::move(all)};
    }

    std::size_t place_of(std::size_t run) const {
        return std::size_t(std::find(axis_.values.begin(), axis_.values.end(), *value_of(run)) -
                           axis_.values.begin());
    }

    void add_point(Curve& points, std::size_t run, double value, const char* what) const {
        points.x.push_back(axis_.ticks[place_of(run)].x);
        points.y.push_back(value);
        points.hints.push_back(
            fmt::format("{}{}: {}", what, comparison_.runs[run].name, short_number(value)));
    }

    LineChart chart_of(const ComparedMeasure& measure) const {
        const std::vector<std::size_t> best = comparison_.best_runs(measure);
        LineChart chart{measure.words(), axis_.label, {}, false};
        if (axis_.decades) chart.x_label += " (logarithmic)";
        if (best.size() > 1) chart.title += fmt::format(": {} tie", best.size());
        chart.legend = false;
        chart.ticks = axis_.ticks;
        for (std::size_t i = 0; i < groups_.size(); ++i) {
            const std::string style = fmt::format("c{}", i);
            Curve means{"", style, {}, {}}, points{"", style, {}, {}};
            means.radius = 0;
            points.joined = false;
            points.radius = kPointRadius;
            std::vector<double> sums(axis_.values.size()), counts(axis_.values.size());
            for (const std::size_t run : groups_[i].runs) {
                const std::optional<BestValue> value = comparison_.runs[run].best(measure);
                if (!value) continue;
                add_point(points, run, value->value, "");
                sums[place_of(run)] += value->value;
                ++counts[place_of(run)];
            }
            for (std::size_t place = 0; place < sums.size(); ++place) {
                if (counts[place] == 0) continue;
                means.x.push_back(axis_.ticks[place].x);
                means.y.push_back(sums[place] / counts[place]);
            }
            chart.curves.push_back(std::move(means));
            chart.curves.push_back(std::move(points));
        }
        Curve rings{"", "best", {}, {}};
        rings.joined = false;
        rings.radius = kRingRadius;
        for (const std::size_t run : best)
            if (value_of(run))
                add_point(rings, run, comparison_.runs[run].best(measure)->value,
                          best.size() > 1 ? "tie for the best: " : "best: ");
        chart.curves.push_back(std::move(rings));
        return chart;
    }

    std::string legend() const {
        std::string text;
        const auto entry = [&](const std::string& swatch, const std::string& words) {
            text += fmt::format("<span><span class=\"swatch {}\"></span>{}</span>\n", swatch,
                                html_escaped(words));
        };
        bool repeated = false, ties = false;
        for (std::size_t i = 0; i < groups_.size(); ++i) {
            std::vector<std::size_t> counts(axis_.values.size());
            for (const std::size_t run : groups_[i].runs)
                repeated = ++counts[place_of(run)] > 1 || repeated;
            if (groups_.size() > 1)
                entry(fmt::format("c{}", i), fmt::format("{}", fmt::join(groups_[i].others, ", ")));
        }
        for (const ComparedMeasure& measure : measures_)
            ties = ties || comparison_.best_runs(measure).size() > 1;
        entry("point", "a run's best value of all epochs");
        if (repeated) entry(groups_.size() > 1 ? "ink" : "c0", "mean of the runs");
        entry("best", ties ? "the best; several of them are a tie" : "the best");
        if (axis_.keyed)
            for (std::size_t i = 0; i < axis_.values.size(); ++i)
                text += fmt::format("<span><b>{}</b> {}</span>\n", axis_.ticks[i].text,
                                    html_escaped(axis_.values[i]));
        return fmt::format("<p class=\"legend\">{}</p>\n", text);
    }

    const Comparison& comparison_;
    std::size_t setting_;
    std::vector<ComparedMeasure> measures_;
    Axis axis_;
    std::vector<std::size_t> others_;  ///< settings that are neither of the axis nor repetitions
    std::vector<Group> groups_;
};

}  // namespace

std::string html_setting_charts(const Comparison& comparison) {
    const Repetition repetition = repeated_runs(comparison);
    const bool alone = repetition.over.size() == comparison.settings.size();
    std::string text;
    for (std::size_t i = 0; i < comparison.settings.size(); ++i) {
        const bool repeats = std::find(repetition.over.begin(), repetition.over.end(),
                                       comparison.settings[i]) != repetition.over.end();
        // Seeds and folds are no choice; they stand on an axis where nothing else is swept.
        if (!repeats || alone) text += SettingChart(comparison, repetition, i).draw();
    }
    return text;
}

}  // namespace dtnn::runtime
