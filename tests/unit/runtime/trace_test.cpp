#include "runtime/report/trace.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/unit/runtime/hand_made_plan.hpp"

namespace dtnn::runtime::trace_test {

TEST_CASE("a trace has every step with operator, thread and time") {
    plan::Plan plan = hand_made_plan();
    plan.target.threads = 2;
    Executor executor(plan, 2);
    BoundProgram* train = executor.find(plan::ProgramKind::train, plan.training.batch_size);
    REQUIRE(train != nullptr);
    std::string text, table;
    {
        Trace trace(executor);
        for (int batch = 0; batch < 3; ++batch)
            train->run();
        text = trace.json();
        table = trace.table();
        CHECK_FALSE(trace.full());
    }
    const auto json = nlohmann::json::parse(text);
    const std::size_t steps = train->program().steps.size();
    std::set<std::string> names;
    double last = 0;
    std::size_t on_first = 0;
    for (const auto& event : json["traceEvents"]) {
        if (event["ph"] == "M") continue;
        REQUIRE(event["ph"] == "X");
        CHECK(event["dur"].get<double>() >= 0);
        if (event["tid"] != 0) continue;
        CHECK(event["ts"].get<double>() >= last);
        last = event["ts"].get<double>() + event["dur"].get<double>();
        names.insert(event["args"]["step"].get<std::string>());
        ++on_first;
    }
    CHECK(on_first == 3 * steps);
    CHECK(names.size() == steps);
    for (const plan::Step& step : train->program().steps)
        CHECK(table.find(step.op) != std::string::npos);
    // The trace hears of no more steps.
    train->run();
}

TEST_CASE("a trace that is full says so, and its table counts on") {
    const plan::Plan plan = hand_made_plan();
    Executor executor(plan, 1);
    BoundProgram* train = executor.find(plan::ProgramKind::train, plan.training.batch_size);
    const std::size_t steps = train->program().steps.size();
    Trace trace(executor, steps);
    train->run();
    CHECK_FALSE(trace.full());
    train->run();
    CHECK(trace.full());
    const auto json = nlohmann::json::parse(trace.json());
    CHECK(json["otherData"]["steps_not_kept"] == steps);
}

}  // namespace dtnn::runtime::trace_test
