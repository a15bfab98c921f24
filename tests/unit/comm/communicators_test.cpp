#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <thread>

#include "runtime/base/run_error.hpp"
#include "runtime/comm/contract.hpp"
#include "runtime/comm/null_ranks.hpp"
#include "tests/ranks/mpi/operations.hpp"
#include "tests/ranks/threads/in_process.hpp"

namespace communicators_test {

using namespace dtnn;
using namespace dtnn::runtime;

namespace {

/// The errors that ranks ended with; empty: it returned.
std::vector<std::string> on_ranks(int ranks, const std::function<void(Communicator&)>& work,
                                  Delay delay = {}) {
    auto communicators = make_in_process(ranks, delay);
    std::vector<std::string> ends(std::size_t(ranks), "");
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&, rank] {
            try {
                work(*communicators[std::size_t(rank)]);
            } catch (const std::exception& error) {
                ends[std::size_t(rank)] = error.what();
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    return ends;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("one rank does what ranks do") {
    check_operations(*make_self());
}

TEST_CASE("ranks of one process do what ranks do") {
    for (int ranks = 1; ranks <= 5; ++ranks) {
        CAPTURE(ranks);
        for (const std::string& end : on_ranks(ranks, check_operations))
            CHECK(end == "");
    }
}

TEST_CASE("ranks of one process do so over a slow network") {
    for (const std::string& end : on_ranks(3, check_operations, {1e-5, 1e-10}))
        CHECK(end == "");
}

TEST_CASE("sums are added in the order of the ranks") {
    // ((1e8 + 1) - 1e8) + 1 is 1 in floats, ((1e8 - 1e8) + 1) + 1 is 2; threads come in any order.
    struct Case {
        float values[4];
        float sum;
    };
    for (const Case& wanted : {Case{{1e8F, 1, -1e8F, 1}, 1}, Case{{1e8F, -1e8F, 1, 1}, 2}}) {
        for (const std::string& end : on_ranks(4, [&](Communicator& communicator) {
                 float value = wanted.values[communicator.rank()];
                 const auto sum =
                     communicator.all_reduce(&value, 1, DType::f32, Reduction::sum, "order");
                 sum->start();
                 sum->wait();
                 if (value != wanted.sum) throw std::runtime_error("another order");
             }))
            CHECK(end == "");
    }
}

TEST_CASE("a slow network takes its time beside computation") {
    const auto ends = on_ranks(2,
                               [](Communicator& communicator) {
                                   std::vector<float> memory(1000, 1.0F);
                                   const auto sum = communicator.all_reduce(
                                       memory.data(), 1000, DType::f32, Reduction::sum, "slow");
                                   communicator.barrier("begin");
                                   const auto start = std::chrono::steady_clock::now();
                                   sum->start();
                                   if (seconds_since(start) > 0.3)
                                       throw std::runtime_error("start() waits");
                                   std::this_thread::sleep_for(std::chrono::milliseconds(450));
                                   const auto after = std::chrono::steady_clock::now();
                                   sum->wait();
                                   // 0.1 + 4000 * 2.5e-5 = 0.2 s in all; 0.15 of them have passed.
                                   if (seconds_since(start) < 0.2)
                                       throw std::runtime_error("the network is too fast");
                                   if (seconds_since(after) > 0.35)
                                       throw std::runtime_error("nothing was overlapped");
                               },
                               {0.25, 6.25e-5});
    for (const std::string& end : ends)
        CHECK(end == "");
}

TEST_CASE("a rank that does not come is named") {
    const auto start = std::chrono::steady_clock::now();
    const auto ends = on_ranks(3, [](Communicator& communicator) {
        communicator.set_time_limit(communicator.rank() == 0 ? 0.2 : 5);
        communicator.barrier("first");
        if (communicator.rank() == 1) return;
        communicator.barrier("second");
    });
    CHECK(seconds_since(start) < 3);
    for (const int rank : {0, 2}) {
        CHECK(
            ends[std::size_t(rank)] ==
            "rank 0: waited 0.2 s in barrier number 2 `second` for rank 1 (thread), which was last "
            "heard of at number 1 barrier `first`");
    }
    CHECK(ends[1] == "");
}

TEST_CASE("a rank that ends the job ends the others' waits") {
    const auto ends = on_ranks(3, [](Communicator& communicator) {
        if (communicator.rank() == 2) {
            communicator.abort(6, "the loss is nan");
            return;
        }
        communicator.barrier("first");
    });
    for (const int rank : {0, 1})
        CHECK(has(ends[std::size_t(rank)], "rank 2 (thread) ended the job: the loss is nan"));
}

TEST_CASE("ranks that call other operations are found") {
    const auto ends = on_ranks(2, [](Communicator& communicator) {
        communicator.barrier(communicator.rank() == 0 ? "a" : "b");
    });
    CHECK((has(ends[0], "operation number 1") || has(ends[1], "operation number 1")));
}

TEST_CASE("ranks that agree go on") {
    for (const std::string& end : on_ranks(4, [](Communicator& communicator) {
             check_contract(communicator, {{"plan checksum", "1"}, {"batch size", "2"}});
         }))
        CHECK(end == "");
}

TEST_CASE("ranks that differ are refused, all with the same words") {
    const auto differ = [](int ranks, const std::function<std::vector<Fact>(int)>& facts) {
        const auto ends = on_ranks(ranks, [&](Communicator& communicator) {
            try {
                check_contract(communicator, facts(communicator.rank()));
            } catch (const RunError& error) {
                if (error.exit() != Exit::mismatch) throw std::runtime_error("another exit code");
                throw;
            }
        });
        for (const std::string& end : ends)
            CHECK(end == ends[0]);
        return ends[0];
    };
    CHECK(
        differ(4, [](int rank) -> std::vector<Fact> {
            return {{"version", "1"}, {"plan checksum", rank == 3 ? "X" : "Y"}, {"isa", "avx2"}};
        }) == "the ranks of the job differ: rank 3 (thread) has plan checksum X; ranks 0-2 have Y");
    // The half with rank 0 is right.
    CHECK(differ(2, [](int rank) -> std::vector<Fact> {
              return {{"batch size", rank == 1 ? "32" : "64"}};
          }) == "the ranks of the job differ: rank 1 (thread) has batch size 32; rank 0 has 64");
    // A fact that one rank does not know at all; the first that differs is told.
    CHECK(differ(3, [](int rank) -> std::vector<Fact> {
              if (rank == 0) return {{"a", "1"}, {"c", "3"}};
              return {{"a", "1"}, {"b", "2"}, {"c", "4"}};
          }) == "the ranks of the job differ: rank 0 (thread) has c 3; ranks 1-2 have 4");
    CHECK(differ(5,
                 [](int rank) -> std::vector<Fact> {
                     return {{"data", rank == 1 ? "p" : rank == 4 ? "q" : "r"}};
                 }) ==
          "the ranks of the job differ: rank 1 (thread) has data p; rank 4 (thread) has data "
          "q; ranks 0, 2-3 have r");
}

TEST_CASE("a rank without others writes down what it would do") {
    const auto null = make_null(3, 4096);
    CHECK(null->rank() == 3);
    CHECK(null->ranks() == 4096);
    float memory[5] = {1, 2, 3, 4, 5};
    const auto sum = null->all_reduce(memory, 5, DType::f32, Reduction::sum, "gradients_1");
    sum->start();
    const std::byte mine[2] = {std::byte(7), std::byte(8)};
    const auto all = null->all_gather(mine, "hashes");
    REQUIRE(all.size() == 4096);
    CHECK(all.back() == std::vector<std::byte>{std::byte(7), std::byte(8)});
    sum->wait();
    null->barrier("end");
    CHECK(memory[4] == 5);
    const std::vector<RecordedOperation> wanted = {
        {OperationKind::all_reduce_start, "gradients_1", 20},
        {OperationKind::all_gather, "hashes", 2},
        {OperationKind::all_reduce_wait, "gradients_1", 20},
        {OperationKind::barrier, "end", 0}};
    CHECK(null->record() == wanted);
    CHECK(null->faults().empty());
    sum->wait();
    sum->start();
    sum->start();
    CHECK(null->faults().size() == 2);
    null->clear();
    CHECK(null->record().empty());
    CHECK(null->faults().empty());
}

}  // namespace communicators_test
