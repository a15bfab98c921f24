// Whole plans with a sharded optimizer, and what the auditor finds wrong with them.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "compiler/driver/compile_job.hpp"
#include "plan/audit/audit.hpp"
#include "plan/diff/diff.hpp"
#include "plan/json/json.hpp"
#include "plan/rules/communication.hpp"
#include "plan/summary/summary.hpp"

namespace sharded_programs_test {

using namespace dtnn;
using namespace dtnn::compiler;

namespace {

using plan::CollectiveKind;

struct Wish {
    std::vector<std::string> settings;
    int ranks = 3;
    bool sharded = true;
    plan::ReductionMode reduction = plan::ReductionMode::overlapped;
};

/// Residual blocks with batch norm: 1.1 MB of gradients.
plan::Plan compiled(const Wish& wish) {
    Diagnostics diagnostics;
    LoadOptions options{{"specs"}, wish.settings};
    JobSpec job = load_job("specs/jobs/cifar10_resnet20.yaml", options, diagnostics);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.render(false));
    job.ranks = wish.ranks;
    plan::Parallel& parallel = job.parallel.parallel;
    parallel.data = true;
    parallel.any_ranks = !wish.sharded;
    parallel.optimizer =
        wish.sharded ? plan::OptimizerState::sharded : plan::OptimizerState::replicated;
    parallel.reduction = wish.reduction;
    const auto plan = compile_job(job, {.isa = "avx2", .threads = 1}, diagnostics);
    REQUIRE_MESSAGE(plan.has_value(), diagnostics.render(false));
    return *plan;
}

plan::Program& program(plan::Plan& plan, const char* name) {
    for (plan::Program& one : plan.programs)
        if (one.name == name) return one;
    FAIL(name);
    return plan.programs.front();
}

std::vector<plan::Collective*> of_kind(plan::Program& program, CollectiveKind kind) {
    std::vector<plan::Collective*> found;
    for (plan::Collective& one : program.collectives)
        if (one.kind == kind) found.push_back(&one);
    return found;
}

int last_backward(const plan::Program& program) {
    int last = -1;
    for (std::size_t s = 0; s < program.steps.size(); ++s)
        if (program.steps[s].phase == plan::StepPhase::backward) last = int(s);
    return last;
}

}  // namespace

TEST_CASE("gradients are added up into parts, parts updated and gathered") {
    for (const int ranks : {1, 2, 3, 8}) {
        CAPTURE(ranks);
        Wish wish;
        wish.ranks = ranks;
        plan::Plan plan = compiled(wish);
        std::vector<int> of_parameter(plan.parameters.size());
        for (const plan::Shard& shard : plan.shards) {
            CHECK(shard.states.size() == 1);  // the velocity
            for (const int parameter : shard.parameters)
                ++of_parameter[std::size_t(parameter)];
        }
        for (std::size_t p = 0; p < plan.parameters.size(); ++p)
            CHECK(of_parameter[p] == (plan.parameters[p].trainable ? 1 : 0));
        for (const char* name : {"train", "train_tail"}) {
            plan::Program& train = program(plan, name);
            const auto reduced = of_kind(train, CollectiveKind::reduce_scatter),
                       gathered = of_kind(train, CollectiveKind::all_gather);
            CHECK(reduced.size() == plan.shards.size());
            CHECK(gathered.size() == plan.shards.size());
            CHECK(of_kind(train, CollectiveKind::all_reduce).empty());
            const int backward = last_backward(train);
            for (std::size_t i = 0; i < reduced.size(); ++i) {
                CHECK(reduced[i]->wait > backward);
                CHECK(reduced[i]->wait < gathered[i]->start);
                // Others are waited for, and updated, while a part is gathered.
                CHECK(gathered[i]->wait > gathered.back()->start);
            }
            for (std::size_t i = 0; i + 1 < reduced.size(); ++i)
                CHECK(reduced[i]->start < backward);
        }
        for (const plan::Program& other : plan.programs)
            if (other.phase != plan::ProgramPhase::training) CHECK(other.collectives.empty());
    }
}

TEST_CASE("blocking exchanges of parts are waited for at once") {
    Wish wish;
    wish.reduction = plan::ReductionMode::blocking;
    plan::Plan plan = compiled(wish);
    plan::Program& train = program(plan, "train");
    CHECK(train.collectives.size() == 2 * plan.shards.size());
    for (const plan::Collective& one : train.collectives) {
        CHECK(one.start > last_backward(train));
        CHECK(one.wait == one.start + 1);
    }
}

