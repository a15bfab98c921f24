#include "runtime/report/html_report.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/svg.hpp"
#include "runtime/report/history_reader.hpp"
#include "runtime/report/history_writer.hpp"
#include "runtime/report/line_chart.hpp"
#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/hand_made_plan.hpp"

namespace dtnn::runtime::html_report_test {
namespace {

const char* const kHistory =
    R"({"event": "start", "name": "n", "threads": 2, "machine": {"host": "node07"}}
{"event": "epoch", "epoch": 1, "step": 6, "learning_rate": 0.1, "train": {"loss": 1.5, "f1": [0.5, 0.25]}, "validation": null, "samples_per_second": 100.0, "seconds": 2.0}
{"event": "epoch", "epoch": 2, "step": 12, "learning_rate": 0.05, "train": {"loss": 1.0, "f1": [0.5, 1.0]}, "validation": {"loss": 1.25}, "samples_per_second": 110.0, "seconds": 2.0}
{"event": "resume", "epoch": 1, "step": 6}
{"event": "epoch", "epoch": 2, "step": 12, "learning_rate": 0.05, "train": {"loss": 0.75, "f1": [0.5, 1.0]}, "validation": {"loss": 1.125}, "samples_per_second": 110.0, "seconds": 2.0}
{"event": "evaluate", "test": {"loss": 0.5, "confusion_matrix": [[8, 2], [0, 10]]}, "samples": 20}
)";

/// Every element that is opened is closed, in order; what has no end is left out.
bool well_nested(const std::string& html) {
    std::vector<std::string> open;
    for (std::size_t at = 0; (at = html.find('<', at)) != std::string::npos;) {
        const std::size_t end = html.find('>', at);
        if (end == std::string::npos) return false;
        const std::string tag = html.substr(at + 1, end - at - 1);
        at = end;
        const std::string name =
            tag.substr(tag[0] == '/', tag.find_first_of(" />", 1) - (tag[0] == '/'));
        if (tag[0] == '!' || tag.back() == '/' || name == "meta") continue;
        if (tag[0] != '/') {
            open.push_back(name);
        } else {
            if (open.empty() || open.back() != name) return false;
            open.pop_back();
        }
    }
    return open.empty();
}

}  // namespace

TEST_CASE("a history comes back, and what was told again counts once") {
    const RunHistory history = parse_history(kHistory, "history.jsonl");
    REQUIRE(history.epochs.size() == 2);
    CHECK(history.epochs[0].validation.empty());
    CHECK(history.epochs[1].train.numbers.at("loss") == 0.75);
    CHECK(history.epochs[1].train.others.at("f1") == "[0.5,1.0]");
    CHECK(history.start.at("machine.host") == "node07");
    CHECK(history.resumed == 1);
    CHECK(history.ending == RunState::finished);
    CHECK(history.test_samples == 20);
    CHECK(history_csv(history) ==
          "epoch,step,learning_rate,train.loss,validation.loss,samples_per_second,seconds\n"
          "1,6,0.1,1.5,,100,2\n"
          "2,12,0.05,0.75,1.125,110,2\n");
}

TEST_CASE("a killed run's last line may be cut off, no other") {
    const std::string text(kHistory);
    const RunHistory history = parse_history(text.substr(0, text.size() - 20), "h");
    CHECK(history.cut_off);
    CHECK(history.epochs.size() == 2);
    CHECK(history.ending == RunState::unfinished);
    expect_error(Exit::failed, {"run/history.jsonl:2", "restore"}, [&] {
        parse_history("{\"event\": \"start\"}\n{\"event\": \"epo\n{}\n", "run/history.jsonl");
    });
}

TEST_CASE("ticks are round and cover the values") {
    CHECK(round_ticks(0, 1, 5) == std::vector<double>{0, 0.25, 0.5, 0.75, 1});
    for (const auto& [least, most] : {std::pair{0.013, 2.31},
                                      {-5.0, -4.9},
                                      {1e-9, 3e-9},
                                      {3.0, 3.0},
                                      {0.0, 0.0},
                                      {1e6, 1.1e6}}) {
        const std::vector<double> ticks = round_ticks(least, most, 5);
        CHECK(ticks.size() >= 2);
        CHECK(ticks.size() <= 12);
        CHECK(ticks.front() <= least + 1e-12);
        CHECK(ticks.back() >= most - 1e-12);
        CHECK(std::is_sorted(ticks.begin(), ticks.end()));
    }
}

