/// Ranks that move weights of their own.

#include "plan/rules/local_steps.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "tests/ranks/local_steps/local_training.hpp"

namespace dtnn::local_steps_test {
namespace {

/// One weight w, from 0. Every sample of a rank is x = 1 with the rank's y, and the loss is
/// (w - y)^2, so that with the learning rate 1/4 an update makes w the mean of w and y.
struct OneWeight {
    std::string average = "avg";
    std::string participation = "all";
    int every = 1;
    int min_avail = 0;
    int epochs = 1;
    std::vector<int> samples;  ///< by rank, in batches of two
};
constexpr double kTargets[] = {8, 16, 32};

double weight_after(const OneWeight& wish, Trained* whole = nullptr) {
    const DataFolder folder;
    for (std::size_t rank = 0; rank < wish.samples.size(); ++rank)
        folder.write_pairs(fmt::format("rank_{}", rank), 1, kTargets[rank], wish.samples[rank]);
    folder.write_pairs("test", 1, 10, 3);
    const plan::Plan plan = compiled(fmt::format(
        "kind: job\n"
        "model: {{input: {{shape: [1, 1, 1]}}, layers: [flatten, dense: {{units: 1, "
        "weights_initializer: zeros}}]}}\n"
        "dataset: {{type: csv, path: \"{}/rank_${{rank}}.csv\", test_path: \"{}/test.csv\", shape: "
        "[1, 1, 1], classes: 1, label_kind: values, header: false, train_samples: 100, "
        "test_samples: 3}}\n"
        "training: {{optimizer: {{sgd: {{learning_rate: 0.25, momentum: 0}}}}, groups: "
        "[{{parameters: "
        "\"*.bias\", "
        "frozen: true}}], loss: mean_squared_error, metrics: [], batch_size: 2, epochs: {}, dtype: "
        "f64}}\n"
        "parallel: {{data: auto, synchronise: {{every: {}, average: {}, participation: {}, "
        "min_avail: {}}}}}\n",
        folder / "", folder / "", wish.epochs, wish.every, wish.average, wish.participation,
        wish.min_avail));
    const Trained trained = train_on(int(wish.samples.size()), plan);
    CHECK(trained.error == "");
    CHECK(trained.same_on_all);
    if (whole != nullptr) *whole = trained;
    if (trained.parameters.empty()) return NAN;
    return trained.of(plan, "dense_1.weights")[0];
}

void check_near(double a, double b) {
    CHECK(std::fabs(a - b) <= 1e-12 * std::max(std::fabs(a), std::fabs(b)));
}

constexpr const char* kNetwork =
    "model: {input: {shape: [1, 28, 28]}, layers: [conv2d: {filters: 3, kernel: 5, stride: 3, "
    "bias: "
    "false}, batch_norm, relu, flatten, dense: {units: 10}, softmax]}\n";

}  // namespace

TEST_CASE("three ranks that all take part, by hand") {
    // One update of each rank: 4, 8 and 16.
    check_near(weight_after({.samples = {2, 4, 6}}), 28. / 3);
    check_near(weight_after({.average = "wavg", .samples = {2, 4, 6}}),
               (2 * 4. + 4 * 8. + 6 * 16.) / 12);
    // 1/2, 1/4, 1/12 of 10/12.
    check_near(weight_after({.average = "invwavg", .samples = {2, 4, 12}}),
               (6 * 4. + 3 * 8. + 1 * 16.) / 10);
    // Two updates before they take the mean: 6, 12 and 24; then one more each, of 14.
    Trained whole;
    check_near(weight_after({.every = 2, .samples = {6, 6, 6}}, &whole),
               ((14 + 8) / 2. + (14 + 16) / 2. + (14 + 32) / 2.) / 3);
    CHECK(whole.samples.front() == 18);
    CHECK(whole.own_steps == std::vector<std::int64_t>{3, 3, 3});
    // The epoch is over with the data of the first; the next begins with the mean, 28/3.
    check_near(weight_after({.epochs = 2, .samples = {3, 4, 60}}, &whole),
               ((28. / 3 + 8) / 2 + (28. / 3 + 16) / 2 + (28. / 3 + 32) / 2) / 3);
    CHECK(whole.own_steps == std::vector<std::int64_t>{2, 2, 2});
    CHECK(whole.samples == std::vector<std::int64_t>{6, 6});
    // The test is each rank's own, of three samples with y = 10.
    CHECK(whole.test.samples == 9);
}

TEST_CASE("three ranks of which some have data left, by hand") {
    const double one = 28. / 3;  // after the first update of all
    Trained whole;
    const double two = ((one + 16) / 2 + (one + 32) / 2) / 2;
    check_near(weight_after({.participation = "avail2all", .samples = {2, 4, 6}}, &whole),
               (two + 32) / 2);
    CHECK(whole.own_steps == std::vector<std::int64_t>{1, 2, 3});
    CHECK(whole.samples.front() == 12);
    // By samples 4 and 6 of 10; by the inverse the other way round.
    const double by = (2 * 4. + 4 * 8. + 6 * 16.) / 12;
    const double by_two = 0.4 * (by + 16) / 2 + 0.6 * (by + 32) / 2;
    check_near(
        weight_after({.average = "wavg", .participation = "avail2all", .samples = {2, 4, 6}}),
        (by_two + 32) / 2);
    const double inverse = (6 * 4. + 3 * 8. + 2 * 16.) / 11;
    const double inverse_two = 0.6 * (inverse + 16) / 2 + 0.4 * (inverse + 32) / 2;
    check_near(
        weight_after({.average = "invwavg", .participation = "avail2all", .samples = {2, 4, 6}}),
        (inverse_two + 32) / 2);
    // Every two updates: the first rank's one update is in the first mean, (4 + 12 + 24) / 3.
    const double first = 40. / 3;
    check_near(weight_after({.participation = "avail2all", .every = 2, .samples = {2, 4, 6}}),
               (first + 32) / 2);
}

TEST_CASE("below min_avail ranks go on by themselves until the epoch ends, by hand") {
    const double one = 28. / 3;
    // Batches 1, 2 and 4. With three at least, the second rank's one update and the third's three
    // since the first mean are averaged at the end.
    const double second = (one + 16) / 2;
    const double third = (((one + 32) / 2 + 32) / 2 + 32) / 2;
    Trained whole;
    check_near(
        weight_after({.participation = "avail2all", .min_avail = 3, .samples = {2, 4, 8}}, &whole),
        (second + third) / 2);
    CHECK(whole.own_steps == std::vector<std::int64_t>{1, 2, 4});
    // With two at least, there is a second mean.
    const double two = (second + (one + 32) / 2) / 2;
    check_near(weight_after({.participation = "avail2all", .min_avail = 2, .samples = {2, 4, 8}}),
               ((two + 32) / 2 + 32) / 2);
}

TEST_CASE("a loss that is no number on one rank ends all where they average") {
    const DataFolder folder;
    for (int rank = 0; rank < 3; ++rank)
        folder.write_pairs(fmt::format("rank_{}", rank), rank == 1 ? 1e30 : 1, 8, 12);
    folder.write_pairs("test", 1, 10, 3);
    const plan::Plan plan = compiled(fmt::format(
        "kind: job\nmodel: {{input: {{shape: [1, 1, 1]}}, layers: [flatten, dense: {{units: "
        "1}}]}}\n"
        "dataset: {{type: csv, path: \"{}/rank_${{rank}}.csv\", test_path: \"{}/test.csv\", "
        "shape: [1, 1, 1], classes: 1, label_kind: values, header: false, train_samples: 12, "
        "test_samples: 3}}\n"
        "training: {{optimizer: sgd, loss: mean_squared_error, metrics: [], batch_size: 2}}\n"
        "parallel: {{data: auto, synchronise: {{every: 4}}}}\n",
        folder / "", folder / ""));
    const Trained trained = train_on(3, plan);
    CAPTURE(trained.error);
    CHECK(trained.error.find("the loss of rank 1") != std::string::npos);
    CHECK(trained.error.find("step 1") != std::string::npos);
}

TEST_CASE("ranks that cannot take part are refused by name") {
    Trained whole;
    CHECK(std::isnan([&] {
        const DataFolder folder;
        folder.write_pairs("rank_0", 1, 8, 4);
        folder.write_pairs("rank_1", 1, 8, 1);
        folder.write_pairs("test", 1, 10, 3);
        const plan::Plan plan = compiled(fmt::format(
            "kind: job\nmodel: {{input: {{shape: [1, 1, 1]}}, layers: [flatten, dense: {{units: "
            "1}}]}}\n"
            "dataset: {{type: csv, path: \"{}/rank_${{rank}}.csv\", test_path: \"{}/test.csv\", "
            "shape: [1, 1, 1], classes: 1, label_kind: values, header: false, train_samples: 3, "
            "test_samples: 3}}\n"
            "training: {{optimizer: sgd, loss: mean_squared_error, metrics: [], batch_size: 2}}\n"
            "parallel: {{data: auto, synchronise: {{every: 1}}}}\n",
            folder / "", folder / ""));
        whole = train_on(2, plan);
        return NAN;
    }()));
    CAPTURE(whole.error);
    CHECK(whole.error.find("rank_0.csv has 4 samples") != std::string::npos);
    CHECK(whole.error.find("at most 3") != std::string::npos);
}

TEST_CASE("averaging after every update of plain sgd is averaging gradients") {
    const std::string job =
        "kind: job\nmodel: {input: {shape: [1, 28, 28]}, layers: [conv2d: {filters: 3, kernel: 5, "
        "stride: 3}, relu, flatten, dense: {units: 10}, softmax]}\n"
        "dataset: {type: digits, train_samples: 48, test_samples: 10}\n"
        "training: {optimizer: {sgd: {learning_rate: 0.1, momentum: 0}}, batch_size: 4, epochs: 3, "
        "dtype: "
        "f64}\n";
    const plan::Plan local = compiled(job + "parallel: {data: auto, synchronise: {every: 1}}\n");
    const plan::Plan shared = compiled(job + "parallel: {data: auto}\n");
    const Trained a = train_on(3, local), b = train_on(3, shared);
    CHECK(a.error == "");
    CHECK(b.error == "");
    CHECK(a.steps == 12);
    REQUIRE(a.parameters.size() == b.parameters.size());
    for (std::size_t p = 0; p < a.parameters.size(); ++p) {
        REQUIRE(local.parameters[p].name == shared.parameters[p].name);
        for (std::size_t i = 0; i < a.parameters[p].size(); ++i)
            CHECK(std::fabs(a.parameters[p][i] - b.parameters[p][i]) < 1e-12);
    }
    for (std::size_t epoch = 0; epoch < a.losses.size(); ++epoch)
        check_near(a.losses[epoch], b.losses[epoch]);
}

TEST_CASE("a mean is that of ranks that train alone, moving statistics included") {
    const DataFolder folder;
    const std::vector<std::int64_t> samples = {9, 8, 21};
    for (int rank = 0; rank < 3; ++rank)
        folder.write_mnist(fmt::format("rank_{}", rank), int(samples[std::size_t(rank)]), 5,
                           unsigned(rank) + 1);
    const auto job = [&](const std::string& path, const std::string& train) {
        return fmt::format(
            "kind: job\n{}dataset: {{type: mnist, path: \"{}\", train_samples: {}, test_samples: "
            "5}}\ntraining: {{optimizer: {{adam: {{learning_rate: 0.01}}}}, batch_size: 4, epochs: "
            "1, steps_per_epoch: 2, dtype: f64}}\n",
            kNetwork, folder / path, train);
    };
    const plan::Plan plan =
        compiled(job("rank_${rank}", "30") +
                 "parallel: {data: auto, synchronise: {every: 5, average: wavg}}\n");
    const Trained together = train_on(3, plan);
    CHECK(together.error == "");
    CHECK(together.same_on_all);
    CHECK(together.test.samples == 15);
    std::vector<Trained> alone;
    for (int rank = 0; rank < 3; ++rank) {
        const plan::Plan own =
            compiled(job(fmt::format("rank_{}", rank), std::to_string(samples[std::size_t(rank)])));
        alone.push_back(train_on(1, own));
        CHECK(alone.back().error == "");
    }
    const double all = 9 + 8 + 21;
    bool statistics = false;
    for (std::size_t p = 0; p < plan.parameters.size(); ++p) {
        const plan::Parameter& parameter = plan.parameters[p];
        if (parameter.by_rank) {
            CHECK(parameter.optimizer_state);
            CHECK(together.parameters[p] == alone[0].parameters[p]);
            continue;
        }
        statistics = statistics || parameter.role == "running_mean";
        for (std::size_t i = 0; i < together.parameters[p].size(); ++i) {
            double mean = 0;
            for (std::size_t rank = 0; rank < 3; ++rank)
                mean += double(samples[rank]) / all * alone[rank].parameters[p][i];
            CHECK(std::fabs(mean - together.parameters[p][i]) < 1e-12);
        }
    }
    CHECK(statistics);
}

TEST_CASE("a training by local steps goes on with the same bits") {
    const std::string job = fmt::format(
        "kind: job\n{}dataset: {{type: digits, train_samples: 100, test_samples: 20}}\n"
        "training: {{optimizer: {{adam: {{learning_rate: 0.01}}}}, batch_size: 4, epochs: "
        "2, average: {{decay: 0.9}}, checkpoint: {{every_steps: 2}}}}\n"
        "parallel: {{data: auto, synchronise: {{every: 3, participation: avail2all}}}}\n",
        kNetwork);
    const plan::Plan plan = compiled(job);
    const Trained whole = train_on(3, plan);
    CHECK(whole.error == "");
    CHECK(whole.same_on_all);
    // 25 batches: 9 steps, of which the last has samples for one rank.
    CHECK(whole.steps == 18);
    CHECK(whole.own_steps == std::vector<std::int64_t>{18, 16, 16});
    // The steps at which an average is due, and no others.
    std::vector<std::int64_t> steps;
    for (const Kept& kept : whole.kept) {
        steps.push_back(kept.state.step);
        CHECK(!kept.state.own_states.empty());
    }
    CHECK(steps == std::vector<std::int64_t>{3, 6, 9, 12, 15, 18});
    for (const Kept& kept : whole.kept) {
        CAPTURE(kept.state.step);
        const Trained again = train_on(3, plan, &kept);
        CHECK(again.error == "");
        for (std::size_t p = 0; p < plan.parameters.size(); ++p)
            CHECK(again.parameters[p] == whole.parameters[p]);
        CHECK(again.test.loss() == whole.test.loss());
    }
    const Trained fewer = train_on(2, plan, &whole.kept[0]);
    CAPTURE(fewer.error);
    CHECK(fewer.error.find("2 ranks cannot go on from a training of 3") != std::string::npos);
    // The ranks' optimizers have states of their own.
    Kept lost = whole.kept[1];
    lost.state.own_states.assign(lost.state.own_states.size(), std::byte{0});
    CHECK(train_on(3, plan, &lost).parameters[0] != whole.parameters[0]);
}

}  // namespace dtnn::local_steps_test
