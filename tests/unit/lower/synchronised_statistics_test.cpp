// The places of the exchanges of batch statistics in whole plans.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/driver/compile_job.hpp"
#include "plan/audit/audit.hpp"
#include "plan/diff/diff.hpp"
#include "plan/forecast/forecast.hpp"
#include "plan/json/json.hpp"
#include "plan/rules/communication.hpp"
#include "plan/summary/summary.hpp"

namespace synchronised_statistics_test {

using namespace dtnn;
using namespace dtnn::compiler;

namespace {

/// Twenty-one batch norms, most of them with a relu or the end of a block fused into them.
plan::Plan compiled(const char* statistics, const char* reduction = "overlapped",
                    std::int64_t accumulation = 1) {
    Diagnostics diagnostics;
    LoadOptions options{{"specs"}, {fmt::format("training.accumulation={}", accumulation)}};
    JobSpec job = load_job("specs/jobs/cifar10_resnet20.yaml", options, diagnostics);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.render(false));
    job.ranks = 4;
    plan::Parallel& parallel = job.parallel.parallel;
    parallel.data = true;
    REQUIRE(plan::parse_name(reduction, parallel.reduction));
    REQUIRE(plan::parse_name(statistics, parallel.batch_statistics));
    parallel.bucket_bytes = 64 << 10;
    const auto plan = compile_job(job, {.isa = "avx2", .threads = 1}, diagnostics);
    REQUIRE_MESSAGE(plan.has_value(), diagnostics.render(false));
    for (const std::string& finding : plan::audit(*plan))
        FAIL_CHECK(finding);
    return *plan;
}

const plan::Program& program(const plan::Plan& plan, const char* name) {
    const plan::Program* found = plan::find_program(plan, name);
    REQUIRE_MESSAGE(found != nullptr, name);
    return *found;
}

std::vector<const plan::Collective*> collectives_of(const plan::Plan& plan, const char* name,
                                                    bool statistics) {
    std::vector<const plan::Collective*> list;
    for (const plan::Collective& one : program(plan, name).collectives)
        if (plan::exchanges_statistics(plan, one) == statistics) list.push_back(&one);
    return list;
}

std::vector<std::string> names_of(const plan::Program& program) {
    std::vector<std::string> names;
    for (const plan::Collective& one : program.collectives)
        names.push_back(fmt::format("{} {}", one.name, one.bytes));
    return names;
}

std::size_t batch_norms(const plan::Plan& plan) {
    return std::size_t(
        std::count_if(plan.layers.begin(), plan.layers.end(),
                      [](const plan::Layer& layer) { return layer.type == "batch_norm"; }));
}

}  // namespace

TEST_CASE("every batch norm has an exchange in forward and one in backward") {
    for (const char* reduction : {"overlapped", "blocking"}) {
        CAPTURE(reduction);
        const plan::Plan plan = compiled("synchronised", reduction);
        const auto statistics = collectives_of(plan, "train", true);
        CHECK(batch_norms(plan) > 15);
        CHECK(statistics.size() == 2 * batch_norms(plan));
        for (const plan::Collective* one : statistics) {
            CHECK(one->dtype == DType::f64);
            CHECK(one->bytes % 16 == 8);  // pairs, and a count
        }
        CHECK(names_of(program(plan, "train")) == names_of(program(plan, "train_tail")));
        // The others are those of local statistics.
        CHECK(collectives_of(plan, "train", false).size() ==
              program(compiled("local", reduction), "train").collectives.size());
        CHECK(program(plan, "evaluate").collectives.empty());
    }
}

