#include "runtime/base/signals.hpp"

#include <atomic>
#include <csignal>

namespace dtnn::runtime {
namespace {

std::atomic<int> requested{0};
/// The newest that came straight, and that the rank's parent passed on (SI_QUEUE): who signals both
/// processes means it once.
std::atomic<int> came[2];
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may not take a lock");

void on_signal(int signal, siginfo_t* from, void*) {
    // The same one again: die of it, as the sender expects. Another one may be of the same mind as
    // the first, as a scheduler's warning and its end of time, while the checkpoint is written.
    requested.store(signal);
    if (came[from->si_code == SI_QUEUE ? 1 : 0].exchange(signal) == signal) {
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
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    sigaction(SIGUSR1, &action, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
}

int stop_requested() {
    return requested.load(std::memory_order_relaxed);
}

void request_stop(int signal) {
    requested.store(signal);
    came[0].store(signal);
    came[1].store(0);
}

}  // namespace dtnn::runtime
