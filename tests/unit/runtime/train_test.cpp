#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "kernels/thread_team.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/train/bench.hpp"
#include "runtime/train/initialize.hpp"
#include "runtime/train/loop.hpp"
#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/hand_made_plan.hpp"

namespace dtnn::runtime::train_test {
namespace {

std::vector<double> values_of(const std::string& kind, std::int64_t count, int threads = 1,
                              std::uint64_t seed = 1, std::int64_t stream = 5) {
    plan::Parameter parameter;
    parameter.dtype = DType::f64;
    parameter.dims = parameter.physical_dims = {count};
    parameter.initializer = {kind, 30, 20, stream};
    std::vector<double> values(static_cast<std::size_t>(count), -1);
    kernels::ThreadTeam team(threads);
    make_values(parameter, seed, reinterpret_cast<std::byte*>(values.data()), team);
    return values;
}

class Recorder final : public TrainingObserver {
  public:
    void first_step() override { ++first_steps; }
    void step(const Progress& progress) override {
        ++steps;
        CHECK(progress.step >= 1);
        CHECK(progress.step <= progress.steps);
        if (steps == stop_at) request_stop(15);
    }
    void epoch(const EpochResult& result) override { epochs.push_back(result); }

    int first_steps = 0;
    int steps = 0;
    int stop_at = -1;
    std::vector<EpochResult> epochs;
};

struct Stopped {
    ~Stopped() { request_stop(0); }
};

}  // namespace

TEST_CASE("the inverse of the normal distribution inverts it") {
    for (int i = 1; i < 100; ++i) {
        const double p = i / 100.0;
        const double back = 0.5 * std::erfc(-inverse_normal(p) / std::sqrt(2.0));
        CHECK(std::fabs(back - p) < 1e-15);
    }
    CHECK(inverse_normal(0.022750131948179207) == doctest::Approx(-2.0).epsilon(1e-14));
}

TEST_CASE("initial values have the mean, standard deviation and bounds of their formula") {
    constexpr std::int64_t kCount = 200000;
    struct Case {
        const char* kind;
        double variance;
        double bound;
    };
    const double cut = 2 / 0.87962566103423978;
    const Case cases[] = {
        {"glorot_uniform", 2.0 / 50, std::sqrt(6.0 / 50)},
        {"glorot_normal", 2.0 / 50, cut * std::sqrt(2.0 / 50)},
        {"he_uniform", 2.0 / 30, std::sqrt(6.0 / 30)},
        {"he_normal", 2.0 / 30, cut * std::sqrt(2.0 / 30)},
        {"lecun_uniform", 1.0 / 30, std::sqrt(3.0 / 30)},
        {"lecun_normal", 1.0 / 30, cut * std::sqrt(1.0 / 30)},
    };
    for (const Case& test : cases) {
        CAPTURE(test.kind);
        const std::vector<double> values = values_of(test.kind, kCount);
        double sum = 0, squares = 0, most = 0;
        for (const double value : values) {
            sum += value;
            squares += value * value;
            most = std::max(most, std::fabs(value));
        }
        const double standard_deviation = std::sqrt(test.variance);
        CHECK(std::fabs(sum / kCount) < 5 * standard_deviation / std::sqrt(double(kCount)));
        CHECK(squares / kCount == doctest::Approx(test.variance).epsilon(0.01));
        CHECK(most <= test.bound);
        CHECK(most > 0.99 * test.bound);
    }
    CHECK(values_of("zeros", 3) == std::vector<double>{0, 0, 0});
    CHECK(values_of("ones", 3) == std::vector<double>{1, 1, 1});
}

TEST_CASE("initial values depend on seed, stream and element only") {
    const auto values = values_of("he_normal", 50000);
    CHECK(values_of("he_normal", 50000, 3) == values);
    CHECK(values_of("he_normal", 50000, 1, 2) != values);
    CHECK(values_of("he_normal", 50000, 1, 1, 6) != values);
    const auto shorter = values_of("he_normal", 5);
    CHECK(std::equal(shorter.begin(), shorter.end(), values.begin()));
}

TEST_CASE("training lowers the loss, and twice the same gives the same bits") {
    const plan::Plan plan = hand_made_plan();
    std::vector<std::byte> weights[3];
    std::vector<double> losses[3];
    for (int run = 0; run < 3; ++run) {
        Session session(plan, run == 2 ? 1 : 2, made_up_source(plan.dataset));
        Recorder recorder;
        const TrainingResult result = train(session, recorder);
        CHECK(result.step == 4 * 6);
        CHECK(result.epoch == 4);
        CHECK_FALSE(result.interrupted);
        CHECK(recorder.first_steps == 1);
        CHECK(recorder.steps == 24);
        REQUIRE(recorder.epochs.size() == 4);
        for (std::size_t i = 0; i < 4; ++i) {
            const EpochResult& epoch = recorder.epochs[i];
            CHECK(epoch.epoch == std::int64_t(i) + 1);
            CHECK(epoch.step == std::int64_t(i + 1) * 6);
            CHECK(epoch.train.samples == 44);
            CHECK(epoch.validation.samples == 12);
            CHECK(epoch.samples_per_second > 0);
            losses[run].push_back(epoch.train.loss());
            losses[run].push_back(epoch.validation.loss());
        }
        CHECK(recorder.epochs[3].train.loss() < recorder.epochs[0].train.loss());
        const PassValues test = session.evaluate(Split::test, session.sampler().test());
        CHECK(test.samples == 24);
        CHECK(test.values[1].number() > 0.5);
        const std::byte* memory = session.executor().parameter(0);
        weights[run].assign(memory, memory + 32 * 3 * 4);
    }
    CHECK(weights[0] == weights[1]);
    CHECK(losses[0] == losses[1]);
    // The reference kernels do not depend on the number of threads.
    CHECK(weights[0] == weights[2]);
}

TEST_CASE("running means weigh batches by their samples") {
    // With a learning rate of zero the train means are those of an evaluation over the same
    // samples.
    HandMade wish;
    wish.learning_rate = 0;
    wish.dtype = DType::f64;
    wish.epochs = 1;
    const plan::Plan plan = hand_made_plan(wish);
    Session session(plan, 1, made_up_source(plan.dataset));
    Recorder recorder;
    train(session, recorder);
    REQUIRE(recorder.epochs.size() == 1);
    // 44 = 5 * 8 + 4 samples; the test split has only batches of 8, the validation split 8 + 4.
    const PassValues means = session.evaluate(Split::train, session.sampler().train());
    CHECK(means.samples == 44);
    CHECK(recorder.epochs[0].train.loss() == doctest::Approx(means.loss()).epsilon(1e-13));
    CHECK(recorder.epochs[0].train.values[1].number() ==
          doctest::Approx(means.values[1].number()).epsilon(1e-13));
}

TEST_CASE("a channels-last and a row-major plan train alike") {
    HandMade wish;
    wish.dtype = DType::f64;
    double losses[2];
    for (int i = 0; i < 2; ++i) {
        if (i == 1) wish.order = {};
        const plan::Plan plan = hand_made_plan(wish);
        Session session(plan, 1, made_up_source(plan.dataset));
        Recorder recorder;
        train(session, recorder);
        losses[i] = recorder.epochs.back().train.loss();
    }
    CHECK(losses[0] == doctest::Approx(losses[1]).epsilon(1e-12));
}

TEST_CASE("a stop request ends the run after the step") {
    const Stopped guard;
    const plan::Plan plan = hand_made_plan();
    Session session(plan, 1, made_up_source(plan.dataset));
    Recorder recorder;
    recorder.stop_at = 9;
    const TrainingResult result = train(session, recorder);
    CHECK(result.interrupted);
    CHECK(result.step == 9);
    CHECK(result.epoch == 1);
    CHECK(recorder.epochs.size() == 1);
}

TEST_CASE("a loss that is no number ends the run and names epoch and step") {
    HandMade wish;
    wish.learning_rate = 1e38;
    const plan::Plan plan = hand_made_plan(wish);
    Session session(plan, 1, made_up_source(plan.dataset));
    Recorder recorder;
    expect_error(Exit::diverged, {"loss is", "epoch 1, step", "learning rate", "help:"},
                 [&] { train(session, recorder); });
}

TEST_CASE("steps_per_epoch cuts an epoch") {
    plan::Plan plan = hand_made_plan();
    plan.training.steps_per_epoch = 2;
    plan.training.whole_epochs = false;
    Session session(plan, 1, made_up_source(plan.dataset));
    Recorder recorder;
    CHECK(train(session, recorder).step == 4 * 2);
    CHECK(recorder.epochs[0].train.samples == 16);
}

TEST_CASE("bench measures full batches, over the end of the data") {
    const plan::Plan plan = hand_made_plan();
    Session session(plan, 2, made_up_source(plan.dataset));
    BenchRequest request;
    request.steps = 23;
    request.per_step = true;
    const BenchResult result = bench(session, request);
    CHECK(result.batch == 8);
    CHECK(result.seconds.size() == 23);
    CHECK(result.program_step_seconds.size() == plan.programs[0].steps.size());
    CHECK(std::accumulate(result.program_step_seconds.begin(), result.program_step_seconds.end(),
                          0.0) > 0);
    CHECK(peak_memory() > 1000000);
    CHECK(spread_of({3, 1, 2}).median == 2);
    CHECK(spread_of({4, 1, 2, 3}).median == 2.5);
    CHECK(spread_of({4, 1}).least == 1);
    CHECK(spread_of({4, 1}).most == 4);
}

TEST_CASE("bench measures a program of inference on one full batch, and leaves the weights alone") {
    for (const std::int64_t train_samples : {44, 3}) {
        CAPTURE(train_samples);
        const plan::Plan plan = hand_made_plan({.train_samples = train_samples});
        Session session(plan, 1, made_up_source(plan.dataset));
        const HostView before = session.executor().parameter_view(0, HostView::Access::read);
        const std::vector<std::byte> weights(before.bytes().begin(), before.bytes().end());
        BenchRequest request;
        request.program = plan::ProgramKind::evaluate;
        request.steps = 5;
        request.per_step = true;
        const BenchResult result = bench(session, request);
        CHECK(result.batch == 8);
        CHECK(result.seconds.size() == 5);
        REQUIRE(result.program->kind == plan::ProgramKind::evaluate);
        CHECK(result.program_step_seconds.size() == result.program->steps.size());
        // Made-up samples differ from sample to sample: a batch of zeros would have one loss only.
        const BatchProgram& program = session.evaluate_program(8);
        const double loss = program.loss();
        CHECK(std::isfinite(loss));
        std::memset(program.inputs.features[0], 0,
                    std::size_t(8 * plan::staged_sample(plan).inputs[0]));
        program.program->run();
        CHECK(program.loss() != loss);
        const HostView after = session.executor().parameter_view(0, HostView::Access::read);
        CHECK(std::equal(weights.begin(), weights.end(), after.bytes().begin()));
    }
}

TEST_CASE("bench refuses a program that the plan does not have") {
    const plan::Plan plan = hand_made_plan();
    Session session(plan, 1, made_up_source(plan.dataset));
    BenchRequest request;
    request.program = plan::ProgramKind::predict;
    expect_error(Exit::usage, {"no `predict` program", "help:"}, [&] { bench(session, request); });
}

}  // namespace dtnn::runtime::train_test
