#include "runtime/report/comparison_page.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "runtime/report/fitted_table.hpp"
#include "runtime/report/setting_charts.hpp"

namespace dtnn::runtime::comparison_page_test {
namespace {

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at)
        ++count;
    return count;
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

ComparedRun run_of(std::vector<std::string> settings, double loss) {
    ComparedRun run;
    for (const std::string& value : settings)
        run.name += "run-" + value;
    run.settings = std::move(settings);
    run.state = RunState::finished;
    EpochRecord epoch;
    epoch.epoch = 1;
    epoch.train.numbers["loss"] = loss;
    run.history.epochs = {epoch};
    run.epochs = 1;
    return run;
}

Comparison sweep_of(std::vector<std::string> settings, std::vector<ComparedRun> runs) {
    Comparison sweep;
    sweep.settings = std::move(settings);
    sweep.swept = true;
    sweep.runs = std::move(runs);
    sweep.measures = {{"loss", false, false}};
    return sweep;
}

/// The place of a tick's text, from its left.
double tick_place(const std::string& chart, const std::string& text) {
    const std::size_t end = chart.find("class=\"tick x\">" + text + "<");
    REQUIRE(end != std::string::npos);
    return std::stod(chart.substr(chart.rfind("x=\"", end) + 3));
}

std::string table_of(std::size_t rows, std::size_t columns) {
    std::vector<RowName> names;
    for (std::size_t i = 0; i < rows; ++i)
        names.push_back({fmt::format("run_{}", i), fmt::format("run_{}", i), "<i></i>"});
    std::vector<TableColumn> all;
    for (std::size_t i = 0; i < columns; ++i)
        all.push_back({fmt::format("setting_of_layer_{}", i), std::vector<std::string>(rows, "1")});
    return html_fitted_table("run", names, all);
}

}  // namespace

TEST_CASE("numbers stand on an axis of numbers, a logarithmic one where they span decades") {
    const std::string logarithmic = html_setting_charts(
        sweep_of({"training.optimizer.adam.learning_rate"},
                 {run_of({"0.01"}, 2), run_of({"0.0001"}, 3), run_of({"0.001"}, 1)}));
    CHECK(has(logarithmic, "learning_rate (logarithmic)"));
    CHECK(tick_place(logarithmic, "0.001") - tick_place(logarithmic, "0.0001") ==
          doctest::Approx(tick_place(logarithmic, "0.01") - tick_place(logarithmic, "0.001"))
              .epsilon(1e-3));
    const std::string linear = html_setting_charts(sweep_of(
        {"training.batch_size"}, {run_of({"8"}, 2), run_of({"16"}, 3), run_of({"32"}, 1)}));
    CHECK_FALSE(has(linear, "logarithmic"));
    CHECK(2 * (tick_place(linear, "16") - tick_place(linear, "8")) ==
          doctest::Approx(tick_place(linear, "32") - tick_place(linear, "16")).epsilon(1e-3));
    CHECK(count_of(linear, "class=\"best\"") == 1);
    CHECK(has(linear, "best: run-32: 1"));
}

TEST_CASE("words stand beside each other, by letters where they are long") {
    const std::string brief = html_setting_charts(
        sweep_of({"model.activation"}, {run_of({"relu"}, 2), run_of({"<b>"}, 3)}));
    CHECK(tick_place(brief, "relu") < tick_place(brief, "&lt;b&gt;"));
    CHECK_FALSE(has(brief, "<b>"));
    const std::string word = "{adam: {learning_rate: 0.001, beta1: 0.8}}";
    const std::string keyed = html_setting_charts(
        sweep_of({"training.optimizer"}, {run_of({word}, 2), run_of({"sgd"}, 3)}));
    CHECK(tick_place(keyed, "A") < tick_place(keyed, "B"));
    CHECK(has(keyed, "<b>A</b> " + word));
}

TEST_CASE("runs over seeds are points around their mean, and ties are ties") {
    const Comparison sweep = sweep_of({"training.batch_size", "training.seed"},
                                      {run_of({"8", "1"}, 1), run_of({"8", "2"}, 3),
                                       run_of({"16", "1"}, 1), run_of({"16", "2"}, 5)});
    CHECK(sweep.best_runs(sweep.measures[0]) == std::vector<std::size_t>{0, 2});
    const std::string charts = html_setting_charts(sweep);
    CHECK(count_of(charts, "<svg") == 1);  // a seed is no choice
    CHECK(count_of(charts, "<circle") == 4 + 2);
    CHECK(count_of(charts, "tie for the best: ") == 2);
    CHECK(has(charts, "training loss: 2 tie"));
    CHECK(has(charts, "mean of the runs"));
    const std::string page = comparison_page(sweep, "page.html");
    CHECK(has(page, "a tie of 2 runs"));
    CHECK(count_of(page, "(1, tie)") == 2);
    // Seeds alone stand on an axis.
    CHECK(
        has(html_setting_charts(sweep_of({"training.seed"}, {run_of({"1"}, 1), run_of({"2"}, 3)})),
            "<h3>seed</h3>"));
    // Nothing is swept: the runs' curves are all there is to draw.
    Comparison others = sweep;
    others.swept = false;
    CHECK_FALSE(has(comparison_page(others, "page.html"), "By setting"));
}

TEST_CASE("a table has no more columns than a page has room for") {
    CHECK(count_of(table_of(3, 5), "<table") == 1);
    CHECK_FALSE(has(table_of(3, 5), "turned"));
    const std::string turned = table_of(3, 30);
    CHECK(count_of(turned, "<table") == 1);
    CHECK(count_of(turned, "<tr") == 31);
    CHECK(has(turned, "turned"));
    // Many rows: the columns go on below.
    const std::string parts = table_of(40, 30);
    CHECK(count_of(parts, "<table") > 1);
    CHECK_FALSE(has(parts, "turned"));
    CHECK(count_of(parts, "<td data-head=\"setting_of_layer_29\">") == 40);
    CHECK(has(html_any_break("<a> and more than eleven"), "<span class=\"any\">&lt;a&gt; and"));
}

}  // namespace dtnn::runtime::comparison_page_test
