#include "runtime/comm/pinning.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace pinning_test {

using namespace dtnn::runtime;

namespace {

Surroundings on(const std::string& host, std::vector<int> cores) {
    Surroundings found;
    found.host = host;
    found.cores = std::move(cores);
    return found;
}

/// Two cores of two processors each, as many systems number them.
const Topology kTwoByTwo{{{0, 2}, {1, 3}}, ""};
const Surroundings kAll = on("a", {0, 1, 2, 3});

std::vector<int> processors(const Pinning& pinning) {
    CHECK(pinning.problem == "");
    return pinning.processors;
}

TEST_CASE("a thread gets a core of its own while there are any") {
    CHECK(processors(choose_processors(kTwoByTwo, {kAll}, {1}, 0)) == std::vector{0});
    CHECK(processors(choose_processors(kTwoByTwo, {kAll}, {2}, 0)) == std::vector{0, 1});
    CHECK(processors(choose_processors(kTwoByTwo, {kAll}, {4}, 0)) == std::vector{0, 1, 2, 3});
    const Topology uneven{{{4}, {5, 9}, {6}}, ""};
    CHECK(processors(choose_processors(uneven, {on("a", {4, 5, 6, 9})}, {4}, 0)) ==
          std::vector{4, 5, 6, 9});
}

TEST_CASE("ranks of a host with the same mask take its cores after each other") {
    const Topology four{{{0}, {1}, {2}, {3}}, ""};
    const std::vector<Surroundings> ranks = {kAll, on("b", {0, 1, 2, 3}), kAll};
    CHECK(processors(choose_processors(four, ranks, {3, 4, 1}, 0)) == std::vector{0, 1, 2});
    CHECK(processors(choose_processors(four, ranks, {3, 4, 1}, 1)) == std::vector{0, 1, 2, 3});
    CHECK(processors(choose_processors(four, ranks, {3, 4, 1}, 2)) == std::vector{3});
}

TEST_CASE("ranks with masks of their own take the cores of these") {
    const Topology second{{{2}, {3}}, ""};
    const std::vector<Surroundings> ranks = {on("a", {0, 1}), on("a", {2, 3})};
    CHECK(processors(choose_processors(second, ranks, {2, 2}, 1)) == std::vector{2, 3});
}

TEST_CASE("why threads are not pinned is said") {
    const auto problem = [](const Pinning& pinning) {
        CHECK(pinning.processors.empty());
        return pinning.problem;
    };
    CHECK(problem(choose_processors(kTwoByTwo, {kAll}, {5}, 0)) ==
          "5 threads share 4 processors on a");
    CHECK(problem(choose_processors(kTwoByTwo, {kAll, kAll}, {3, 2}, 1)) ==
          "5 threads share 4 processors on a");
    CHECK(problem(choose_processors(kTwoByTwo, {on("a", {0, 1}), on("a", {1, 2})}, {1, 1}, 0)) ==
          "the processors of ranks 0 and 1 on a are the same in part");
    CHECK(problem(choose_processors({{}, "no hwloc"}, {kAll}, {1}, 0)) == "no hwloc");
}

}  // namespace
}  // namespace pinning_test