TEST_CASE("statistics hold up no gradient, and something runs beside the backward ones") {
    const plan::Plan plan = compiled("synchronised");
    const plan::Program& train = program(plan, "train");
    int before = -1;
    for (const plan::Collective* one : collectives_of(plan, "train", false)) {
        int ready = before;  // those of gradients keep their order
        const std::vector<int>& sources = train.steps[std::size_t(one->start)].sources;
        for (std::size_t s = 0; s < train.steps.size(); ++s)
            for (const int result : train.steps[s].destinations)
                if (std::find(sources.begin(), sources.end(), result) != sources.end())
                    ready = std::max(ready, int(s) < one->start ? int(s) : -1);
        CHECK(one->start <= ready + 2);  // one of statistics may be ready with it
        before = one->start;
    }
    std::size_t backward = 0, beside = 0;
    for (const plan::Collective* one : collectives_of(plan, "train", true)) {
        if (!one->name.ends_with(".gradient_statistics")) continue;
        ++backward;
        bool computes = false;
        for (int i = one->start + 1; i < one->wait; ++i)
            computes = computes || train.steps[std::size_t(i)].flops > 0;
        beside += computes ? 1 : 0;
    }
    // The gradient of the weights behind; behind the last batch norm is the dense layer's.
    CHECK(beside + 1 >= backward);
}

TEST_CASE("every batch of an update exchanges statistics") {
    const plan::Plan plan = compiled("synchronised", "overlapped", 4);
    CHECK(collectives_of(plan, "accumulate", true).size() == 2 * batch_norms(plan));
    CHECK(collectives_of(plan, "accumulate", false).empty());
    CHECK(plan::communication_of(plan).statistics == std::int64_t(8 * batch_norms(plan)));
}

TEST_CASE("exchanges of statistics are shown, compared and foreseen") {
    const plan::Plan plan = compiled("synchronised"), local = compiled("local");
    const std::string text = plan::to_json(plan);
    const plan::ReadResult read = plan::read_plan(text);
    REQUIRE_MESSAGE(read.plan.has_value(), read.error);
    CHECK(plan::to_json(*read.plan) == text);
    const plan::Communication all = plan::communication_of(plan),
                              few = plan::communication_of(local);
    CHECK(all.exchanges == few.exchanges);
    CHECK(few.statistics == 0);
    CHECK(all.statistics == std::int64_t(2 * batch_norms(plan)));
    CHECK(all.bytes > few.bytes);
    // They are all but as long as their latency.
    CHECK(all.seconds - few.seconds > double(all.statistics) * few.seconds / 1e3);
    CHECK(plan::summary_text(plan, 120).find(
              fmt::format("{} of batch statistics", all.statistics)) != std::string::npos);
    CHECK(plan::summary_json(plan).find(
              fmt::format("\"statistics_exchanges\": {}", all.statistics)) != std::string::npos);
    CHECK_FALSE(plan::diff(plan, local).empty());
    plan::Machine machine;
    machine.name = "wires";
    machine.cores = 1, machine.nodes = 4, machine.memory_bandwidth = 1e10;
    machine.convolution_rate = machine.product_rate = 1e11;
    machine.network_latency = 1e-4, machine.network_bandwidth = 1e9;
    plan::ForecastRequest request;
    request.ranks = 4;
    const plan::Forecast slow = plan::forecast(plan, machine, request);
    const plan::Forecast fast = plan::forecast(local, machine, request);
    CHECK(slow.refused.empty());
    CHECK(slow.exposed > fast.exposed + double(all.statistics) / 2 * 1e-4);
}

TEST_CASE("batch norm that takes other statistics than the plan says is found") {
    const auto finds = [](plan::Plan plan, const char* words, auto change) {
        change(plan);
        const std::vector<std::string> findings = plan::audit(plan);
        CHECK_MESSAGE(std::any_of(findings.begin(), findings.end(),
                                  [&](const std::string& finding) {
                                      return finding.find(words) != std::string::npos;
                                  }),
                      words);
    };
    const plan::Plan plan = compiled("synchronised");
    finds(plan, "takes the statistics of all ranks, not of one",
          [](plan::Plan& p) { p.parallel.batch_statistics = plan::BatchStatistics::local; });
    finds(compiled("local"), "takes the statistics of one rank, not of all",
          [](plan::Plan& p) { p.parallel.batch_statistics = plan::BatchStatistics::synchronised; });
    finds(plan, "takes sums that the ranks have not exchanged before", [](plan::Plan& p) {
        for (plan::Program& program : p.programs)
            for (plan::Step& step : program.steps)
                if (step.op == "batch_norm_backward_apply") step.sources[5] = step.sources[2];
    });
}

}  // namespace synchronised_statistics_test
