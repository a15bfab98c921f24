#include "runtime/base/signals.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <vector>

namespace dtnn::runtime::signals_test {
namespace {

constexpr int kStopped = 75;

/// The end of a process that sends itself signals with pauses between: the signal that kills it, or
/// -kStopped where it lives and knows that it is to stop.
int end_of(const std::vector<int>& signals, unsigned pause_milliseconds) {
    const pid_t child = fork();
    if (child == 0) {
        install_signal_handlers();
        for (std::size_t i = 0; i < signals.size(); ++i) {
            if (i > 0) usleep(pause_milliseconds * 1000);
            kill(getpid(), signals[i]);
        }
        _exit(stop_requested() == signals.back() ? kStopped : 0);
    }
    REQUIRE(child > 0);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("the same signal at once is one, later it ends the program") {
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
        CAPTURE(signal);
        CHECK(end_of({signal}, 0) == -kStopped);
        CHECK(end_of({signal, signal, signal}, 5) == -kStopped);
        CHECK(end_of({signal, signal}, 400) == signal);
    }
}

TEST_CASE("a request for a checkpoint never ends the program") {
    CHECK(end_of({SIGUSR1, SIGUSR1}, 400) == -kStopped);
    CHECK(end_of({SIGUSR1, SIGTERM}, 400) == -kStopped);
    CHECK(end_of({SIGUSR1, SIGTERM, SIGTERM}, 400) == SIGTERM);
}

TEST_CASE("what nohup ignores stays ignored") {
    const auto before = std::signal(SIGHUP, SIG_IGN);
    CHECK(end_of({SIGHUP}, 0) == 0);
    std::signal(SIGHUP, before);
}

}  // namespace dtnn::runtime::signals_test