TEST_CASE("the page is whole, and names cannot become markup") {
    plan::Plan plan = hand_made_plan();
    plan.name = "<script>alert('x')</script>";
    plan.values = {{"training.epochs", "4", plan::OriginKind::command_line, {"--set a=<b>", 0, 0}}};
    const RunHistory history = parse_history(kHistory, "history.jsonl");
    const std::string page = html_report({&plan, &history, "runs/a&b", "operator  ms\nconv2d 3\n"});
    CHECK(page.starts_with("<!DOCTYPE html>"));
    CHECK(well_nested(page));
    CHECK(page.find("<script") == std::string::npos);
    CHECK(page.find("http") == std::string::npos);
    CHECK(page.find("runs/a&amp;b") != std::string::npos);
    CHECK(page.find("--set a=&lt;b&gt;") != std::string::npos);
    CHECK(page.find("node07") != std::string::npos);
    CHECK(page.find("Confusion matrix") != std::string::npos);
    CHECK(page.find("conv2d 3") != std::string::npos);
    // The matrix [[8, 2], [0, 10]] has the intersections over unions 8 / 10 and 10 / 12.
    CHECK(page.find("<th>class</th><th>samples</th><th>precision</th><th>recall</th><th>F1</th>"
                    "<th>IoU</th>") != std::string::npos);
    CHECK(page.find("<td>10</td><td>1</td><td>0.8</td><td>0.8889</td><td>0.8</td>") !=
          std::string::npos);
    CHECK(page.find("<td>10</td><td>0.8333</td><td>1</td><td>0.9091</td><td>0.8333</td>") !=
          std::string::npos);
    CHECK(page.find("<td>mean</td><td>20</td><td>0.9167</td><td>0.9</td><td>0.899</td>"
                    "<td>0.8167</td>") != std::string::npos);
    // Two charts with curves (loss; the rate; throughput), the list f1 is no curve.
    std::size_t charts = 0;
    for (std::size_t at = 0; (at = page.find("<svg", at)) != std::string::npos; ++at)
        ++charts;
    CHECK(charts == 3);
}

TEST_CASE("the result stands in the head, and the epoch whose weights were kept is marked") {
    plan::Plan plan = hand_made_plan();
    std::string told(kHistory);
    const std::string evaluate = R"({"event": "evaluate")";
    const RunHistory last = parse_history(told, "h");
    CHECK_FALSE(last.kept);
    const std::string page_of_last = html_report({&plan, &last, "run", ""});
    CHECK(page_of_last.find("<p class=\"result\">Test: loss 0.5</p>") < page_of_last.find("<nav>"));
    CHECK(page_of_last.find("mark kept") == std::string::npos);
    told.insert(told.find(evaluate),
                "{\"event\": \"restored\", \"epoch\": 1, \"validation.<b>\": 1.25}\n");
    const RunHistory history = parse_history(told, "h");
    REQUIRE(history.kept);
    CHECK(history.kept->epoch == 1);
    CHECK(history.kept->value == 1.25);
    const std::string page = html_report({&plan, &history, "run", ""});
    CHECK(well_nested(page));
    CHECK(page.find("(weights of epoch 1)") < page.find("<nav>"));
    CHECK(page.find("class=\"mark kept\"") != std::string::npos);
    CHECK(page.find("<tr class=\"kept\"><td>1 <small>kept") != std::string::npos);
    CHECK(page.find("were kept: validation.&lt;b&gt; 1.25") != std::string::npos);
    // Another epoch, of a training that goes on, has other weights.
    told += R"({"event": "continued", "epoch": 2, "epochs": 3})"
            "\n";
    CHECK_FALSE(parse_history(told, "h").kept);
}

TEST_CASE("numbers of a history that no integer holds are shown as they are") {
    const plan::Plan plan = hand_made_plan();
    const RunHistory history = parse_history(
        R"({"event": "epoch", "epoch": 1, "step": 6, "learning_rate": 0.1, "train": {"loss": 1e300}, "validation": null, "samples_per_second": 1e300, "seconds": 2.0}
{"event": "evaluate", "test": {"loss": 0.5, "confusion_matrix": [[1e300, 1234], [2, 10]]}, "samples": 20}
)",
        "h");
    const std::string page = html_report({&plan, &history, "run", ""});
    CHECK(well_nested(page));
    CHECK(page.find(">1e+300</td>") != std::string::npos);
    CHECK(page.find(">1,234</td>") != std::string::npos);
}

TEST_CASE("a run that has told nothing yet has a page") {
    const plan::Plan plan = hand_made_plan();
    const RunHistory history;
    const std::string page = html_report({&plan, &history, "run", ""});
    CHECK(well_nested(page));
    CHECK(page.find("not finished") != std::string::npos);
}

}  // namespace dtnn::runtime::html_report_test
