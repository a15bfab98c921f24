// The times of reductions between the ranks that calibration was started with.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <set>
#include <vector>

#include "runtime/base/clock.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/comm/open.hpp"
#include "tools/dtnnc_runtime/calibrate/calibrate.hpp"

namespace dtnn::tools {
namespace {

using runtime::Communicator;

/// Bytes of a reduction: the small ones show the latency, the large ones the bandwidth, and all of
/// them whether the model fits.
constexpr std::array<std::int64_t, 7> kSizes = {64,      1 << 10, 16 << 10, 256 << 10,
                                                1 << 20, 4 << 20, 16 << 20};
constexpr double kSecondsEach = 0.6;  ///< of each size

/// The least time of a reduction, on the rank that was slowest in it.
double reduction_seconds(Communicator& ranks, std::vector<float>& memory, std::int64_t bytes) {
    const std::int64_t elements = bytes / std::int64_t(sizeof(float));
    const auto exchange = ranks.all_reduce(memory.data(), elements, DType::f32,
                                           runtime::Reduction::sum, "calibration");
    // All ranks go as many rounds: the first decides, from one that warms up.
    ranks.barrier("calibration");
    runtime::Stopwatch watch;
    exchange->start();
    exchange->wait();
    std::array<std::byte, sizeof(int)> word{};
    int rounds = int(std::clamp(kSecondsEach / std::max(watch.seconds(), 1e-6), 5.0, 2000.0));
    std::memcpy(word.data(), &rounds, sizeof rounds);
    ranks.broadcast(word, 0, "calibration: rounds");
    std::memcpy(&rounds, word.data(), sizeof rounds);
    double least = 1e30;
    for (int round = 0; round < rounds; ++round) {
        watch.restart();
        exchange->start();
        exchange->wait();
        least = std::min(least, watch.seconds());
    }
    std::array<std::byte, sizeof(double)> mine{};
    std::memcpy(mine.data(), &least, sizeof least);
    for (const std::vector<std::byte>& of_rank : ranks.all_gather(mine, "calibration: times")) {
        double seconds = 0;
        std::memcpy(&seconds, of_rank.data(), sizeof seconds);
        least = std::max(least, seconds);
    }
    return least;
}

int nodes_of(Communicator& ranks) {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    const auto bytes = std::as_bytes(std::span(name));
    std::set<std::vector<std::byte>> names;
    for (std::vector<std::byte>& of_rank : ranks.all_gather(bytes, "calibration: nodes"))
        names.insert(std::move(of_rank));
    return int(names.size());
}

}  // namespace

MeasuredRanks measure_ranks() {
    MeasuredRanks result;
    const std::unique_ptr<Communicator> ranks = runtime::make_communicator();
    result.rank = ranks->rank();
    result.ranks = ranks->ranks();
    if (result.ranks < 2) return result;
    result.nodes = nodes_of(*ranks);
    std::vector<float> memory(std::size_t(kSizes.back()) / sizeof(float));
    for (const std::int64_t bytes : kSizes)
        result.times.emplace_back(bytes, reduction_seconds(*ranks, memory, bytes));
    return result;
}

}  // namespace dtnn::tools
