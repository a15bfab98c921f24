// A rank of a job that goes wrong in a chosen way; see test_ranks.py. Begins and ends as dtnn-run.
//
//     rank_program operations                     all that a communicator must do
//     rank_program exit CODE                      all ranks end in good order with the code
//     rank_program contract RANK                  that rank has another plan checksum
//     rank_program throw RANK CODE                that rank fails between two operations
//     rank_program early RANK CODE                that rank fails before it has joined
//     rank_program FAULT RANK KIND MOMENT LIMIT   FAULT: kill, stop, sleep; KIND: all_reduce,
//                                                 bf16, fp16, top_k (sums in that form),
//                                                 reduce_scatter, all_gather_parts, all_gather,
//                                                 broadcast, barrier; MOMENT: before, in, after the
//                                                 operation; "join" is before joining
//     rank_program --ranks N WORDS                starts ranks as dtnn-run does
//     rank_program wait                           all wait for a signal, then end with 75

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "plan/rules/compression.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/comm/contract.hpp"
#include "runtime/comm/open.hpp"
#include "runtime/comm/started_ranks.hpp"
#include "tests/ranks/mpi/operations.hpp"
#include "tools/dtnn_run/launch.hpp"
#include "tools/dtnn_run/start_job.hpp"

namespace dtnn::runtime {
namespace {

using Words = std::vector<std::string>;

void fall(const std::string& fault) {
    if (fault == "kill") raise(SIGKILL);
    if (fault == "stop") raise(SIGSTOP);
    while (true)
        std::this_thread::sleep_for(std::chrono::seconds(1));
}

/// One operation of a kind; `inside` is called while it is under way, on ranks that start it.
template <typename Inside>
void operate(Communicator& communicator, const std::string& kind, Inside&& inside) {
    std::vector<float> memory(1 << 20, 1.0F);
    if (kind == "all_reduce") {
        const auto exchange = communicator.all_reduce(memory.data(), std::int64_t(memory.size()),
                                                      DType::f32, Reduction::sum, "gradients_1");
        exchange->start();
        inside();
        exchange->wait();
        return;
    }
    if (plan::Compression form{}; kind != "full" && plan::parse_name(kind, form)) {
        const auto elements = std::int64_t(memory.size());
        std::vector<float> residual(memory.size());
        std::vector<double> scratch(
            std::size_t(plan::compression_scratch_bytes(form, elements, 0.01) / 8 + 1));
        const auto exchange = communicator.all_reduce_compressed(
            {form, 0.01, residual.data(), std::as_writable_bytes(std::span(scratch))},
            memory.data(), elements, "gradients_1");
        exchange->start();
        inside();
        exchange->wait();
        return;
    }
    if (kind == "reduce_scatter" || kind == "all_gather_parts") {
        const auto part = std::int64_t(memory.size()) / communicator.ranks();
        const auto exchange =
            kind == "reduce_scatter"
                ? communicator.reduce_scatter(memory.data(), part, DType::f32, "gradients_1")
                : communicator.all_gather_parts(memory.data(), part, DType::f32, "weights_1");
        exchange->start();
        inside();
        exchange->wait();
        return;
    }
    inside();
    const auto bytes = std::as_writable_bytes(std::span(memory));
    if (kind == "all_gather") communicator.all_gather(bytes, "hashes");
    if (kind == "broadcast") communicator.broadcast(bytes, 0, "weights");
    if (kind == "barrier") communicator.barrier("epoch");
}

void go_wrong(const Words& words) {
    const std::string& fault = words.at(0);
    const int who = std::stoi(words.at(1));
    const std::string& kind = words.at(2);
    const std::string& moment = words.at(3);
    const double limit = std::stod(words.at(4));
    const bool me = started_ranks().rank == who;
    if (me) {
        std::fprintf(stderr, "%s falls\n", started_name().c_str());
        if (moment == "join") fall(fault);
    }
    // Ranks that share cores take seconds to start.
    const auto communicator = make_communicator(moment == "join" ? limit : 60);
    communicator->set_time_limit(limit);
    // In an operation: another thread falls while this one waits in it, for rank 0 comes late.
    std::thread trap;
    for (int round = 0; round < 3; ++round) {
        const bool now = round == 1;
        if (me && now && moment == "before") fall(fault);
        if (!me && now && moment == "in")
            std::this_thread::sleep_for(std::chrono::milliseconds(300));
        operate(*communicator, kind, [&] {
            if (!me || !now || moment != "in") return;
            if (kind == "all_reduce") {
                std::this_thread::sleep_for(std::chrono::milliseconds(100));
                fall(fault);
            }
            // Whoever sleeps here has not begun; signals fell the waiting thread too.
            if (fault == "sleep") fall(fault);
            trap = std::thread([&fault] {
                std::this_thread::sleep_for(std::chrono::milliseconds(100));
                kill(getpid(), fault == "kill" ? SIGKILL : SIGSTOP);
            });
        });
        if (me && now && moment == "after") fall(fault);
    }
    if (trap.joinable()) trap.join();
}

int run(const Words& words) {
    const std::string& mode = words.at(0);
    const int rank = started_ranks().rank;
    if (mode == "early" && rank == std::stoi(words.at(1)))
        throw RunError(Exit(std::stoi(words.at(2))), "this rank cannot begin");
    if (mode == "kill" || mode == "stop" || mode == "sleep") {
        go_wrong(words);
        return 0;
    }
    const auto communicator = make_communicator(20);
    if (mode == "operations") {
        check_operations(*communicator);
        if (rank == 0) std::printf("%d ranks: ok\n", communicator->ranks());
    } else if (mode == "exit") {
        return std::stoi(words.at(1));
    } else if (mode == "contract") {
        check_contract(*communicator,
                       {{"version of dtnn-run", "1"},
                        {"plan checksum", rank == std::stoi(words.at(1)) ? "X" : "Y"}});
    } else if (mode == "throw") {
        communicator->barrier("first");
        if (rank == std::stoi(words.at(1)))
            throw RunError(Exit(std::stoi(words.at(2))), "this rank has failed");
        communicator->barrier("second");
    } else if (mode == "wait") {
        communicator->barrier("begin");
        if (rank == 0) std::fprintf(stderr, "waiting\n");
        // As a training does: all hear of a signal that one has got.
        std::int64_t stop = 0;
        const auto sum = communicator->all_reduce(&stop, 1, DType::i64, Reduction::maximum, "stop");
        while (stop == 0) {
            stop = stop_requested();
            sum->start();
            sum->wait();
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        return int(Exit::interrupted);
    } else {
        throw RunError(Exit::usage, "unknown mode " + mode);
    }
    return 0;
}

int run_or_report(const Words& words) {
    try {
        if (words.at(0) == "--ranks") {
            dtnn::JobRequest job;
            job.ranks = std::stoi(words.at(1));
            job.words.assign(words.begin() + 2, words.end());
            dtnn::start_job(job);
        }
        return run(words);
    } catch (const RunError& error) {
        std::fputs(error.render(false, started_name()).c_str(), stderr);
        return int(error.exit());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", started_name().c_str(), error.what());
        return int(Exit::internal);
    }
}

}  // namespace
}  // namespace dtnn::runtime

int main(int argc, char** argv) {
    using namespace dtnn;
    using namespace dtnn::runtime;
    if (const std::optional<int> code = dtnn::watch_rank()) return *code;
    install_signal_handlers();
    Words words(argv + 1, argv + argc);
    const int code = run_or_report(words);
    if (code != int(Exit::done) && code != int(Exit::interrupted)) end_job(code);
    return code;
}
