#include "kernels/thread_team.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cfloat>
#include <chrono>
#include <thread>
#include <vector>

#include "kernels/architecture.hpp"
#include "kernels/subnormals.hpp"

namespace dtnn::kernels::thread_team_test {
namespace {

TEST_CASE("every member runs once, also after the team has gone to sleep") {
    for (const int size : {1, 2, 3, 5}) {
        ThreadTeam team(size);
        std::vector<int> runs(std::size_t(size), 0);
        for (int round = 0; round < 2000; ++round) {
            team.run([&](int member) { ++runs[std::size_t(member)]; });
            if (round % 500 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        for (const int count : runs)
            CHECK(count == 2000);
    }
}

/// Half the least normal number, on every member.
std::vector<float> halves_of_least(ThreadTeam& team) {
    std::vector<float> halves(std::size_t(team.size()), -1);
    volatile float least = FLT_MIN;
    team.run([&](int member) { halves[std::size_t(member)] = least / 2; });
    return halves;
}

TEST_CASE("members flush subnormal numbers exactly while their caller does") {
    ThreadTeam team(3);
    const std::vector<float> kept(3, FLT_MIN / 2), flushed(3, 0.0F);
    CHECK(halves_of_least(team) == kept);
    {
        const SubnormalsFlushed scope(true);
        CHECK(halves_of_least(team) == (architecture::kFlushes != 0 ? flushed : kept));
        const SubnormalsFlushed nothing(false);
    }
    CHECK(halves_of_least(team) == kept);
    const SubnormalsFlushed nothing(false);
    CHECK(halves_of_least(team) == kept);
}

TEST_CASE("what members wrote is seen after the run, and what the caller wrote within it") {
    ThreadTeam team(4);
    std::vector<std::int64_t> numbers(1000);
    std::int64_t expected = 0;
    for (std::int64_t round = 0; round < 500; ++round) {
        team.for_ranges(1000, 1, [&](std::int64_t begin, std::int64_t end, int) {
            for (std::int64_t i = begin; i < end; ++i)
                numbers[std::size_t(i)] += round;
        });
        expected += round;
        for (const std::int64_t number : numbers)
            REQUIRE(number == expected);
    }
}

TEST_CASE("ranges cover everything once, in multiples of the grain") {
    for (const int size : {1, 2, 3, 4}) {
        ThreadTeam team(size);
        for (const std::int64_t count : {0, 1, 2, 5, 16, 63, 64, 65, 1000}) {
            for (const std::int64_t grain : {1, 8, 64}) {
                std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
                std::atomic<bool> aligned{true};
                team.for_ranges(count, grain, [&](std::int64_t begin, std::int64_t end, int) {
                    if (begin % grain != 0 || (end != count && end % grain != 0)) aligned = false;
                    for (std::int64_t i = begin; i < end; ++i)
                        ++seen[std::size_t(i)];
                });
                CHECK(aligned);
                for (const auto& times : seen)
                    REQUIRE(times == 1);
            }
        }
    }
}

TEST_CASE("pieces cover everything once, and a place is one thread's at a time") {
    for (const int size : {1, 2, 3, 5}) {
        ThreadTeam team(size);
        for (const std::int64_t count : {0, 1, 2, 5, 63, 64, 65, 1000}) {
            for (const std::int64_t grain : {1, 8, 64}) {
                std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
                std::vector<std::atomic<int>> inside(static_cast<std::size_t>(size));
                std::atomic<bool> aligned{true}, alone{true};
                team.for_pieces(count, grain, [&](std::int64_t begin, std::int64_t end, int place) {
                    if (inside.at(std::size_t(place))++ != 0) alone = false;
                    if (begin % grain != 0 || (end != count && end % grain != 0)) aligned = false;
                    for (std::int64_t i = begin; i < end; ++i)
                        ++seen[std::size_t(i)];
                    --inside[std::size_t(place)];
                });
                CHECK(aligned);
                CHECK(alone);
                for (const auto& times : seen)
                    REQUIRE(times == 1);
            }
        }
    }
}

TEST_CASE("a thread without pieces takes those of one that is held up") {
    ThreadTeam team(2);
    constexpr std::int64_t kPieces = 10;
    std::atomic<std::int64_t> done{0};
    std::atomic<bool> late{false};
    team.for_each(kPieces, [&](std::int64_t piece, int) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (piece == 0 && done < kPieces - 1 && !late)
            if (std::chrono::steady_clock::now() > deadline) late = true;
        ++done;
    });
    CHECK(done == kPieces);
    CHECK(!late);
}

TEST_CASE("runs are told apart when their numbers begin again") {
    constexpr int kRuns = 150'000;  // numbers have 16 bits
    ThreadTeam team(3);
    std::atomic<std::int64_t> sum{0};
    for (int run = 0; run < kRuns; ++run)
        team.for_each(4, [&](std::int64_t piece, int) { sum += piece; });
    CHECK(sum == 6 * std::int64_t{kRuns});
}

}  // namespace

TEST_CASE("sums cover everything once, and a piece has a place of its own, however small it is") {
    for (const int size : {1, 2, 3, 5}) {
        ThreadTeam team(size);
        for (const std::int64_t count : {0, 1, 2, 5, 63, 64, 65, 1000}) {
            for (const std::int64_t grain : {1, 8, 64}) {
                const std::int64_t pieces = team.pieces(count, grain);
                REQUIRE(pieces <= ThreadTeam::most_pieces(size));
                std::vector<std::int64_t> sums(static_cast<std::size_t>(pieces), -1);
                team.for_sums(count, grain, [&](auto begin, auto end, auto piece, int) {
                    sums.at(std::size_t(piece)) = end - begin;
                });
                std::int64_t sum = 0;
                for (const std::int64_t own : sums) {
                    REQUIRE(own >= 0);
                    sum += own;
                }
                CHECK(sum == count);
            }
        }
    }
}

TEST_CASE("pieces cover their units, and those of a thread become smaller") {
    for (const int size : {1, 2, 3, 7}) {
        const ThreadTeam team(size);
        for (const std::int64_t units : {1, 5, 64, 100, 1000, 12345}) {
            for (const std::int64_t each : {1, 2, 5, 8}) {
                const std::int64_t pieces = each * size;
                CHECK(team.begin_of_piece(0, pieces, units) == 0);
                CHECK(team.begin_of_piece(pieces, pieces, units) == units);
                for (std::int64_t piece = 0; piece < pieces; ++piece)
                    REQUIRE(team.begin_of_piece(piece, pieces, units) <=
                            team.begin_of_piece(piece + 1, pieces, units));
            }
            if (units < 1000) continue;
            const std::int64_t first = team.begin_of_piece(1, 8 * size, units);
            const std::int64_t last = units / size - team.begin_of_piece(7, 8 * size, units);
            CHECK(first > 8 * last);
        }
    }
}

}  // namespace dtnn::kernels::thread_team_test
