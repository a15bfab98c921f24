#include "plan/rules/parallel.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "plan/rules/communication.hpp"
#include "plan/rules/exchange_model.hpp"
#include "plan/summary/summary.hpp"
#include "tests/unit/plan/sample_plan.hpp"

namespace parallel_test {

using namespace dtnn::plan;

TEST_CASE("every sample of a pass is taken once, by any number of ranks") {
    for (int ranks = 1; ranks <= 9; ++ranks) {
        for (const std::int64_t batch : {1, 2, 7, 64}) {
            for (const std::int64_t samples : {0, 1, 6, 7, 8, 63, 64, 65, 127, 449, 1001}) {
                CAPTURE(ranks);
                CAPTURE(batch);
                CAPTURE(samples);
                const std::int64_t steps = steps_of_pass(samples, batch, ranks);
                std::vector<int> taken(std::size_t(samples), 0);
                std::int64_t total = 0;
                for (std::int64_t step = 0; step < steps; ++step) {
                    std::int64_t of_step = 0, next = step * ranks * batch;
                    int tails = 0;
                    for (int rank = 0; rank < ranks; ++rank) {
                        const Part part = part_of(samples, batch, step, rank, ranks);
                        // Whole batches, then what is left over, then none: a plan's programs
                        // are for whole batches and for that rest.
                        CHECK((part.count == batch || part.count == samples % batch ||
                               part.count == 0));
                        tails += part.count > 0 && part.count < batch ? 1 : 0;
                        if (part.count > 0) CHECK(part.first == next);
                        next += part.count;
                        for (std::int64_t i = 0; i < part.count; ++i)
                            ++taken[std::size_t(part.first + i)];
                        of_step += part.count;
                    }
                    CHECK(tails <= (step + 1 == steps ? 1 : 0));
                    CHECK(of_step > 0);
                    if (step + 1 < steps) CHECK(of_step == batch * ranks);
                    CHECK(samples_of_steps(samples, batch, step, step + 1, ranks) == of_step);
                    total += of_step;
                    CHECK(samples_of_steps(samples, batch, 0, step + 1, ranks) == total);
                }
                for (const int count : taken)
                    CHECK(count == 1);
                CHECK(samples_of_steps(samples, batch, 0, steps + 3, ranks) == samples);
                for (int rank = 0; rank < ranks; ++rank)
                    CHECK(part_of(samples, batch, steps, rank, ranks).count == 0);
            }
        }
    }
}

TEST_CASE("a global step of many ranks has the samples of as many steps of one") {
    for (const int ranks : {2, 3, 8}) {
        const std::int64_t samples = 1001, batch = 7;
        for (std::int64_t step = 0; step < steps_of_pass(samples, batch, ranks); ++step)
            for (int rank = 0; rank < ranks; ++rank)
                CHECK(part_of(samples, batch, step, rank, ranks) ==
                      part_of(samples, batch, step * ranks + rank, 0, 1));
    }
}

TEST_CASE("extremes do not overflow") {
    constexpr std::int64_t kMost = std::int64_t{1} << 41;
    CHECK(steps_of_pass(kMost, 1, 1 << 20) == std::int64_t{1} << 21);
    CHECK(part_of(kMost, std::int64_t{1} << 31, 0, (1 << 20) - 1, 1 << 20).count == 0);
    CHECK(part_of(kMost, std::int64_t{1} << 31, 0, 1023, 1 << 20).count == std::int64_t{1} << 31);
    CHECK(part_of(kMost, 1, (std::int64_t{1} << 21) - 1, (1 << 20) - 1, 1 << 20).first ==
          kMost - 1);
}

TEST_CASE("steps of an epoch, with and without a limit") {
    Plan plan = parallel_sample_plan();
    CHECK(steps_per_epoch(plan, 1) == 5);
    CHECK(steps_per_epoch(plan, 2) == 3);
    CHECK(steps_per_epoch(plan, 5) == 1);
    plan.training.whole_epochs = false;
    plan.training.steps_per_epoch = 2;
    CHECK(steps_per_epoch(plan, 1) == 2);
    CHECK(steps_per_epoch(plan, 2) == 2);
    CHECK(steps_per_epoch(plan, 5) == 1);
}

TEST_CASE("which ranks a plan refuses") {
    Plan plan = sample_plan();
    CHECK(refuses_ranks(plan, 1).empty());
    CHECK(refuses_ranks(plan, 2) == "it is for one rank, and there are 2");
    plan = parallel_sample_plan();
    for (const int ranks : {1, 2, 3, 4096})
        CHECK(refuses_ranks(plan, ranks).empty());
    plan.parallel.any_ranks = false;
    CHECK(refuses_ranks(plan, 2).empty());
    CHECK(refuses_ranks(plan, 1) == "it is for 2 ranks, and there is 1");
    CHECK(refuses_ranks(plan, 3) == "it is for 2 ranks, and there are 3");
}

TEST_CASE("learning rates are scaled by the ranks") {
    Parallel parallel;
    CHECK(learning_rate_factor(parallel, 16) == 1);
    parallel.learning_rate_scaling = RateScaling::linear;
    CHECK(learning_rate_factor(parallel, 16) == 16);
    parallel.learning_rate_scaling = RateScaling::square_root;
    CHECK(learning_rate_factor(parallel, 16) == 4);
    CHECK(learning_rate_factor(parallel, 1) == 1);
}

TEST_CASE("the link is the network, the node where that is not known, or 10 Gbit/s") {
    Machine machine;
    CHECK(link_of(machine).latency == kUnknownLatency);
    CHECK(link_of(machine).bandwidth == kUnknownBandwidth);
    machine.local_latency = 1e-6;
    machine.local_bandwidth = 5e9;
    CHECK(link_of(machine).latency == 1e-6);
    CHECK(link_of(machine).bandwidth == 5e9);
    machine.network_latency = 2e-6;
    CHECK(link_of(machine).latency == 2e-6);
    CHECK(link_of(machine).bandwidth == 5e9);
    machine.network_bandwidth = 1e10;
    CHECK(link_of(machine).bandwidth == 1e10);
}

TEST_CASE("an all-reduce takes its rounds of latency and twice the bytes") {
    const Link link{1e-5, 1e9};
    CHECK(all_reduce_seconds(link, 1, 1000000) == 0);
    CHECK(all_reduce_seconds(link, 2, 1000000) == doctest::Approx(2e-5 + 1e-3));
    CHECK(all_reduce_seconds(link, 3, 1000000) == doctest::Approx(4e-5 + 4e-3 / 3));
    CHECK(all_reduce_seconds(link, 4, 1000000) == doctest::Approx(4e-5 + 1.5e-3));
    CHECK(all_reduce_seconds(link, 1024, 0) == doctest::Approx(2e-4));
    CHECK(all_reduce_wire_bytes(1, 100) == 0);
    CHECK(all_reduce_wire_bytes(4, 100) == 150);
}

TEST_CASE("buckets hide their latency, leave something to overlap, and are not tiny") {
    constexpr std::int64_t kMiB = 1 << 20;
    CHECK(bucket_bytes({1e-5, 1e10}, 1000 * kMiB) == 2000000);  // 1e-5 / 0.05 * 1e10
    CHECK(bucket_bytes({1e-5, 1e10}, 4 * kMiB) == kMiB);
    CHECK(bucket_bytes({1e-5, 1e10}, 1000) == kLeastBucketBytes);
    CHECK(bucket_bytes({0, 1e10}, 1000 * kMiB) == kLeastBucketBytes);
    CHECK(bucket_bytes({1e300, 1e300}, 1000 * kMiB) == 250 * kMiB);
    CHECK(bucket_bytes({}, 1000 * kMiB) == 500000);
}

TEST_CASE("what an update exchanges, in figures and words") {
    Plan plan = parallel_sample_plan();
    const Communication all = communication_of(plan);
    CHECK(all.global_batch == 4);
    CHECK(all.exchanges == std::vector<std::int64_t>{48});
    CHECK(all.wire_bytes == 48);
    CHECK(all.seconds == 4.5e-5);
    CHECK(parallel_words(plan) ==
          "data: 2 ranks or any other number, a global batch of 4 samples; exchanges overlap the "
          "backward part; local batch statistics");
    CHECK(exchange_words(plan) ==
          "1 for an update, of 48 bytes; each rank sends 48 bytes; 45.0 us foreseen, cluster");
    const std::string table = summary_text(plan, 200);
    CHECK(table.find("parallel    data: 2 ranks") != std::string::npos);
    CHECK(table.find("exchanges   1 for an update") != std::string::npos);
    // The two ends of the exchange are no kernels.
    CHECK(work_of(plan).train_steps == work_of(sample_plan()).train_steps);
    CHECK(summary_json(plan).find("\"exchanges\": [48], \"bytes\": 48, \"wire_bytes\": 48, "
                                  "\"seconds\": 4.5e-05}}") != std::string::npos);
    CHECK(summary_json(sample_plan()).find("\"parallel\"") == std::string::npos);
    CHECK(summary_text(sample_plan(), 200).find("exchanges") == std::string::npos);

    plan.parallel.any_ranks = false;
    plan.parallel.reduction = ReductionMode::blocking;
    plan.parallel.learning_rate_scaling = RateScaling::square_root;
    plan.machine.name.clear();
    plan.training.accumulation = 5;
    CHECK(parallel_words(plan) ==
          "data: 2 ranks, a global batch of 20 samples; exchanges behind the backward part; local "
          "batch statistics; learning rate scaled by the square root of the ranks");
    CHECK(exchange_words(plan).ends_with("45.0 us foreseen, on a network that is not known"));
    for (int i = 0; i < 9; ++i)
        plan.programs[0].collectives.push_back(plan.programs[0].collectives[0]);
    plan.programs[0].collectives[4].bytes = 96;
    CHECK(exchange_words(plan).starts_with("10 for an update, of 48 bytes to 96 bytes; "));
    plan.programs[0].collectives.clear();
    CHECK(exchange_words(plan) == "none");
}

}  // namespace parallel_test
