#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "plan/json/json.hpp"
#include "runtime/report/bench_report.hpp"
#include "runtime/report/history_writer.hpp"
#include "runtime/report/progress.hpp"
#include "runtime/report/roofline.hpp"
#include "runtime/report/run_folder.hpp"
#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/file_text.hpp"
#include "tests/unit/runtime/hand_made_plan.hpp"

namespace dtnn::runtime::report_test {
namespace {

LoadedPlan loaded_plan() {
    return load_plan_text(plan::to_json(hand_made_plan()), "hand.json");
}

PassValues pass_of(double loss, double accuracy, std::int64_t samples) {
    PassValues pass;
    pass.values.resize(2);
    pass.values[0] = {"loss", MetricValue::Form::number, {loss}};
    pass.values[1] = {"categorical_accuracy", MetricValue::Form::number, {accuracy}};
    pass.samples = samples;
    return pass;
}

/// Goes there and comes back.
struct InFolder {
    explicit InFolder(const std::string& path) : before(std::filesystem::current_path()) {
        std::filesystem::current_path(path);
    }
    ~InFolder() { std::filesystem::current_path(before); }
    std::filesystem::path before;
};

}  // namespace

TEST_CASE("a run folder holds the plan and the resolved spec, byte for byte") {
    const TemporaryFolder folder;
    const LoadedPlan plan = loaded_plan();
    const RunFolder run(folder / "deep/run/", plan, false);
    CHECK(run.path() == folder / "deep/run");
    CHECK(file_text(run.plan()) == plan.text);
    CHECK(file_text(run.resolved()) == plan.plan.resolved_spec);
}

TEST_CASE("a folder with a run in it is kept, unless told otherwise") {
    const TemporaryFolder folder;
    const LoadedPlan plan = loaded_plan();
    const RunFolder run(folder / "run", plan, false);
    // Without history or weights it is no run yet: a run that failed to begin may be repeated.
    CHECK_NOTHROW(RunFolder(folder / "run", plan, false));
    write_text(run.history(), "{}\n");
    expect_error(Exit::failed, {"run", "history.jsonl", "--output", "--force"},
                 [&] { RunFolder(folder / "run", plan, false); });
    CHECK(file_text(run.history()) == "{}\n");
    CHECK_NOTHROW(RunFolder(folder / "run", plan, true));
    CHECK(file_text(run.history()).empty());
    {
        // Another process (here: another opening of the file) writes a run in it.
        write_text(run.history(), "{}\n");
        const LineFile running(run.history(), LineFile::Begin::as_it_is);
        write_text(run.plan(), "its plan");
        expect_error(Exit::failed, {"another process writes", "history.jsonl"},
                     [&] { RunFolder(folder / "run", plan, true); });
        CHECK(file_text(run.plan()) == "its plan");
    }
    write_text(run.history(), "");
    write_text(run.weights(), "w");
    expect_error(Exit::failed, {"weights.safetensors"},
                 [&] { RunFolder(folder / "run", plan, false); });
}

TEST_CASE("without a name runs get dated folders of their own") {
    const TemporaryFolder folder;
    const InFolder there(folder.path());
    const LoadedPlan plan = loaded_plan();
    const RunFolder a("", plan, false), b("", plan, false), c("", plan, false);
    CHECK(a.path().starts_with("runs/hand_made-20"));
    CHECK(a.path() != b.path());
    CHECK(b.path() != c.path());
    CHECK(as_folder_name("a/b c") == "a_b_c");
    CHECK(as_folder_name("..") == "run..");
    CHECK(as_folder_name("") == "run");
}

TEST_CASE("history has a line of JSON per event, in the stable form") {
    const TemporaryFolder folder;
    HistoryWriter history(folder / "history.jsonl", hand_made_plan());
    history.start("xxh3:12", 2, 34.5, "xxh3:ab", 3);
    EpochResult epoch;
    epoch.epoch = 1;
    epoch.step = 6;
    epoch.learning_rate = 0.1;
    epoch.train = pass_of(0.1, 0.875, 44);
    history.epoch(epoch);
    epoch.validation = pass_of(0.25, 0.5, 12);
    history.epoch(epoch);
    history.evaluate(pass_of(0.3, 1, 24));
    TrainingResult result;
    result.step = 7;
    history.interrupted(result);
    history.failed("a \"path\" \xff");
    history.close();
    std::istringstream lines(file_text(folder / "history.jsonl"));
    std::vector<nlohmann::json> events;
    for (std::string line; std::getline(lines, line);)
        events.push_back(nlohmann::json::parse(line));
    REQUIRE(events.size() == 6);
    CHECK(events[0]["event"] == "start");
    CHECK(events[0]["first_step_milliseconds"] == 34.5);
    CHECK(events[0]["dataset"] == "xxh3:ab");
    CHECK(events[0]["ranks"] == 3);
    CHECK(events[0]["machine"]["processors"] >= 1);
    CHECK(events[1]["event"] == "epoch");
    CHECK(events[1]["train"] == nlohmann::json{{"loss", 0.1}, {"categorical_accuracy", 0.875}});
    CHECK(events[1]["validation"].is_null());
    CHECK(events[2]["validation"]["loss"] == 0.25);
    CHECK(events[2]["step"] == 6);
    CHECK(events[3]["event"] == "evaluate");
    CHECK(events[3]["test"]["categorical_accuracy"] == 1.0);
    CHECK(events[4]["event"] == "interrupted");
    CHECK(events[5]["event"] == "failed");
}

TEST_CASE("the progress line fits every width") {
    const plan::Plan plan = hand_made_plan();
    MetricSet metrics(plan, PassKind::training);
    const float loss = 0.0921F;
    const double right = 972;
    BatchOutputs outputs;
    outputs.loss = {&loss, DType::f32, 1};
    outputs.metrics = {{&right, DType::f64, 1}};
    metrics.add(outputs, 1000);
    const Progress progress{2, 3, 412, 938, 1.5, 0, 0, 1000, metrics};
    const std::string wide = progress_line(progress, 21345, 12, 120);
    for (const char* part : {"epoch 2/3", "43%", "21.3k samples/s", "loss 0.0921",
                             "accuracy 97.20%", "0:12 left", "=>"}) {
        CAPTURE(wide);
        CHECK(wide.find(part) != std::string::npos);
    }
    for (int width = 0; width < 130; ++width)
        CHECK(int(progress_line(progress, 21345, 12, width).size()) <= width);
    CHECK(progress_line(progress, 21345, 12, 50).find("loss") != std::string::npos);
    // An ordinary terminal has room for the bar and everything else.
    const std::string ordinary = progress_line(progress, 21345, 12, 79);
    CAPTURE(ordinary);
    CHECK(ordinary.find("=>") != std::string::npos);
    CHECK(ordinary.find("left") != std::string::npos);
}

namespace {

/// The lines that are written to standard error meanwhile.
template <class Work>
std::vector<std::string> lines_of(const Work& work) {
    const TemporaryFolder folder;
    const std::string file = folder / "told";
    std::fflush(stderr);
    const int before = ::dup(STDERR_FILENO);
    const int told = ::open(file.c_str(), O_WRONLY | O_CREAT, 0600);
    ::dup2(told, STDERR_FILENO);
    work();
    std::fflush(stderr);
    ::dup2(before, STDERR_FILENO);
    ::close(before);
    ::close(told);
    std::vector<std::string> lines;
    std::istringstream text(file_text(file));
    for (std::string line; std::getline(text, line);)
        lines.push_back(line);
    return lines;
}

}  // namespace

TEST_CASE("without a terminal a long run has lines at least every half minute") {
    const plan::Plan plan = hand_made_plan();
    const MetricSet metrics(plan, PassKind::training);
    double now = 1000;
    const auto train = [&](ProgressStyle style, double line_seconds, double step_seconds) {
        // Two minutes of an epoch, a minute of validation.
        ProgressReport report(style, false, plan, line_seconds, [&] { return now; });
        const auto steps = std::int64_t(120 / step_seconds);
        const double begin = now;
        for (std::int64_t step = 1; step <= steps; ++step) {
            now += step_seconds;
            report.step({2, 3, step, steps, now - begin, 0, 0, step * 64, metrics});
        }
        for (int batch = 1; batch <= 60; ++batch) {
            ++now;
            report.part("validation: batch", batch, 60);
        }
        EpochResult epoch;
        epoch.epoch = 2;
        epoch.train = pass_of(0.5, 0.9, steps * 64);
        epoch.seconds = now - begin;
        report.epoch(epoch);
    };
    const std::vector<std::string> lines = lines_of([&] { train(ProgressStyle::plain, 30, 0.5); });
    REQUIRE(lines.size() == 7);
    CHECK(lines[0].starts_with("epoch 2/3, step 60/240: loss "));
    CHECK(lines[0].ends_with("; 128 samples/s, 3:30 left"));
    CHECK(lines[3].starts_with("epoch 2/3, step 240/240: "));
    CHECK(lines[4] == "validation: batch 30/60");
    CHECK(lines[6].starts_with("epoch 2/"));
    CHECK(lines[6].find(": loss 0.5, accuracy 90.00%;") != std::string::npos);
    // Steps that are longer have a line each; an epoch that is short has its own alone.
    CHECK(lines_of([&] { train(ProgressStyle::plain, 30, 40); }).size() == 3 + 2 + 1);
    CHECK(lines_of([&] { train(ProgressStyle::plain, 300, 0.5); }).size() == 1);
    CHECK(lines_of([&] { train(ProgressStyle::plain, 10, 0.5); }).size() == 12 + 6 + 1);
    CHECK(lines_of([&] { train(ProgressStyle::none, 30, 0.5); }).empty());
}

TEST_CASE("a line of any kind begins the wait anew") {
    const plan::Plan plan = hand_made_plan();
    double now = 0;
    const std::vector<std::string> lines = lines_of([&] {
        ProgressReport report(ProgressStyle::plain, false, plan, 30, [&] { return now; });
        now = 29;
        report.say("announced");
        now = 31;
        report.part("test: batch", 1, 9);
        now = 58;
        report.part("test: batch", 2, 9);
        now = 59;
        report.part("test: batch", 3, 9);
    });
    CHECK(lines == std::vector<std::string>{"announced", "test: batch 3/9"});
}

TEST_CASE("an epoch is one line with validation") {
    EpochResult result;
    result.epoch = 2;
    result.train = pass_of(0.5, 0.9, 10);
    result.validation = pass_of(0.25, 0.95, 5);
    result.samples_per_second = 532;
    result.seconds = 61;
    CHECK(epoch_line(result, 3) ==
          "epoch 2/3: loss 0.5, accuracy 90.00%; validation: loss 0.25, accuracy 95.00%; 532 "
          "samples/s, 1:01");
}

TEST_CASE("colours and bars follow the words and the environment") {
    CHECK(choose_color("always"));
    CHECK_FALSE(choose_color("never"));
    CHECK(choose_progress("bar") == ProgressStyle::bar);
    CHECK(choose_progress("plain") == ProgressStyle::plain);
    CHECK(choose_progress("none") == ProgressStyle::none);
}

TEST_CASE("bench prints the stable JSON form") {
    const plan::Plan plan = hand_made_plan();
    BenchResult result;
    result.batch = 8;
    result.seconds = {0.25, 0.5, 0.125};
    result.program = &plan.programs[0];
    result.program_step_seconds.assign(plan.programs[0].steps.size(), 0.001);
    const BenchFacts facts{&plan, 100, 100, 2000, 2};
    const auto json = nlohmann::json::parse(bench_json(result, facts));
    CHECK(json["samples_per_second"]["median"] == 32);
    CHECK(json["samples_per_second"]["min"] == 16);
    CHECK(json["samples_per_second"]["max"] == 64);
    CHECK(json["step_milliseconds"]["median"] == 250);
    CHECK(json["arena_bytes"]["planned"] == 100);
    CHECK(json["arena_bytes"]["allocated"] == 100);
    CHECK(json["peak_rss_bytes"] == 2000);
    CHECK(json["allocations_after_first_step"] == 0);
    CHECK(json["threads"] == 2);
    CHECK(json["program"] == "train");
    CHECK(json["program_steps"].size() == plan.programs[0].steps.size());
    const std::string text = bench_text(result, facts);
    CHECK(text.find("sgd_update") != std::string::npos);
    CHECK(text.find("hand.yaml:3") != std::string::npos);
    CHECK(text.find("roof") == std::string::npos);
    CHECK_FALSE(json.contains("roofs"));
    CHECK_FALSE(json["program_steps"][0].contains("roof_share"));
}

TEST_CASE("work lies under the roof that is nearer") {
    const Roofs roofs{100e9, 10e9};  // they meet at 10 FLOP/byte
    const Work products{1.0, 50e9, 1e9}, copies{1.0, 1e9, 5e9}, none{};
    CHECK(std::string(bound_of(products, roofs)) == "arithmetic");
    CHECK(roof_share(products, roofs) == doctest::Approx(0.5));
    CHECK(std::string(bound_of(copies, roofs)) == "memory");
    CHECK(roof_share(copies, roofs) == doctest::Approx(0.5));
    CHECK(roof_share(none, roofs) == 0);
    CHECK(roof_share(products, {}) == 0);
    Work both = products;
    both += copies;
    CHECK(both.gflops() == doctest::Approx(25.5));
    CHECK(both.gigabytes() == doctest::Approx(3));
}

TEST_CASE("bench says where steps and layers lie under the roofline") {
    plan::Plan plan = hand_made_plan();
    plan::Step& first = plan.programs[0].steps[0];
    first.flops = 1'000'000;
    first.bytes = 1'000;
    first.name = "<first>";
    BenchResult result;
    result.batch = 8;
    result.seconds = {0.25};
    result.program = &plan.programs[0];
    result.program_step_seconds.assign(plan.programs[0].steps.size(), 0.001);
    BenchFacts facts{&plan, 100, 100, 2000, 2};
    facts.roofs = {2e9, 1e9};
    const auto json = nlohmann::json::parse(bench_json(result, facts));
    CHECK(json["roofs"]["gflops_per_second"] == doctest::Approx(2));
    CHECK(json["program_steps"][0]["roof_share"] == doctest::Approx(0.5));
    CHECK(json["program_steps"][0]["bound"] == "arithmetic");
    int steps = 0;
    double milliseconds = 0;
    for (const auto& layer : json["program_layers"]) {
        steps += layer["steps"].get<int>();
        milliseconds += layer["milliseconds"].get<double>();
    }
    CHECK(steps > 0);
    CHECK(milliseconds == doctest::Approx(steps));
    const std::string text = bench_text(result, facts);
    CHECK(text.find("2.0 GFLOP/s, 1.0 GB/s") != std::string::npos);
    CHECK(text.find("arithmetic") != std::string::npos);
    const std::string svg = roofline_svg(result, facts.roofs, "a & b");
    CHECK(svg.find("a &amp; b") != std::string::npos);
    CHECK(svg.find("&lt;first&gt;") != std::string::npos);
    CHECK(svg.find("50 % of the arithmetic roof") != std::string::npos);
    CHECK(roofline_svg(result, {}, "none").empty());
}

}  // namespace dtnn::runtime::report_test
