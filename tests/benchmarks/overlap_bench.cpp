// The part of a network's time that is hidden behind backward:
//
//     overlap_bench OVERLAPPED.plan.json BLOCKING.plan.json LATENCY BANDWIDTH [ROUNDS [STEPS]]
//
// Two ranks that are threads, on a network of LATENCY seconds and BANDWIDTH bytes/s whose time
// passes on a thread that sleeps. Each round trains STEPS steps of the first plan without any
// exchange (what computing alone takes), of the first plan, and of the second; printed, as JSON, is
// the least of the rounds' medians, in seconds of a step, and the seconds of backward in it.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/file_limits.hpp"
#include "plan/json/json.hpp"
#include "runtime/base/regular_file.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/comm/null_ranks.hpp"
#include "runtime/data/sample_source.hpp"
#include "runtime/train/bench.hpp"
#include "runtime/train/session.hpp"
#include "tests/ranks/threads/in_process.hpp"

namespace dtnn::runtime {
namespace {

constexpr int kRanks = 2;

struct Measured {
    double step = 0, backward = 0;
};

using Ranks = std::vector<std::unique_ptr<Communicator>>;

/// Together, one thread a rank; the slowest rank's figures.
Measured measure(const plan::Plan& plan, const Ranks& ranks, std::int64_t steps, bool per_step) {
    std::array<Measured, kRanks> of;
    std::vector<std::thread> threads;
    for (int rank = 0; rank < kRanks; ++rank) {
        threads.emplace_back([&, rank] {
            Measured& own = of[std::size_t(rank)];
            try {
                Session session(plan, 1, made_up_source(plan.dataset), *ranks[std::size_t(rank)]);
                const BenchResult result =
                    bench(session, {.steps = steps, .warm_up = 2, .per_step = per_step});
                own.step = spread_of(result.seconds).median;
                for (std::size_t i = 0; i < result.program_step_seconds.size(); ++i)
                    if (result.program->steps[i].phase == dtnn::plan::StepPhase::backward)
                        own.backward += result.program_step_seconds[i];
            } catch (const RunError& error) {
                fmt::print(stderr, "{}\n", error.render(false));
                std::_Exit(int(error.exit()));
            }
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    return {std::max(of[0].step, of[1].step), std::max(of[0].backward, of[1].backward)};
}

Ranks alone() {
    Ranks ranks;
    for (int rank = 0; rank < kRanks; ++rank)
        ranks.push_back(make_null(rank, kRanks));
    return ranks;
}

plan::Plan load(const char* file) {
    plan::ReadResult read = plan::read_plan(read_file(file, kMostPlanBytes, "a plan"));
    if (!read.plan) throw RunError(Exit::mismatch, std::string(file) + ": " + read.error);
    return std::move(*read.plan);
}

int run(int count, char** words) {
    if (count < 5) {
        fmt::print(stderr,
                   "usage: overlap_bench OVERLAPPED BLOCKING LATENCY BANDWIDTH [ROUNDS [STEPS]]\n");
        return int(Exit::usage);
    }
    const plan::Plan overlapped = load(words[1]), blocking = load(words[2]);
    const double latency = std::atof(words[3]), bandwidth = std::atof(words[4]);
    const int rounds = count > 5 ? std::atoi(words[5]) : 3;
    const std::int64_t steps = count > 6 ? std::atoi(words[6]) : 12;
    // An all-reduce between two is two messages, one after the other, of half of the bytes each.
    const Delay delay{2 * latency, 1 / bandwidth};
    Measured compute, hidden, exposed;
    const auto keep = [](Measured& least, const Measured& now) {
        if (least.step == 0 || now.step < least.step) least.step = now.step;
        if (least.backward == 0 || now.backward < least.backward) least.backward = now.backward;
    };
    for (int round = 0; round < rounds; ++round) {
        keep(compute, measure(overlapped, alone(), steps, true));
        keep(hidden, measure(overlapped, make_in_process(kRanks, delay), steps, false));
        keep(exposed, measure(blocking, make_in_process(kRanks, delay), steps, false));
    }
    fmt::print("{{\"compute\": {}, \"backward\": {}, \"overlapped\": {}, \"blocking\": {}}}\n",
               compute.step, compute.backward, hidden.step, exposed.step);
    return 0;
}

}  // namespace
}  // namespace dtnn::runtime

int main(int count, char** words) {
    try {
        return dtnn::runtime::run(count, words);
    } catch (const dtnn::runtime::RunError& error) {
        fmt::print(stderr, "{}\n", error.render(false));
        return int(error.exit());
    }
}
