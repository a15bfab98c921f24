#include "tools/dtnn_run/launch.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "runtime/base/run_error.hpp"
#include "runtime/comm/launcher_abort.hpp"
#include "runtime/comm/started_ranks.hpp"
#include "tools/dtnn_run/job_notes.hpp"

namespace dtnn {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file is its command line

namespace {

int tell_death(int signal, const StartedRanks& started, pid_t rank) {
    char host[256] = {};
    if (gethostname(host, sizeof host - 1) != 0) std::strcpy(host, "unknown host");
    const std::string what = fmt::format("rank {} ({}, process {}) was killed by signal {} ({})",
                                         started.rank, host, rank, signal, strsignal(signal));
    std::fprintf(stderr, "dtnn-run: %s\n", what.c_str());
    leave_note("killed", what);
    if (signal == SIGKILL)
        std::fputs(
            "help: when nobody has killed it, its node was out of memory: see the kernel's "
            "log there\n",
            stderr);
    return int(Exit::failed);
}

/// The watching parent's whole life.
int watch(pid_t rank, const StartedRanks& started, const sigset_t& awaited) {
    prctl(PR_SET_NAME, "dtnn-run-watch");
    using Clock = std::chrono::steady_clock;
    // Hydra signals a process and its group, this process therefore twice at once: that is one.
    constexpr std::chrono::milliseconds kSame{250};
    int last = 0;
    Clock::time_point last_time;
    while (true) {
        siginfo_t what;
        const int signal = sigwaitinfo(&awaited, &what);
        if (signal < 0) continue;
        if (signal != SIGCHLD) {
            // Marked as passed on: a sender that signals all processes of a job gives the rank the
            // same signal twice, which must not count as the second one that ends it at once.
            const Clock::time_point now = Clock::now();
            if (signal != last || now - last_time > kSame) sigqueue(rank, signal, {});
            last = signal;
            last_time = now;
            continue;
        }
        int status = 0;
        if (waitpid(rank, &status, WNOHANG) != rank) continue;
        const int code =
            WIFSIGNALED(status) ? tell_death(WTERMSIG(status), started, rank) : WEXITSTATUS(status);
        if (code != int(Exit::done) && code != int(Exit::interrupted)) abort_by_launcher(code);
        if (started.rank == 0) leave_note("code", std::to_string(code));
        return code;
    }
}

}  // namespace

std::optional<int> watch_rank() {
    const StartedRanks started = started_ranks();
    if (started.ranks == 1) return std::nullopt;
    hold_notes();
    sigset_t awaited, before;
    sigemptyset(&awaited);
    for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGHUP, SIGQUIT})
        sigaddset(&awaited, signal);
    sigprocmask(SIG_BLOCK, &awaited, &before);
    const pid_t parent = getpid();
    const pid_t rank = fork();
    if (rank > 0) {
        std::signal(SIGPIPE, SIG_IGN);
        return watch(rank, started, awaited);
    }
    // Where no process can be made the rank goes on by itself.
    if (rank == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(int(Exit::failed));
        // What is sent to the launcher's process group reaches the parent, which passes it on.
        setpgid(0, 0);
    }
    sigprocmask(SIG_SETMASK, &before, nullptr);
    return std::nullopt;
}

}  // namespace dtnn
