/// Batches that go on where the ones before ended: beside one long window of the same text, beside
/// finite differences with the state held still, gone on with from every checkpoint, and on two
/// ranks.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>

#include "plan/rules/lanes.hpp"
#include "plan/rules/staging.hpp"
#include "runtime/train/session.hpp"
#include "tests/ranks/local_steps/local_training.hpp"

namespace carried_state_test {

namespace {

using namespace dtnn;

constexpr int kTokens = 7;  ///< bytes that the text has

struct Wish {
    int steps = 5;
    int batch = 1;
    int ranks = 1;
    int windows = 12;  ///< of `steps` tokens, and one more token
    bool carried = true;
    double rate = 0.5;
    int epochs = 1;
    std::string more = {};  ///< fields of the training
};

/// All three cells, one behind the other.
plan::Plan plan_of(const DataFolder& folder, const Wish& wish) {
    const std::string path = folder / "text";
    std::ofstream file(path, std::ios::binary);
    unsigned state = 1;
    for (int i = 0; i < wish.windows * wish.steps + 1; ++i)
        file << char(((state = state * 1664525U + 1013904223U) >> 24) % unsigned(kTokens));
    REQUIRE(file.flush());
    file.close();
    std::ofstream(folder / "test", std::ios::binary) << std::ifstream(path).rdbuf();
    return compiled(fmt::format(
        "kind: job\nname: carried\nmodel:\n"
        "  inputs: {{tokens: {{shape: [{0}], axes: [step], dtype: i32, values: 256}}}}\n"
        "  layers:\n"
        "    - embedding: {{entries: 256, units: 4}}\n"
        "    - lstm: {{name: first, units: 5}}\n"
        "    - gru: {{name: second, units: 4}}\n"
        "    - rnn: {{name: third, units: 6}}\n"
        "    - dense: {{name: last, units: 256}}\n"
        "    - softmax: {{axis: features}}\n"
        "dataset: {{type: text, path: \"{1}\", test_path: \"{2}\", unit: byte, steps: {0}, "
        "classes: 256, train_samples: {3}, test_samples: {3}}}\n"
        "training: {{dtype: f64, metrics: [], epochs: {4}, batch_size: {5}, {6}{7}"
        "optimizer: {{sgd: {{learning_rate: {8}, momentum: 0}}}}}}\n"
        "parallel: {{data: {9}}}\n",
        wish.steps, path, folder / "test", wish.windows, wish.epochs, wish.batch,
        wish.carried ? "carry_state: true, " : "shuffle: false, ", wish.more, wish.rate,
        wish.ranks));
}

Trained trained(const Wish& wish, const Kept* from = nullptr) {
    const DataFolder folder;
    Trained result = train_on(wish.ranks, plan_of(folder, wish), from);
    REQUIRE_MESSAGE(result.error.empty(), result.error);
    return result;
}

/// Sums of the losses of an epoch's samples so far, behind the last step.
class Sum final : public runtime::TrainingObserver {
  public:
    void step(const runtime::Progress& progress) override {
        sum = progress.train.running_value(0) * double(progress.train.samples());
    }
    double sum = 0;
};

struct Steps {
    double loss;                                     ///< of the last step
    std::vector<std::vector<double>> before, after;  ///< parameters, of that step
};

/// Two steps, between which `change` is added to a number of a parameter.
Steps two_steps(const plan::Plan& plan, std::size_t parameter, std::size_t number, double change) {
    runtime::Session session(plan, 1, runtime::open_source(plan.dataset));
    const auto numbers = [&](std::size_t i) {
        return reinterpret_cast<double*>(session.executor().parameter(i));
    };
    const auto all = [&] {
        std::vector<std::vector<double>> list;
        for (std::size_t i = 0; i < plan.parameters.size(); ++i)
            list.emplace_back(numbers(i), numbers(i) + element_count(plan.parameters[i].dims));
        return list;
    };
    Sum first, second;
    runtime::TrainingRequest request;
    request.until_step = 1;
    const runtime::TrainingState state = runtime::train(session, first, request).state;
    Steps steps;
    steps.before = all();
    numbers(parameter)[number] += change;
    request.until_step = 2;
    request.from = &state;
    runtime::train(session, second, request);
    steps.loss = (second.sum - first.sum) / double(plan.training.batch_size);
    steps.after = all();
    return steps;
}

}  // namespace

TEST_CASE("lanes: each position of a pass has a sample of its own, and goes on in its lane") {
    for (const std::int64_t samples : {1, 5, 12, 13, 15, 16}) {
        for (const std::int64_t lanes : {1, 3, 4, 20}) {
            std::set<std::int64_t> seen;
            for (std::int64_t position = 0; position < samples; ++position) {
                const std::int64_t sample = plan::sample_of_lanes(position, samples, lanes);
                CHECK(sample >= 0);
                CHECK(sample < samples);
                CHECK(seen.insert(sample).second);
                if (position >= lanes)
                    CHECK(sample == plan::sample_of_lanes(position - lanes, samples, lanes) + 1);
            }
        }
    }
}

TEST_CASE("windows whose states are carried have the loss of one long window") {
    // So small a rate changes no weight.
    const Wish none{.rate = 1e-30};
    for (const int batch : {1, 2, 3}) {
        CAPTURE(batch);
        Wish wish = none;
        wish.batch = batch;
        // A second epoch begins with zeros again, in spite of the first and of the test.
        wish.epochs = 2;
        Wish whole = none;
        whole.steps = 5 * 12 / batch;
        whole.windows = batch;
        whole.carried = false;
        const Trained carried = trained(wish), one = trained(whole);
        for (const double loss : carried.losses)
            CHECK(std::fabs(loss - one.losses[0]) <= 1e-12);
        CHECK(std::fabs(carried.test.loss() - one.losses[0]) <= 1e-12);
        // Else this would show nothing.
        wish.carried = false;
        CHECK(std::fabs(trained(wish).losses[0] - one.losses[0]) > 1e-6);
    }
}

TEST_CASE("gradients of a batch are those with the state that it begins with held still") {
    const DataFolder folder;
    const Wish wish{.batch = 2};
    const plan::Plan plan = plan_of(folder, wish);
    CHECK(plan::carried_states(plan).size() == 4);
    const Steps steps = two_steps(plan, 0, 0, 0);
    constexpr double kChange = 1e-5;
    for (std::size_t p = 0; p < plan.parameters.size(); ++p) {
        CAPTURE(plan.parameters[p].name);
        const std::size_t count = steps.before[p].size();
        double most = 0;
        for (const std::size_t i : {std::size_t{0}, count / 3, count / 2, count - 1}) {
            CAPTURE(i);
            const double moved = (steps.before[p][i] - steps.after[p][i]) / wish.rate;
            const double slope =
                (two_steps(plan, p, i, kChange).loss - two_steps(plan, p, i, -kChange).loss) /
                (2 * kChange);
            CHECK(std::fabs(moved - slope) <= 1e-8);
            most = std::max(most, std::fabs(slope));
        }
        // Of the embedding's 256 rows the text has 7.
        if (p > 0) CHECK(most > 1e-7);
    }
}

TEST_CASE("evaluation between two steps does not disturb what training carries") {
    const DataFolder folder;
    const plan::Plan plan = plan_of(folder, {.batch = 5});  // the last batch has 2
    std::vector<double> weights[2];
    for (const bool evaluates : {false, true}) {
        runtime::Session session(plan, 1, runtime::open_source(plan.dataset));
        Sum sum;
        runtime::TrainingRequest request;
        request.until_step = 1;
        const runtime::TrainingState state = runtime::train(session, sum, request).state;
        if (evaluates) session.evaluate(runtime::Split::test, session.sampler().test());
        request.until_step = 0;
        request.from = &state;
        runtime::train(session, sum, request);
        const auto* const first = reinterpret_cast<const double*>(session.executor().parameter(1));
        weights[evaluates ? 1 : 0].assign(first, first + element_count(plan.parameters[1].dims));
    }
    CHECK(weights[0] == weights[1]);
}

TEST_CASE("a training that carries states goes on from every checkpoint to the same bits") {
    for (const int ranks : {1, 2}) {
        CAPTURE(ranks);
        const Wish wish{.batch = 4 / ranks,
                        .ranks = ranks,
                        .windows = 14,
                        .epochs = 2,
                        .more = "checkpoint: {every_steps: 1}, "};
        const Trained whole = trained(wish);
        REQUIRE(whole.kept.size() == 8);
        CHECK(whole.kept[0].state.carried.size() == 4 * (5 + 5 + 4 + 6) * sizeof(double));
        for (const Kept& kept : whole.kept) {
            CAPTURE(kept.state.step);
            const Trained again = trained(wish, &kept);
            CHECK(again.parameters == whole.parameters);
            // Behind the last epoch there is none.
            if (!again.losses.empty()) CHECK(again.losses.back() == whole.losses.back());
        }
        // Without what was carried it would be another training.
        Kept lost = whole.kept[1];
        std::fill(lost.state.carried.begin(), lost.state.carried.end(), std::byte{0});
        CHECK(trained(wish, &lost).parameters != whole.parameters);
    }
}

TEST_CASE("two ranks, and gradients added up, train the lanes of one rank") {
    // 14 samples: of the last step of four lanes the first two have one more.
    const Wish one{.batch = 4, .windows = 14, .epochs = 3};
    Wish two = one;
    two.batch = 2;
    two.ranks = 2;
    const Trained alone = trained(one), together = trained(two);
    CHECK(together.same_on_all);
    REQUIRE(together.losses.size() == alone.losses.size());
    for (std::size_t i = 0; i < alone.losses.size(); ++i)
        CHECK(std::fabs(alone.losses[i] - together.losses[i]) <= 1e-12);
    CHECK(std::fabs(alone.test.loss() - together.test.loss()) <= 1e-12);
    for (std::size_t p = 0; p < alone.parameters.size(); ++p)
        for (std::size_t i = 0; i < alone.parameters[p].size(); ++i)
            CHECK(std::fabs(alone.parameters[p][i] - together.parameters[p][i]) <= 1e-12);
    // Batches of one update go on one behind the other, too: at so small a rate it is all the same.
    Wish summed = one, plain = one;
    summed.rate = plain.rate = 1e-30;
    summed.more = "accumulation: 2, ";
    CHECK(std::fabs(trained(summed).losses[0] - trained(plain).losses[0]) <= 1e-12);
}

TEST_CASE("within an epoch lanes go to other ranks, but not to another number of lanes") {
    const Wish two{.batch = 2, .ranks = 2, .windows = 14, .more = "checkpoint: {every_steps: 1}, "};
    Trained whole = trained(two);
    Kept kept = whole.kept[1];
    kept.state.batch_size = 2;
    Wish one = two;
    one.ranks = 1;
    one.batch = 4;
    const Trained alone = trained(one, &kept);
    for (std::size_t p = 0; p < whole.parameters.size(); ++p)
        for (std::size_t i = 0; i < whole.parameters[p].size(); ++i)
            CHECK(std::fabs(whole.parameters[p][i] - alone.parameters[p][i]) <= 1e-12);
    one.batch = 2;
    const DataFolder folder;
    const std::string error = train_on(1, plan_of(folder, one), &kept).error;
    CHECK_MESSAGE(error.find("4 lanes of samples") != std::string::npos, error);
}

}  // namespace carried_state_test
