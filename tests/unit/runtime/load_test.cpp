#include "runtime/exec/load.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "kernels/catalogue.hpp"
#include "plan/audit/audit.hpp"
#include "plan/json/json.hpp"
#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/hand_made_plan.hpp"

namespace dtnn::runtime::load_test {
namespace {

/// The plan, changed, must be refused with exit 5 and these words; through its text, as a user
/// meets it.
void expect_refused(std::initializer_list<const char*> words,
                    const std::function<void(plan::Plan&)>& change) {
    plan::Plan plan = hand_made_plan();
    change(plan);
    expect_error(Exit::mismatch, words,
                 [&] { load_plan_text(plan::to_json(plan), "broken.json"); });
}

plan::Step& step_of(plan::Plan& plan, const std::string& op) {
    for (plan::Step& step : plan.programs[0].steps) {
        if (step.op == op) return step;
    }
    FAIL("no such step");
    return plan.programs[0].steps[0];
}

}  // namespace

TEST_CASE("the hand-made plan is sound and loads") {
    for (const DType dtype : {DType::f32, DType::f64}) {
        HandMade wish;
        wish.dtype = dtype;
        const plan::Plan plan = hand_made_plan(wish);
        const auto findings = plan::audit(plan);
        CHECK_MESSAGE(findings.empty(), (findings.empty() ? "" : findings.front()));
        const LoadedPlan loaded = load_plan_text(plan::to_json(plan), "hand.json");
        CHECK(loaded.plan.programs.size() == 4);
        CHECK(loaded.checksum == plan::checksum_of(loaded.text));
    }
}

TEST_CASE("a file that is no plan, or is damaged, is refused") {
    const std::string good = plan::to_json(hand_made_plan());
    expect_error(Exit::mismatch, {"absent.json", "No such file"}, [] { load_plan("absent.json"); });
    expect_error(Exit::mismatch, {"spec.yaml", "dtnnc compile"},
                 [] { load_plan_text("kind: job\n", "spec.yaml"); });
    expect_error(Exit::mismatch, {"the plan p.json is refused", "dtnnc compile"},
                 [] { load_plan_text("", "p.json"); });
    expect_error(Exit::mismatch, {"p.json", "refused"},
                 [&] { load_plan_text(good.substr(0, good.size() / 2), "p.json"); });
    for (std::size_t at = 0; at < good.size(); at += good.size() / 97) {
        std::string bad = good;
        bad[at] = char(bad[at] ^ 1);
        expect_error(Exit::mismatch, {"p.json", "refused"}, [&] { load_plan_text(bad, "p.json"); });
    }
}

TEST_CASE("a plan for another machine is refused") {
    expect_refused({"broken.json", "room for the inputs"},
                   [](plan::Plan& plan) { plan.target.device = "cuda"; });
    expect_refused({"sse9", "unknown"}, [](plan::Plan& plan) { plan.target.isa = "sse9"; });
    if (kernels::host_isa() < kernels::Isa::avx512) {
        expect_refused({"avx512", "--isa"}, [](plan::Plan& plan) { plan.target.isa = "avx512"; });
    }
}

TEST_CASE("kernels are checked before anything is allocated") {
    expect_refused(
        {"program `train`, step 0", "no kernel `magic`", "`dense`", "`dense_1`", "hand.yaml:3"},
        [](plan::Plan& plan) { step_of(plan, "dense").kernel = "magic"; });
    expect_refused({"sgd_update lacks its attribute `momentum`"}, [](plan::Plan& plan) {
        step_of(plan, "sgd_update").attributes.erase("momentum");
    });
    expect_refused({"no kernel", "`teleport`"},
                   [](plan::Plan& plan) { step_of(plan, "dense").op = "teleport"; });
    // A sound problem of the operator that this kernel refuses.
    expect_refused({"cannot do it"}, [](plan::Plan& plan) {
        plan::Step& step = step_of(plan, "sgd_update");
        step.sources.resize(1);
        step.op = "elementwise";
        step.kernel = "relu";
        step.attributes = {{"expression", std::string("x0 1 add")}};
    });
}

TEST_CASE("operands that a kernel would read or write past their ends are refused") {
    expect_refused({"step 0", "sources"},
                   [](plan::Plan& plan) { step_of(plan, "dense").sources.clear(); });
    expect_refused({"sources"},
                   [](plan::Plan& plan) { step_of(plan, "dense").attributes["bias"] = false; });
    expect_refused({"another type"}, [](plan::Plan& plan) {
        // The accuracy in place of the learning rate: one number too, but f64.
        step_of(plan, "sgd_update").sources[2] = plan.programs[0].outputs[1].tensor;
    });
    // The bias in place of the weights: both are there, and written, and of the plan's type.
    expect_refused({"step 0"}, [](plan::Plan& plan) {
        plan::Step& step = step_of(plan, "dense");
        step.sources[1] = step.sources[2];
    });
    expect_refused({"1000000001 samples"},
                   [](plan::Plan& plan) { plan.dataset.test_samples = 1'000'000'001; });
}

TEST_CASE("workspaces must be large enough for the plan's threads") {
    plan::Plan plan = hand_made_plan();
    plan::Step& step = step_of(plan, "dense");
    step.kernel = "direct";
    expect_error(Exit::mismatch, {"bytes of workspace for 2 threads", "the plan books 0"},
                 [&] { load_plan_text(plan::to_json(plan), "p.json"); });
}

TEST_CASE("what the loop relies on is checked") {
    expect_refused({"`train`", "`loss`"}, [](plan::Plan& plan) {
        plan.programs[0].outputs.erase(plan.programs[0].outputs.begin());
    });
    expect_refused({"categorical_accuracy"},
                   [](plan::Plan& plan) { plan.programs[2].outputs.pop_back(); });
    expect_refused({"learning_rate 1", "unknown"},
                   [](plan::Plan& plan) { plan.programs[0].inputs.back().index = 1; });
    expect_refused({"no training program for the last 4 samples of an epoch"},
                   [](plan::Plan& plan) {
                       REQUIRE(plan.programs[1].name == "train_tail");
                       plan.programs[1].kind = plan::ProgramKind::accumulate;
                   });
    expect_refused({"initializer", "sparkles"},
                   [](plan::Plan& plan) { plan.parameters[0].initializer.kind = "sparkles"; });
    expect_refused({"prepared ahead"}, [](plan::Plan& plan) { plan.memory.staging -= 1; });
    expect_refused({"`source` is", "not f32 [8,2,4,5]"}, [](plan::Plan& plan) {
        plan.dataset.input().dims = {2, 4, 5};
        plan.memory.staging += 4096;
    });
}

TEST_CASE("a plan whose products overflow is refused, not booked for what they wrap round to") {
    constexpr std::int64_t kMost = std::int64_t{1} << 41;
    expect_refused({"prepared ahead take 9223372036854775807 bytes"}, [](plan::Plan& plan) {
        plan.dataset.input().stored_dims = {kMost, kMost, kMost};
    });
    expect_refused({"keeps up to 9223372036854775807 bytes"}, [](plan::Plan& plan) {
        plan.dataset.input().stored_dims = {kMost >> 11, 0, 0};
        plan.dataset.attributes["most_pixels"] = std::int64_t{1} << 40;
    });
    expect_refused({"synthetic", "`cache`"},
                   [](plan::Plan& plan) { plan.dataset.attributes["cache"] = std::int64_t{-1}; });
}

TEST_CASE("what is read of a plan without its being asked again has its form") {
    expect_refused({"stored_dims", "3 axes for 2 extents"}, [](plan::Plan& plan) {
        plan.dataset.input().stored_dims = {2, 4};
    });
    expect_refused({"`cutout`", "`size`", "2 whole numbers"}, [](plan::Plan& plan) {
        plan.dataset.augmentations = {
            {"cutout", {{"size", std::vector<std::int64_t>{8, -40}}, {"fill", 0.0}}}};
    });
    expect_refused({"`categorical_accuracy`", "`average`", "a word"}, [](plan::Plan& plan) {
        plan.training.metrics.at(0).attributes["average"] = true;
    });
    expect_refused({"average `most`"}, [](plan::Plan& plan) {
        plan.training.metrics.at(0).attributes["average"] = std::string("most");
    });
    // An average of a parameter takes its values as they lie.
    expect_refused({"the parameter `", ".average`"}, [](plan::Plan& plan) {
        REQUIRE(plan.parameters.size() >= 2);
        REQUIRE(plan.parameters[0].dims != plan.parameters[1].dims);
        plan.parameters[1].name = plan.parameters[0].name + ".average";
        plan.parameters[1].kind = plan::ParameterKind::average;
        plan.parameters[1].optimizer_state = true;
        plan.parameters[1].trainable = false;
        plan::Buffer& buffer = plan.buffers[std::size_t(plan.parameters[1].buffer)];
        buffer.role = plan::BufferRole::state;
        plan.memory.parameters -= plan::kAlignment;
        plan.memory.optimizer += plan::kAlignment;
    });
    // Predictions are rows of samples, in the plan's type.
    const auto predicting = [](const char* output) {
        return [output](plan::Plan& plan) {
            plan::Program& program = plan.programs[2];
            REQUIRE(program.kind == plan::ProgramKind::evaluate);
            program.kind = plan::ProgramKind::predict;
            plan.programs[3].kind = plan::ProgramKind::predict;
            plan.dataset.validation_samples = plan.dataset.test_samples = 0;
            plan.memory.staging += 4096;  // for more samples to train on
            for (const plan::Output& one : program.outputs) {
                if (one.name != output) continue;
                program.outputs.push_back({"predictions", one.tensor});
                return;
            }
        };
    };
    expect_refused({"program `evaluate` has no `predictions`"}, predicting("nothing"));
    expect_refused({"program `evaluate`: `predictions` is", "not f32 [8,3]"}, predicting("loss"));
}

TEST_CASE("overlapping buffers are refused") {
    expect_refused({"overlap while both are alive"},
                   [](plan::Plan& plan) { plan.buffers[1].offset = plan.buffers[0].offset; });
}

TEST_CASE("updates of several batches need the program that adds their gradients up") {
    expect_refused({"accumulation needs a program for batches of"},
                   [](plan::Plan& plan) { plan.training.accumulation = 4; });
}

TEST_CASE("numbers that the loop writes have their types") {
    using plan::InputRole;
    const auto changed = [](InputRole role, int index = 0) {
        return [role, index](plan::Plan& plan) {
            for (plan::Input& input : plan.programs[0].inputs)
                if (input.role == InputRole::learning_rate) input.role = role, input.index = index;
        };
    };
    expect_refused({"`learning_rate` is f32", "not i64"}, changed(InputRole::update));
    expect_refused({"`learning_rate` is f32", "not i64"}, changed(InputRole::position));
    expect_refused({"wants feature 7, which is unknown"}, changed(InputRole::feature, 7));
    // The batch's weight is such a number itself.
    plan::Plan plan = hand_made_plan();
    changed(InputRole::batch_weight)(plan);
    CHECK_NOTHROW(load_plan_text(plan::to_json(plan), "plan.json"));
}

}  // namespace dtnn::runtime::load_test
