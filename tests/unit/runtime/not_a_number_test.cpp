// Trainings that come to a NaN or an infinity: what is named, and what is kept.

#include <doctest/doctest.h>

#include <cstring>
#include <limits>

#include "runtime/exec/number_check.hpp"
#include "tests/unit/runtime/resumed_run.hpp"

namespace dtnn::runtime::not_a_number_test {

TEST_CASE("the first result that was not finite is named, by repeating the steps") {
    const Unstopped guard;
    HandMade wish;
    wish.learning_rate = 1e38;
    plan::Plan plan = hand_made_plan(wish);
    Session session(plan, 1, made_up_source(plan.dataset));
    Recorder recorder;
    TrainingRequest request;
    request.rewind = [&] {
        initialize(session.executor());
        return TrainingState{};
    };
    expect_error(Exit::diverged,
                 {"loss is", "epoch 1, step", "the first result that was not finite", "hand.yaml:3",
                  "dense_1", "not finite, the first is", "learning rate"},
                 [&] { train(session, recorder, request); });
    CHECK(recorder.searched_from == 0);
    CHECK(recorder.searched_until >= 1);
    // Looked at from the beginning, it is found without repeating anything.
    initialize(session.executor());
    request.check_numbers = true;
    Recorder checked;
    expect_error(Exit::diverged, {"the first result that was not finite", "hand.yaml:3"},
                 [&] { train(session, checked, request); });
    CHECK(checked.searched_from == -1);
    // A training that stays finite is not disturbed.
    plan::Plan sound = hand_made_plan();
    Session quiet(sound, 1, made_up_source(sound.dataset));
    Recorder whole;
    request = {};
    request.check_numbers = true;
    CHECK(train(quiet, whole, request).step == 24);
}

TEST_CASE("a checkpoint never holds what is not finite") {
    const Unstopped guard;
    HandMade wish;
    wish.learning_rate = 0.5;
    plan::Plan plan = hand_made_plan(wish);
    plan.training.checkpoint = {1, 0, 0, 50};
    const TemporaryFolder folder;
    Run run(plan, folder.path());
    // The loss of the first step does not see an infinite weight of its update.
    class Spoiler final : public TrainingObserver {
      public:
        explicit Spoiler(Executor& the_executor) : executor(the_executor) {}
        void step(const Progress& progress) override {
            const float infinite = std::numeric_limits<float>::infinity();
            if (progress.step == 3) std::memcpy(executor.parameter(1), &infinite, sizeof infinite);
        }
        Executor& executor;
    } spoiler(run.session.executor());
    TrainingRequest request;
    request.keeper = &run.keeper;
    expect_error(Exit::diverged,
                 {"a result of step 3 is not finite", "epoch 1, step 3", "`dense_1.bias`",
                  "1 of the 3 numbers", "is inf"},
                 [&] { train(run.session, spoiler, request); });
    CHECK(steps_in(folder) == std::vector<std::string>{"0000000001", "0000000002"});
    REQUIRE(run.load().has_value());
    CHECK_FALSE(parameter_not_finite(run.session.executor()).has_value());
}

namespace {

/// Made-up samples, one of which holds a NaN.
class Poisoned final : public SampleSource {
  public:
    Poisoned(const plan::Dataset& dataset, std::int64_t sample)
        : inner_(made_up_source(dataset)), sample_(sample) {}
    void load(Split split, std::int64_t index, Sample& sample) const override {
        inner_->load(split, index, sample);
        if (split == Split::train && index == sample_)
            sample.input().floats[3] = std::numeric_limits<float>::quiet_NaN();
    }
    std::int64_t size(Split split) const override { return inner_->size(split); }
    std::uint64_t content_hash() const override { return 1; }
    std::int64_t resident_bytes() const override { return 0; }

  private:
    std::unique_ptr<SampleSource> inner_;
    std::int64_t sample_;
};

}  // namespace

TEST_CASE("samples that hold what is no number are named as the cause") {
    const Unstopped guard;
    const plan::Plan plan = hand_made_plan();
    for (const bool validated : {false, true}) {
        CAPTURE(validated);
        const Session probe(plan, 1, made_up_source(plan.dataset));
        Sampler sampler(plan.dataset, plan.training);
        const std::int64_t sample = (validated ? sampler.validation() : sampler.train())[4];
        Session session(plan, 1, std::make_unique<Poisoned>(plan.dataset, sample));
        Recorder recorder;
        TrainingRequest request;
        request.rewind = [&] {
            initialize(session.executor());
            return TrainingState{};
        };
        expect_error(Exit::diverged,
                     {validated ? "the validation loss is" : "the loss is", "the input `source`",
                      "mend the dataset"},
                     [&] { train(session, recorder, request); });
    }
}

}  // namespace dtnn::runtime::not_a_number_test
