// Whole plans with local steps: the program that averages weights, and its audit.

#include "plan/audit/local_steps.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "compiler/driver/compile_job.hpp"
#include "plan/audit/audit.hpp"
#include "plan/diff/diff.hpp"
#include "plan/json/json.hpp"
#include "plan/rules/communication.hpp"
#include "plan/summary/summary.hpp"

namespace local_steps_test {

using namespace dtnn;
using namespace dtnn::compiler;

namespace {

plan::Plan compiled(const std::vector<std::string>& settings) {
    Diagnostics diagnostics;
    LoadOptions options{{"specs"}, settings};
    JobSpec job = load_job("specs/jobs/cifar10_resnet20.yaml", options, diagnostics);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.render(false));
    job.ranks = 3;
    const auto plan = compile_job(job, {.isa = "avx2", .threads = 1}, diagnostics);
    REQUIRE_MESSAGE(plan.has_value(), diagnostics.render(false));
    return *plan;
}

const std::string kLocal = "parallel={data: auto, synchronise: {every: 8, average: wavg}}";

plan::Program& synchronise(plan::Plan& plan) {
    const auto found = std::find_if(plan.programs.begin(), plan.programs.end(), [](const auto& p) {
        return p.kind == plan::ProgramKind::synchronise;
    });
    REQUIRE(found != plan.programs.end());
    return *found;
}

bool finds(const plan::Plan& plan, const std::string& words) {
    // The whole audit says so much else of some of these that it stops before.
    CHECK_FALSE(plan::audit(plan).empty());
    const std::vector<std::string> findings = plan::audit_local_steps(plan);
    return std::any_of(findings.begin(), findings.end(), [&](const std::string& finding) {
        return finding.find(words) != std::string::npos;
    });
}

}  // namespace

TEST_CASE("a program averages all that training changes, and nothing else") {
    plan::Plan plan =
        compiled({kLocal, "training.average={decay: 0.99}",
                  "training.groups=[{parameters: \"*conv2d_1.weights\", frozen: true}]"});
    const plan::Program& program = synchronise(plan);
    std::set<int> exchanged;
    for (const plan::Collective& one : program.collectives) {
        CHECK(one.kind == plan::CollectiveKind::all_reduce);
        CHECK(one.name.starts_with("weights_"));
        for (const int parameter : one.parameters)
            CHECK(exchanged.insert(parameter).second);
    }
    bool statistics = false, averages = false, frozen = false, states = false;
    for (std::size_t p = 0; p < plan.parameters.size(); ++p) {
        const plan::Parameter& parameter = plan.parameters[p];
        const bool average = parameter.kind == plan::ParameterKind::average;
        const bool still = !parameter.trainable && parameter.role == "weights";
        const bool own = parameter.optimizer_state && !average;
        CAPTURE(parameter.name);
        CHECK(exchanged.contains(int(p)) == !(still || own));
        CHECK(parameter.by_rank == own);
        statistics = statistics || parameter.role == "running_variance";
        averages = averages || average;
        frozen = frozen || still;
        states = states || own;
    }
    CHECK(statistics);
    CHECK(averages);
    CHECK(frozen);
    CHECK(states);
    for (const plan::Program& other : plan.programs) {
        if (&other == &program) continue;
        CHECK(other.collectives.empty());
        CHECK(plan::find_input(other, plan::InputRole::batch_weight) == nullptr);
    }
    // All exchanges are under way before the first is waited for; or, blocking, one by one.
    CHECK(program.collectives.size() > 1);
    CHECK(program.collectives[0].wait > program.collectives[1].start);
    plan::Plan blocking =
        compiled({"parallel={data: auto, reduction: blocking, synchronise: {every: 8}}"});
    for (const plan::Collective& one : synchronise(blocking).collectives)
        CHECK(one.wait == one.start + 1);
}

TEST_CASE("a plan of local steps reads back, is shown and compared") {
    const plan::Plan plan = compiled({kLocal});
    const std::string text = plan::to_json(plan);
    const plan::ReadResult read = plan::read_plan(text);
    REQUIRE_MESSAGE(read.plan.has_value(), read.error);
    CHECK(plan::to_json(*read.plan) == text);
    CHECK(plan::audit(*read.plan).empty());
    const plan::Communication all = plan::communication_of(plan);
    CHECK(all.every == 8);
    std::int64_t bytes = 0;
    for (const std::int64_t one : all.exchanges)
        bytes += one;
    CHECK(all.bytes == bytes / 8);
    const std::string table = plan::summary_text(plan, 400);
    CHECK(table.find("for an average every 8 updates") != std::string::npos);
    CHECK(table.find("each rank moves weights of its own, averaged (wavg) every 8 updates") !=
          std::string::npos);
    CHECK(plan::summary_json(plan).find("\"synchronise\": {\"every\": 8, \"average\": \"wavg\"") !=
          std::string::npos);
    const plan::Plan other =
        compiled({"parallel={data: auto, synchronise: {every: 9, average: avg}}"});
    const std::string difference = plan::diff_text(plan::diff(plan, other), "a", "b");
    CAPTURE(difference);
    CHECK(difference.find("mathematics") != std::string::npos);
}

TEST_CASE("the audit finds what would leave ranks apart") {
    const plan::Plan sound = compiled({kLocal});
    CHECK(plan::audit(sound).empty());
    plan::Plan plan = sound;
    synchronise(plan).kind = plan::ProgramKind::evaluate;
    CHECK(finds(plan, "no program averages them"));
    plan = sound;
    // One that is weighed and exchanged, and not put back.
    for (std::size_t s = synchronise(plan).steps.size(); s-- > 0;) {
        plan::Step& step = synchronise(plan).steps[s];
        if (step.op != "elementwise") continue;
        plan::Step& other = synchronise(plan).steps[s - 1];
        std::swap(step.sources, other.sources);
        break;
    }
    CHECK(finds(plan, "does not belong to an average"));
    plan = sound;
    for (plan::Step& step : synchronise(plan).steps)
        if (step.op == "weigh_gradient") step.op = "relu";
    CHECK(finds(plan, "does not belong to an average"));
    plan = sound;
    for (plan::Input& input : synchronise(plan).inputs)
        input.role = plan::InputRole::batch_weight;
    CHECK(finds(plan, "does not belong to an average"));
    plan = sound;
    for (plan::Parameter& parameter : plan.parameters)
        parameter.by_rank = false;
    CHECK(finds(plan, "is not each rank's own"));
    plan = sound;
    plan.parallel.local_steps = 0;
    CHECK(finds(plan, "a program that averages weights"));
    // Gradients are no longer exchanged, so a plan that does is none of local steps.
    plan = compiled({"parallel={data: auto}"});
    plan.parallel.local_steps = 8;
    CHECK(finds(plan, "no program averages them"));
    plan.programs.back().kind = plan::ProgramKind::synchronise;
    CHECK(finds(plan, "exchange in program `train`"));
}

}  // namespace local_steps_test
