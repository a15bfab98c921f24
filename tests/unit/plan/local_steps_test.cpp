/// Local steps: when ranks average their weights, and what each weighs.

#include "plan/rules/local_steps.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

namespace local_steps_test {

using namespace dtnn;
using namespace dtnn::plan;

namespace {

Plan plan_of(Participation participation, std::int64_t every, std::int64_t batch = 2) {
    Plan plan;
    plan.parallel.data = true;
    plan.parallel.local_steps = every;
    plan.parallel.participation = participation;
    plan.training.batch_size = batch;
    return plan;
}

Plan private_plan(Participation participation, std::int64_t every, std::int64_t batch = 2) {
    Plan plan = plan_of(participation, every, batch);
    plan.parallel.private_data = true;
    return plan;
}

void check_shares(const std::vector<double>& shares, const std::vector<double>& wanted) {
    REQUIRE(shares.size() == wanted.size());
    for (std::size_t i = 0; i < shares.size(); ++i)
        CHECK(std::fabs(shares[i] - wanted[i]) < 1e-15);
    CHECK(std::fabs(std::accumulate(shares.begin(), shares.end(), 0.0) - 1) < 1e-15);
}

const std::vector<bool> kAll(3, true);

}  // namespace

TEST_CASE("shares by hand add up to one") {
    const std::vector<std::int64_t> samples = {100, 100, 400};
    check_shares(average_shares(WeightAverage::avg, samples, kAll), {1. / 3, 1. / 3, 1. / 3});
    check_shares(average_shares(WeightAverage::wavg, samples, kAll), {1. / 6, 1. / 6, 4. / 6});
    // 1/100, 1/100 and 1/400 of 9/400; (least + most - n) / sum would be 400/600 twice, and
    // 100/600: one and a half.
    check_shares(average_shares(WeightAverage::invwavg, samples, kAll), {4. / 9, 4. / 9, 1. / 9});
    const std::vector<std::int64_t> four = {10, 20, 30, 1000};
    const std::vector<double> inverse =
        average_shares(WeightAverage::invwavg, four, std::vector<bool>(4, true));
    CHECK(std::fabs(std::accumulate(inverse.begin(), inverse.end(), 0.0) - 1) < 1e-15);
    CHECK(inverse[0] == doctest::Approx(2 * inverse[1]));
    CHECK(inverse[0] == doctest::Approx(100 * inverse[3]));
}

TEST_CASE("ranks that do not contribute weigh nothing, and the others one") {
    const std::vector<std::int64_t> samples = {100, 100, 400};
    const std::vector<bool> last_two = {false, true, true};
    check_shares(average_shares(WeightAverage::avg, samples, last_two), {0, 0.5, 0.5});
    check_shares(average_shares(WeightAverage::wavg, samples, last_two), {0, 0.2, 0.8});
    check_shares(average_shares(WeightAverage::invwavg, samples, last_two), {0, 0.8, 0.2});
}

TEST_CASE("rounded shares add up to one exactly") {
    for (int ranks = 1; ranks <= 200; ++ranks) {
        const std::vector<double> shares =
            rounded_shares(std::vector<double>(std::size_t(ranks), 1.0 / ranks), DType::f32);
        double sum = 0;
        for (const double share : shares) {
            CHECK(share == double(float(share)));
            sum += share;
        }
        // But for the rounding of the one that takes what is missing.
        CHECK(std::fabs(sum - 1) <= 0x1p-25 / ranks);
    }
    CHECK(std::fabs(3.0 * double(1.0F / 3) - 1) > 2e-8);  // without it
}

TEST_CASE("with all an epoch ends with the rank that has the fewest batches") {
    const LocalSteps steps(private_plan(Participation::all, 3), {10, 9, 40});
    CHECK(steps.steps() == 4);  // of the second: whole batches of two
    for (int rank = 0; rank < 3; ++rank) {
        CHECK(steps.batches(rank) == 4);
        CHECK(steps.part(rank, 3) == Part{6, 2});
        CHECK(steps.part(rank, 4).count == 0);
    }
    CHECK(steps.samples_before(3) == 18);
    CHECK_FALSE(steps.due(2));
    CHECK(steps.due(3));
    CHECK(steps.due(4));
    CHECK(steps.shares(2).empty());
    check_shares(steps.shares(3), {1. / 3, 1. / 3, 1. / 3});
    check_shares(steps.shares(4), {1. / 3, 1. / 3, 1. / 3});
    CHECK(steps.count() == 2);
}

TEST_CASE("with avail2all ranks contribute that have trained since the last average") {
    Plan plan = private_plan(Participation::avail2all, 2);
    plan.parallel.average = WeightAverage::wavg;
    const LocalSteps steps(plan, {2, 8, 12});  // 1, 4 and 6 batches
    CHECK(steps.steps() == 6);
    CHECK(steps.batches(0) == 1);
    CHECK(steps.part(0, 0) == Part{0, 2});
    CHECK(steps.part(0, 1).count == 0);
    CHECK(steps.part(2, 5) == Part{10, 2});
    CHECK(steps.samples_before(2) == 10);
    CHECK(steps.samples_before(6) == 22);
    // The first step of the first rank is in the first average though it has no second.
    check_shares(steps.shares(2), {2. / 22, 8. / 22, 12. / 22});
    check_shares(steps.shares(4), {0, 0.4, 0.6});
    check_shares(steps.shares(6), {0, 0, 1});
    CHECK(steps.count() == 3);
}

TEST_CASE("below min_avail no average takes place, but at the end of an epoch") {
    Plan plan = private_plan(Participation::avail2all, 1);
    plan.parallel.min_avail = 2;
    const LocalSteps two(plan, {2, 4, 8});  // 1, 2 and 4 batches
    CHECK_FALSE(two.shares(1).empty());
    check_shares(two.shares(2), {0, 0.5, 0.5});
    CHECK(two.due(3));
    CHECK(two.shares(3).empty());
    check_shares(two.shares(4), {0, 0, 1});
    CHECK(two.count() == 3);
    plan.parallel.min_avail = 3;
    const LocalSteps three(plan, {2, 4, 8});
    check_shares(three.shares(1), {1. / 3, 1. / 3, 1. / 3});
    CHECK(three.shares(2).empty());
    CHECK(three.shares(3).empty());
    // The steps that the second rank has done since are in it.
    check_shares(three.shares(4), {0, 0.5, 0.5});
    CHECK(three.count() == 2);
}

TEST_CASE("updates of accumulated batches are counted by rank") {
    Plan plan = private_plan(Participation::avail2all, 2);
    plan.training.accumulation = 3;
    const LocalSteps steps(plan, {8, 20});  // 4 and 10 batches: 2 and 4 updates
    CHECK_FALSE(steps.due(2));
    CHECK(steps.due(6));
    CHECK(steps.due(10));
    CHECK(steps.updates(0, 2));
    CHECK(steps.updates(0, 3));  // its last batch
    CHECK_FALSE(steps.updates(1, 3));
    CHECK(steps.updates(1, 9));
    CHECK(steps.updates_before(0, 0, 3) == 1);
    CHECK(steps.updates_before(0, 0, 4) == 2);
    CHECK(steps.updates_before(0, 0, 9) == 2);
    CHECK(steps.updates_before(0, 5, 0) == 10);
    CHECK(steps.updates_before(1, 2, 6) == 10);
    CHECK(steps.samples_of(0, 3, 6) == 2);
}

TEST_CASE("ranks share one dataset as they do where gradients are exchanged") {
    Plan plan = plan_of(Participation::all, 4, 10);
    plan.dataset.train_samples = 75;  // 8 batches, the last of 5
    const LocalSteps all(plan, 3);
    CHECK(all.steps() == 2);
    CHECK(steps_per_epoch(plan, 3) == 2);
    CHECK(all.samples(0) == 20);
    CHECK(all.part(2, 1) == Part{50, 10});
    CHECK(all.samples_before(2) == 60);
    plan.parallel.participation = Participation::avail2all;
    plan.parallel.average = WeightAverage::wavg;
    const LocalSteps available(plan, 3);
    CHECK(available.steps() == 3);
    CHECK(available.samples(0) == 30);
    CHECK(available.samples(1) == 25);
    CHECK(available.samples(2) == 20);
    CHECK(available.part(1, 2) == Part{70, 5});
    CHECK(available.samples_before(3) == 75);
    check_shares(available.shares(3), {30. / 75, 25. / 75, 20. / 75});
    // A job's limit cuts all short.
    plan.training.whole_epochs = false;
    plan.training.steps_per_epoch = 2;
    CHECK(LocalSteps(plan, 3).steps() == 2);
    CHECK(LocalSteps(plan, 3).samples(1) == 20);
}

TEST_CASE("plans say which ranks cannot move weights of their own") {
    Plan plan = plan_of(Participation::all, 4, 10);
    plan.dataset.train_samples = 35;
    CHECK(refuses_ranks(plan, 4) == "");
    CHECK(refuses_ranks(plan, 5).find("leave some of 5 ranks without one") != std::string::npos);
    plan.parallel.participation = Participation::avail2all;
    CHECK(refuses_ranks(plan, 5) == "");
    plan.parallel.min_avail = 6;
    CHECK(refuses_ranks(plan, 5).find("at least 6 ranks") != std::string::npos);
}

TEST_CASE("paths of ranks") {
    CHECK(path_of_rank("data/rank_${rank}/${rank}.npz", 12) == "data/rank_12/12.npz");
    CHECK(path_of_rank("data/mnist", 3) == "data/mnist");
}

}  // namespace local_steps_test
