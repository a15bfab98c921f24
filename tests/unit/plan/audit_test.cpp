#include "plan/audit/audit.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>

#include "tests/unit/plan/sample_plan.hpp"

namespace audit_test {

using namespace dtnn;
using namespace dtnn::plan;

namespace {

std::string findings_after(const std::function<void(Plan&)>& change) {
    Plan plan = sample_plan();
    change(plan);
    return fmt::format("{}", fmt::join(audit(plan), "\n"));
}

void expect(const std::function<void(Plan&)>& change, const std::string& text) {
    std::string findings = findings_after(change);
    CHECK_MESSAGE(findings.find(text) != std::string::npos, "wanted: ", text, "\ngot: ", findings);
}

}  // namespace

TEST_CASE("the sample plan is sound") {
    CHECK(findings_after([](Plan&) {}) == "");
}

TEST_CASE("planted faults of buffers are found") {
    expect([](Plan& p) { p.buffers[1].offset = 72; }, "no multiple of 64");
    expect([](Plan& p) { p.buffers[10].offset = 640; }, "outside the arena");
    expect([](Plan& p) { p.memory.arena = 640; }, "outside the arena");
    expect([](Plan& p) { p.buffers[1].offset = 0; }, "overlap");
    expect([](Plan& p) { p.buffers[6].offset = 320; }, "overlap");    // a transient on an input
    expect([](Plan& p) { p.buffers[8].offset = 384; }, "overlap");    // probabilities on logits
    expect([](Plan& p) { p.buffers[9].first_step = 1; }, "overlap");  // the gradient too early
    expect([](Plan& p) { p.buffers[6].last_step = 2; }, "overlap");   // the logits too long
    expect([](Plan& p) { p.buffers[10].offset = 512; }, "overlap");   // the workspace on an operand
    expect([](Plan& p) { p.buffers[9].last_step = 4; }, "lives from step 2 to 4");
    expect([](Plan& p) { p.buffers[9].first_step = -1; }, "lives from step -1");
    expect([](Plan& p) { p.buffers[6].program = -1; }, "belong to a program");
    expect([](Plan& p) { p.buffers[0].program = 0; }, "belong to a program");
    expect([](Plan& p) { p.buffers[7].name = "logits"; }, "two buffers");
    // Programs never run at the same time: the same bytes are no finding.
    CHECK(findings_after([](Plan& p) { p.buffers[11].offset = 512; }) == "");
}

TEST_CASE("planted faults of totals and parameters are found") {
    expect([](Plan& p) { p.memory.parameters += 64; }, "memory: parameters");
    expect([](Plan& p) { p.memory.optimizer = 0; }, "memory: optimizer");
    expect([](Plan& p) { p.memory.inputs += 1; }, "memory: inputs");
    expect([](Plan& p) { p.memory.transient += 64; }, "memory: arena");
    expect(
        [](Plan& p) {
            p.memory.transient += std::int64_t{1} << 40;
            p.memory.arena += std::int64_t{1} << 40;
        },
        "after the last buffer");
    expect([](Plan& p) { p.parameters[1].buffer = 0; }, "in one buffer");
    expect([](Plan& p) { p.parameters[1].buffer = 11; }, "not persistent");
    expect([](Plan& p) { p.parameters[2].optimizer_state = false; }, "another role");
    expect([](Plan& p) { p.parameters[0].dims = {4, 4}; }, "its physical form");
    expect([](Plan& p) { p.parameters[0].dtype = DType::f64; }, "its buffer has 48");
    expect([](Plan& p) { p.parameters.pop_back(); }, "belongs to no parameter");
    expect([](Plan& p) { p.parameters[1].name = p.parameters[0].name; }, "two parameters");
}

TEST_CASE("planted faults of tensors and steps are found") {
    expect([](Plan& p) { p.programs[0].tensors[6].dims = {2, 4}; }, "ends outside its buffer");
    expect([](Plan& p) { p.programs[0].tensors[6].offset = 4; }, "no multiple of 64");
    expect([](Plan& p) { p.programs[0].tensors[6].buffer = 11; }, "of another program");
    expect([](Plan& p) { p.programs[0].tensors[6].buffer = 10; }, "no place for tensors");
    expect([](Plan& p) { p.buffers[6].first_step = 1; }, "uses `logits`");
    expect([](Plan& p) { p.buffers[8].last_step = 1; }, "uses `probabilities`");
    expect([](Plan& p) { std::swap(p.programs[0].steps[0], p.programs[0].steps[1]); },
           "before anything wrote it");
    expect([](Plan& p) { p.programs[0].steps[0].destinations = {0}; }, "writes the input");
    expect([](Plan& p) { p.programs[0].steps[1].destinations = {8, 9}; }, "to the same bytes");
    expect([](Plan& p) { p.programs[0].steps[2].name = "dense_1.dense"; }, "name of its own");
    expect([](Plan& p) { p.programs[0].steps[2].kernel = ""; }, "no kernel");
    // Weights and velocity as members: each may overwrite its own source.
    expect(
        [](Plan& p) {
            Step& update = p.programs[0].steps[3];
            update.attributes["members"] = std::int64_t{2};
            std::swap(update.destinations[0], update.destinations[1]);
        },
        "which another member reads");
    expect([](Plan& p) { p.programs[0].tensors[7].name = "logits"; }, "two tensors");
    expect([](Plan& p) { p.programs[0].steps[3].workspace = 10; }, "not its own");
    expect([](Plan& p) { p.programs[0].outputs[0].tensor = 6; }, "lives only to step 1");
    expect([](Plan& p) { p.programs[0].inputs[0].tensor = 3; }, "none of inputs");
    expect([](Plan& p) { p.programs[0].inputs[1].role = InputRole::feature; }, "two inputs");
}

TEST_CASE("a value lost to an in-place write is found") {
    // The weights are read after the update has overwritten them.
    expect(
        [](Plan& p) {
            Step late = p.programs[0].steps[0];
            late.layers.clear();
            late.name = "late";
            late.destinations = {10};
            p.programs[0].steps.push_back(late);
            for (int b : {7, 9})
                p.buffers[b].last_step = 4;
        },
        "after step 3 wrote another tensor over it");
    // diff_logits takes the place of the probabilities, which are then read.
    expect(
        [](Plan& p) {
            Step backward = p.programs[0].steps[0];
            backward.layers.clear();
            backward.name = "softmax_cross_entropy_backward";
            backward.sources = {8, 1};
            backward.destinations = {9};
            p.programs[0].steps.insert(p.programs[0].steps.begin() + 2, backward);
            p.buffers[8].last_step = 3;
            p.buffers[9].first_step = p.buffers[10].first_step = p.buffers[10].last_step = 3;
            p.buffers[7].last_step = p.buffers[9].last_step = 4;
        },
        "after step 2 wrote another tensor over it");
    // The same step, with the reader reading the new value: sound.
    CHECK(findings_after([](Plan& p) {
              Step backward = p.programs[0].steps[0];
              backward.layers.clear();
              backward.name = "softmax_cross_entropy_backward";
              backward.sources = {8, 1};
              backward.destinations = {9};
              p.programs[0].steps.insert(p.programs[0].steps.begin() + 2, backward);
              p.programs[0].steps[3].sources = {0, 9};
              p.buffers[8].last_step = 3;
              p.buffers[9].first_step = p.buffers[10].first_step = p.buffers[10].last_step = 3;
              p.buffers[7].last_step = p.buffers[9].last_step = 4;
          }) == "");
}

TEST_CASE("what the prologue makes must live to the end") {
    auto with_prologue = [](Plan& p, int last) {
        // Evaluation reads folded weights that the prologue made.
        Program& program = p.programs[1];
        Step fold = program.steps[0];
        fold.name = "fold";
        fold.layers.clear();
        fold.sources = {1};
        fold.destinations = {4};
        Step second = program.steps[0];
        second.name = "second";
        second.layers.clear();
        program.steps[0].sources = {0, 4, 2};
        program.prologue = {fold};
        program.steps.push_back(second);
        program.tensors.push_back({{DType::f32, {4, 3}}, "folded", 12, 0});
        p.buffers.push_back({"folded", BufferRole::transient, 448, 48, 1, 0, last});
        p.buffers[11].first_step = 1;
        p.buffers[11].last_step = 2;
    };
    CHECK(findings_after([&](Plan& p) { with_prologue(p, 2); }) == "");
    expect([&](Plan& p) { with_prologue(p, 1); }, "made in the prologue but lives only to step 1");
    expect(
        [&](Plan& p) {
            with_prologue(p, 2);
            p.programs[1].steps[1].destinations = {4};
        },
        "which the prologue made");
}

TEST_CASE("initializers must have their numbers, in range") {
    const auto with = [](const char* kind, const Attributes& numbers) {
        return [kind, numbers](Plan& p) {
            p.parameters[0].initializer.kind = kind;
            p.parameters[0].initializer.numbers = numbers;
        };
    };
    expect(with("sparkles", {}), "`dense_1.weights` cannot be initialised: `sparkles`");
    expect(with("normal", {{"mean", 0.0}}), "the initializer `normal` lacks `deviation`");
    expect(with("normal", {{"mean", 0.0}, {"deviation", 0.0}}), "is 0, not more than 0");
    expect(with("constant", {{"value", std::int64_t{1}}}), "is not a real number");
    expect(with("constant", {{"value", std::numeric_limits<double>::quiet_NaN()}}), "is nan");
    expect(with("uniform", {{"low", 1.0}, {"high", 1.0}}), "has low 1 and high 1");
    expect(with("ones", {{"value", 2.0}}), "`value` is not a number of the initializer `ones`");
    CHECK(findings_after(with("uniform", {{"low", -1.0}, {"high", 1.0}})) == "");
}

TEST_CASE("what is kept from step to step is of programs that generate") {
    const auto keeps = [](Plan& p) { p.programs[0].inputs[0].role = InputRole::kept_steps; };
    expect(keeps, "a program of the kind train keeps `source`");
    expect(keeps, "the input `source` is in buffer `source`, which is none of what is kept");
    expect([](Plan& p) { p.buffers[3].role = BufferRole::kept; }, "which is none of inputs");
    expect(
        [&](Plan& p) {
            keeps(p);
            p.buffers[3].role = BufferRole::kept;
            p.programs[0].steps[0].destinations = {0};
        },
        "writes the input `source`");
}

TEST_CASE("what is carried from batch to batch is of trainings that say so") {
    const auto carries = [](Plan& p) { p.programs[0].inputs[0].role = InputRole::carried_state; };
    expect(carries, "a program of the kind train carries `source`");
    expect(carries, "the input `source` is in buffer `source`, which is none of what is carried");
    expect([](Plan& p) { p.buffers[3].role = BufferRole::carried; }, "which is none of inputs");
    const auto sound = [&](Plan& p) {
        carries(p);
        p.training.carry_state = true;
        p.buffers[3].role = BufferRole::carried;
    };
    expect(
        [&](Plan& p) {
            sound(p);
            p.programs[0].batch = 3;
        },
        "`source` is no state of each of 3 samples");
    expect(
        [&](Plan& p) {
            sound(p);
            p.programs[1].kind = ProgramKind::evaluate;
            p.programs[1].inputs[0].role = InputRole::carried_state;
        },
        "buffer `source` is carried by training and by evaluation");
    expect(
        [&](Plan& p) {
            sound(p);
            p.training.batch_size = 3;
        },
        "is not what whole batches carry");
}

TEST_CASE("programs must fit the loop") {
    expect([](Plan& p) { p.programs[0].batch = 3; }, "program `train` has batch 3");
    expect([](Plan& p) { p.dataset.train_samples = 11, p.training.steps_per_epoch = 6; },
           "no training program for the last 1 samples");
    expect([](Plan& p) { p.dataset.test_samples = 5; }, "no evaluation program for the last 1");
    expect([](Plan& p) { p.training.steps_per_epoch = 9; }, "9 steps per epoch");
    // An epoch that ends before the tail needs no program for it.
    CHECK(findings_after([](Plan& p) {
              p.dataset.train_samples = 11, p.training.whole_epochs = false;
          }) == "");
    expect([](Plan& p) { p.dataset.train_samples = 11; }, "an epoch has 5 steps, of 6");
    expect([](Plan& p) { p.target.ranks = 2; }, "2 ranks share a training that is for one");
}

TEST_CASE("planted faults of exchanges are found") {
    const auto found = [](const std::function<void(Plan&)>& change) {
        Plan plan = parallel_sample_plan();
        change(plan);
        return fmt::format("{}", fmt::join(audit(plan), "\n"));
    };
    const auto finds = [&](const std::function<void(Plan&, Program&, Collective&)>& change,
                           const std::string& text) {
        const std::string findings =
            found([&](Plan& p) { change(p, p.programs[0], p.programs[0].collectives[0]); });
        CHECK_MESSAGE(findings.find(text) != std::string::npos, "wanted: ", text,
                      "\ngot: ", findings);
    };
    CHECK(found([](Plan&) {}) == "");
    finds([](Plan& p, Program&, Collective&) { p.parallel.data = false, p.target.ranks = 1; },
          "there are exchanges in a plan for one rank");
    finds([](Plan&, Program&, Collective& c) { c.wait = 3; }, "before it starts in step 3");
    finds([](Plan&, Program&, Collective& c) { c.wait = 2; }, "before it starts in step 3");
    finds([](Plan&, Program&, Collective& c) { c.start = 2; },
          "step 2 `dense_1.dense_backward_weights` is not the all_reduce_start");
    finds([](Plan&, Program&, Collective& c) { c.wait = 5; },
          "step 5 `dense_1.sgd_update` is not the all_reduce_wait");
    finds([](Plan&, Program& p, Collective&) { p.steps[4].attributes = {}; },
          "step 4 `gradients_1.all_reduce_wait` is an end of no exchange");
    finds([](Plan&, Program& p, Collective&) { p.collectives.clear(); },
          "step 3 `gradients_1.all_reduce_start` is an end of no exchange");
    finds([](Plan&, Program& p, Collective& c) { p.collectives.push_back(c); },
          "an exchange without a name of its own");
    finds(
        [](Plan&, Program& p, Collective& c) {
            Collective second = c;
            second.name = "gradients_0";
            p.collectives.push_back(second);
        },
        "exchange `gradients_0` starts with step 3, the one listed before it with step 3");
    finds([](Plan&, Program&, Collective& c) { c.kind = CollectiveKind::all_gather; },
          "is not the all_gather_start");
    finds([](Plan&, Program&, Collective& c) { c.buffer = 8; }, "lies outside its stretch");
    finds([](Plan&, Program&, Collective& c) { c.buffer = 0; }, "no transient one");
    finds([](Plan&, Program&, Collective& c) { c.bytes = 44; }, "lies outside its stretch");
    finds([](Plan&, Program&, Collective& c) { c.bytes = 46; }, "not of whole elements");
    finds([](Plan&, Program&, Collective& c) { c.offset = 4; }, "not aligned");
    finds([](Plan&, Program&, Collective& c) { c.bytes = 52; }, "ends outside its buffer");
    finds([](Plan&, Program&, Collective& c) { c.dtype = DType::f64; }, "or is no f64");
    finds([](Plan& p, Program&, Collective&) { p.buffers[9].last_step = 3; },
          "its buffer lives from 2 to 3");
    finds([](Plan&, Program& p, Collective&) { p.steps[3].destinations = {11}; }, "moves");
    finds([](Plan&, Program& p, Collective&) { p.steps[3].destinations.clear(); },
          "1 sources and 0 destinations");
    // A step that reads, then one that writes what is under way.
    for (const bool writes : {false, true})
        finds(
            [&](Plan& plan, Program& p, Collective& c) {
                Step between = p.steps[2];
                between.name = "between";
                between.workspace = -1;
                between.sources = {writes ? 0 : 10};
                between.destinations = {writes ? 10 : 8};
                p.steps.insert(p.steps.begin() + 4, between);
                c.wait = 5;
                for (int b : {7, 8, 9})
                    plan.buffers[std::size_t(b)].last_step = 6;
            },
            "step `between` touches `diff_weights` while exchange `gradients_1` is under way");
    finds([](Plan&, Program&, Collective& c) { c.parameters.clear(); },
          "the gradient of `dense_1.weights`, which is updated, is in 0 exchanges");
    finds([](Plan&, Program&, Collective& c) { c.parameters = {0, 0}; }, "is in 2 exchanges");
    finds([](Plan&, Program&, Collective& c) { c.parameters = {2}; },
          "the gradient of `dense_1.weights.velocity`, which is not updated, is in 1 exchanges");
    finds([](Plan&, Program&, Collective& c) { c.parameters = {1}; },
          "1 operands that are not the gradients of its 1 parameters");
    finds([](Plan&, Program& p, Collective&) { p.inputs.pop_back(); }, "without weights");
    finds([](Plan&, Program& p, Collective&) { p.prologue = {p.steps[3]}; },
          "the prologue exchanges");
    finds([](Plan& p, Program&, Collective&) { p.training.steps_per_epoch = 5; },
          "an epoch has 5 steps, of 3 that 10 samples give 2 ranks");
    finds(
        [](Plan& p, Program& program, Collective&) {
            p.parallel.batch_statistics = BatchStatistics::synchronised;
            program.steps[0].op = "batch_norm_training";
        },
        "takes the statistics of one rank, not of all");
    // A limit of the job does not keep ranks from the end of an epoch.
    finds(
        [](Plan& p, Program&, Collective&) {
            p.dataset.train_samples = 11;
            p.training.whole_epochs = false;
        },
        "no training program for the last 1 samples");
}

TEST_CASE("thousands of buffers are swept, not compared in pairs") {
    Plan plan = sample_plan();
    plan.programs[1].steps[0].layers.clear();
    plan.programs[1].steps.resize(20000, plan.programs[1].steps[0]);
    for (std::size_t i = 0; i < plan.programs[1].steps.size(); ++i)
        plan.programs[1].steps[i].name = fmt::format("step_{}", i);
    plan.buffers[11].last_step = 19999;
    std::int64_t offset = 704;
    for (int i = 0; i < 20000; ++i) {
        plan.buffers.push_back(
            {fmt::format("b{}", i), BufferRole::transient, offset, 64, 1, i / 2, 19999});
        offset += 64;
    }
    plan.memory.arena = offset;
    plan.memory.transient = offset - 384;
    CHECK(audit(plan).empty());
    plan.buffers[plan.buffers.size() - 2].offset -= 64;
    CHECK(audit(plan).size() == 1);
}

}  // namespace audit_test