TEST_CASE("a sharded plan reads back, is shown and compared") {
    Wish wish;
    const plan::Plan sharded = compiled(wish);
    const std::string text = plan::to_json(sharded);
    const plan::ReadResult read = plan::read_plan(text);
    REQUIRE_MESSAGE(read.plan.has_value(), read.error);
    CHECK(plan::to_json(*read.plan) == text);
    CHECK(plan::audit(*read.plan).empty());
    CHECK(plan::diff(sharded, *read.plan).empty());
    CHECK(plan::summary_text(sharded, 200).find("each rank has 1/3 of the optimizer's state") !=
          std::string::npos);
    wish.sharded = false;
    const plan::Plan replicated = compiled(wish);
    CHECK(sharded.memory.optimizer < replicated.memory.optimizer / 3 + 64 * 100);
    // Two halves, but for the padding.
    const plan::Communication a = plan::communication_of(sharded),
                              b = plan::communication_of(replicated);
    CHECK(std::abs(double(a.wire_bytes) / double(b.wire_bytes) - 1) < 0.01);
    CHECK_FALSE(plan::changes_mathematics(plan::diff(replicated, sharded)));
}

TEST_CASE("the auditor finds what is wrong with parts") {
    const plan::Plan sound = compiled({{"training.clip={norm: 1.0}"}});
    REQUIRE(plan::audit(sound).empty());
    const auto update_of = [](plan::Plan& plan) -> plan::Step& {
        for (plan::Step& step : program(plan, "train").steps)
            if (step.op == "sgd_update") return step;
        FAIL("no update");
        return plan.programs.front().steps.front();
    };
    const auto first = [](plan::Plan& plan) -> plan::Parameter& {
        return plan.parameters[std::size_t(plan.shards[0].parameters[0])];
    };
    const std::vector<std::pair<const char*, std::function<void(plan::Plan&)>>> mistakes = {
        {"a plan for any ranks", [](plan::Plan& p) { p.parallel.any_ranks = true; }},
        {"more ranks than parts", [](plan::Plan& p) { p.target.ranks = 4; }},
        {"a replicated optimizer with shards",
         [](plan::Plan& p) { p.parallel.optimizer = plan::OptimizerState::replicated; }},
        {"a shard is lost", [](plan::Plan& p) { p.shards.pop_back(); }},
        {"a parameter is in no shard", [](plan::Plan& p) { p.shards[0].parameters.pop_back(); }},
        {"a parameter is in two shards",
         [](plan::Plan& p) { p.shards[1].parameters.push_back(p.shards[0].parameters[0]); }},
        {"parameters in another order",
         [](plan::Plan& p) {
             std::reverse(p.shards[0].parameters.begin(), p.shards[0].parameters.end());
         }},
        {"a parameter at another offset",
         [&](plan::Plan& p) {
             p.parameters[std::size_t(p.shards[0].parameters.back())].offset -= 64;
         }},
        {"a parameter that is not aligned", [&](plan::Plan& p) { first(p).offset += 4; }},
        {"a parameter behind the end", [&](plan::Plan& p) { first(p).offset += 1 << 30; }},
        {"a parameter that does not train", [&](plan::Plan& p) { first(p).trainable = false; }},
        {"smaller parts", [](plan::Plan& p) { p.shards[0].part -= 16; }},
        {"a state of no shard", [](plan::Plan& p) { p.shards[0].states.clear(); }},
        {"a state of two shards", [](plan::Plan& p) { p.shards[1].states = p.shards[0].states; }},
        {"a state that is not of each rank",
         [](plan::Plan& p) { p.parameters[std::size_t(p.shards[0].states[0])].by_rank = false; }},
        {"gradients are added up whole",
         [](plan::Plan& p) { p.programs[0].collectives[0].kind = CollectiveKind::all_reduce; }},
        {"gradients of others",
         [](plan::Plan& p) {
             std::swap(p.programs[0].collectives[0].parameters,
                       p.programs[0].collectives[1].parameters);
         }},
        {"the update reads all ranks' parts as one",
         [&](plan::Plan& p) {
             const int id = update_of(p).sources[0];
             p.programs[0].tensors[std::size_t(id)].by_rank = false;
         }},
        {"the update takes another gradient",
         [&](plan::Plan& p) {
             plan::Step& update = update_of(p);
             std::swap(update.sources[0], update.sources[1]);
         }},
        {"the update writes no state",
         [&](plan::Plan& p) { update_of(p).destinations.pop_back(); }},
        {"parts are not gathered",
         [](plan::Plan& p) {
             of_kind(p.programs[0], CollectiveKind::all_gather)[0]->kind =
                 CollectiveKind::reduce_scatter;
         }},
        {"half of the parts are gathered",
         [](plan::Plan& p) { of_kind(p.programs[0], CollectiveKind::all_gather)[0]->bytes /= 2; }},
        {"an output of each rank",
         [&](plan::Plan& p) {
             p.programs[0].outputs.push_back({"part", update_of(p).destinations[0]});
         }},
        {"another step touches a part",
         [&](plan::Plan& p) {
             plan::Step step = update_of(p);
             step.name = "again";
             p.programs[0].steps.push_back(step);
         }},
    };
    for (const auto& mistake : mistakes) {
        CAPTURE(mistake.first);
        plan::Plan plan = sound;
        mistake.second(plan);
        CHECK_FALSE(plan::audit(plan).empty());
    }
}

}  // namespace sharded_programs_test
