// Dry runs of plans made by hand: what is sound passes, every fault is found and named.

#include "runtime/train/dry_run.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace dtnn::runtime::dry_run_test {
namespace {

plan::Step exchange_step(const char* op, std::int64_t which) {
    plan::Step step;
    step.name = fmt::format("{}_{}", op, which);
    step.op = op;
    step.attributes["collective"] = which;
    return step;
}

/// Exchanges of 100, 200 ... bytes, begun in order and waited for at the end.
plan::Program make_program(const std::string& name, std::int64_t batch, int exchanges) {
    plan::Program program;
    program.name = name;
    const std::string kind = name.substr(0, name.find('_'));
    REQUIRE(plan::parse_name(kind, program.kind));
    program.batch = batch;
    for (int i = 0; i < exchanges; ++i) {
        plan::Collective one;
        one.name = fmt::format("gradients_{}", i + 1);
        one.kind = plan::CollectiveKind::all_reduce;
        one.bytes = 100 * (i + 1);
        one.start = int(program.steps.size());
        program.collectives.push_back(one);
        program.steps.push_back(exchange_step("all_reduce_start", i));
    }
    for (int i = 0; i < exchanges; ++i) {
        program.collectives[std::size_t(i)].wait = int(program.steps.size());
        program.steps.push_back(exchange_step("all_reduce_wait", i));
    }
    return program;
}

/// 44 samples in batches of 8, the last of 4.
plan::Plan make_plan() {
    plan::Plan plan;
    plan.name = "hand_made";
    plan.training.batch_size = 8;
    plan.dataset.train_samples = 44;
    plan.parallel.data = true;
    plan.memory.arena = 700;
    plan.memory.staging = 50;
    plan.programs = {make_program("train", 8, 3), make_program("train_tail", 4, 3)};
    return plan;
}

bool finds(const plan::Plan& plan, int ranks, const char* text) {
    const DryRun result = dry_run(plan, ranks);
    for (const std::string& finding : result.findings) {
        if (finding.find(text) != std::string::npos) return true;
        MESSAGE(finding);
    }
    return false;
}

}  // namespace

TEST_CASE("a sound plan runs on any number of ranks") {
    const plan::Plan plan = make_plan();
    for (const int ranks : {1, 2, 3, 4, 6, 7, 100}) {
        CAPTURE(ranks);
        const DryRun result = dry_run(plan, ranks);
        CHECK(result.findings.empty());
        CHECK(result.samples == 44);
        CHECK(result.steps == (6 + ranks - 1) / ranks);
        CHECK(result.rank_steps == ranks * result.steps);
        CHECK(result.idle_rank_steps == ranks * result.steps - 6);
        CHECK(result.exchanges == 3 * result.steps);
        CHECK(result.exchanged_bytes == 600 * result.steps);
        CHECK(result.memory == 750);
        CHECK(result.programs == std::vector<std::string>{"train", "train_tail"});
    }
}

TEST_CASE("ranks that would exchange different sizes, orders or numbers are named") {
    plan::Plan plan = make_plan();
    plan.programs[1].collectives[1].bytes = 208;
    // The last of three ranks takes the tail, in the second step.
    CHECK(finds(plan, 3,
                "rank 2 (program `train_tail`) is at all_reduce start `gradients_2` of 208"));
    CHECK(dry_run(plan, 1).findings.empty());  // alone it exchanges with nobody

    plan = make_plan();
    plan.programs[1] = make_program("train_tail", 4, 2);
    CHECK(finds(plan, 2, "step 2, operation 3"));

    plan = make_plan();
    std::swap(plan.programs[1].steps[0], plan.programs[1].steps[1]);
    plan.programs[1].collectives[0].start = 1;
    plan.programs[1].collectives[1].start = 0;
    CHECK(finds(plan, 2, "operation 1"));
}

TEST_CASE("an exchange that is waited for before it begins, twice or never is found") {
    plan::Plan plan = make_plan();
    for (plan::Program& program : plan.programs) {
        std::swap(program.steps[2], program.steps[5]);
        program.collectives[2].start = 5;
        program.collectives[2].wait = 2;
    }
    CHECK(finds(plan, 2, "is waited for, but was not started"));

    plan = make_plan();
    for (plan::Program& program : plan.programs)
        program.steps.pop_back();
    CHECK(finds(plan, 1, "3 exchanges are begun and 2 waited for"));

    plan = make_plan();
    plan.programs[0].steps[0].attributes.clear();
    CHECK(finds(plan, 1, "names no exchange"));
}

TEST_CASE("a batch without a program is found") {
    plan::Plan plan = make_plan();
    plan.programs.pop_back();
    CHECK(finds(plan, 2, "no program `train` for a batch of 4"));
}

TEST_CASE("updates of several batches") {
    plan::Plan plan = make_plan();
    plan.training.accumulation = 4;
    CHECK(finds(plan, 1, "no program `accumulate`"));
    plan.programs.push_back(make_program("accumulate", 8, 0));
    const DryRun result = dry_run(plan, 1);
    CHECK(result.findings.empty());
    CHECK(result.steps == 6);
    CHECK(result.updates == 2);
    CHECK(result.exchanges == 2 * 3);
}

TEST_CASE("epochs that end early take a part of the samples") {
    plan::Plan plan = make_plan();
    plan.training.whole_epochs = false;
    plan.training.steps_per_epoch = 2;
    const DryRun result = dry_run(plan, 2);
    CHECK(result.findings.empty());
    CHECK(result.samples == 32);
}

TEST_CASE("ranks that move weights of their own meet where an average is due") {
    plan::Plan plan = make_plan();
    plan.parallel.local_steps = 2;
    plan.parallel.average = plan::WeightAverage::wavg;
    plan.programs = {make_program("train", 8, 0), make_program("train_tail", 4, 0),
                     make_program("synchronise", 8, 3)};
    // Six batches: two ranks have three each, with one average in the epoch and one at its end.
    const DryRun two = dry_run(plan, 2);
    CHECK(two.findings.empty());
    CHECK(two.steps == 3);
    CHECK(two.exchanges == 6);
    CHECK(two.samples == 44);
    CHECK(two.programs == std::vector<std::string>{"train", "train_tail", "synchronise"});
    // With all, four ranks have one batch each, and the last two are left out.
    const DryRun four = dry_run(plan, 4);
    CHECK(four.findings.empty());
    CHECK(four.steps == 1);
    CHECK(four.samples == 32);
    plan.parallel.participation = plan::Participation::avail2all;
    const DryRun available = dry_run(plan, 4);
    CHECK(available.findings.empty());
    CHECK(available.steps == 2);
    CHECK(available.samples == 44);
    CHECK(available.idle_rank_steps == 2);
    CHECK(available.exchanges == 3);
    // Whole batches of as many samples of each rank's own.
    plan.parallel.private_data = true;
    const DryRun own = dry_run(plan, 4);
    CHECK(own.findings.empty());
    CHECK(own.steps == 5);
    CHECK(own.samples == 160);
    plan.programs.pop_back();
    CHECK(finds(plan, 4, "no program `synchronise`"));
}

}  // namespace dtnn::runtime::dry_run_test
