#include "runtime/base/signals.hpp"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>

#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {
namespace {

std::atomic<int> requested{0};
std::atomic<int> under_way{0};
/// The newest that came straight, and that the rank's parent passed on (SI_QUEUE): who signals both
/// processes means it once.
std::atomic<int> came[2];
std::atomic<std::int64_t> came_at[2];
static_assert(std::atomic<int>::is_always_lock_free &&
                  std::atomic<std::int64_t>::is_always_lock_free,
              "a signal handler may not take a lock");

/// Within this time the same signal is the same wish: schedulers that signal both a batch script
/// and its job steps, and the script that passes its signal on, send it several times.
constexpr std::int64_t kSameNanoseconds = 250'000'000;

std::int64_t now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return std::int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

void on_signal(int signal, siginfo_t* from, void*) {
    // The same one again: die of it, as the sender expects. Another one may be of the same mind as
    // the first, as a scheduler's warning and its end of time, while the checkpoint is written.
    requested.store(signal);
    const int way = from->si_code == SI_QUEUE ? 1 : 0;
    const std::int64_t at = now();
    const std::int64_t before = came_at[way].exchange(at);
    const bool again = came[way].exchange(signal) == signal && at - before > kSameNanoseconds;
    // USR1 asks for a checkpoint, however often: who wants an end sends TERM.
    if (again && signal != SIGUSR1) {
        std::signal(signal, SIG_DFL);
        std::raise(signal);
    }
}

}  // namespace

void install_signal_handlers() {
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    sigemptyset(&action.sa_mask);
    // Restarted system calls: a file being written when the signal comes is written to its end.
    action.sa_flags = SA_RESTART | SA_NODEFER | SA_SIGINFO;
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1})
        sigaction(signal, &action, nullptr);
    // nohup has it ignored: that is meant.
    struct sigaction before {};
    sigaction(SIGHUP, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
}

int stop_requested() {
    return requested.load(std::memory_order_relaxed);
}

UnderWay::UnderWay() {
    ++under_way;
}

UnderWay::~UnderWay() {
    --under_way;
}

void stop_before(const std::string& work) {
    if (stop_requested() == 0 || under_way > 0) return;
    throw RunError(Exit::interrupted, "stopped by a signal before " + work + " was done",
                   "nothing has begun that could be lost; start the command again");
}

void request_stop(int signal) {
    requested.store(signal);
    came[0].store(signal);
    came[1].store(0);
}

}  // namespace dtnn::runtime
