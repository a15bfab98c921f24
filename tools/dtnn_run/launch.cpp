#include "tools/dtnn_run/launch.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "runtime/base/run_error.hpp"
#include "runtime/comm/launcher_abort.hpp"
#include "runtime/comm/started_ranks.hpp"
#include "tools/dtnn_run/job_notes.hpp"
#include "tools/dtnn_run/launcher_state.hpp"

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
            "help: when nobody has killed it, its node was out of memory: see the kernel's log "
            "there\n",
            stderr);
    return int(Exit::failed);
}

using Clock = std::chrono::steady_clock;

/// A rank that is stopped when it is asked to end gets so long.
constexpr std::chrono::seconds kStoppedRank{10};

/// The signal that the system sends a process when its parent ends: a process that is stopped takes
/// no other signal but SIGKILL, which would leave no time for last words. A process that is sent it
/// looks at its parent, because others send it too.
constexpr int kParentGone = SIGCONT;

/// For the handler, which may not make it: the line that a rank leaves when its parent is killed.
struct LastWords {
    pid_t parent = 0;
    int file = -1;
    char text[400] = {};
    std::size_t length = 0;
};
LastWords last_words;

/// In the rank. Nothing but what a handler may do.
void die_with_parent(int) {
    if (getppid() == last_words.parent) return;
    if (last_words.file >= 0) {
        const ssize_t ignored = write(last_words.file, last_words.text, last_words.length);
        static_cast<void>(ignored);
    }
    kill(getpid(), SIGKILL);
}

void prepare_last_words(const StartedRanks& started, pid_t parent) {
    last_words.parent = parent;
    last_words.file = open_notes();
    const auto end = fmt::format_to_n(last_words.text, sizeof last_words.text - 1,
                                      "watcher the process {} that watched rank {} (process {}) "
                                      "was killed, and the rank with it\n",
                                      parent, started.rank, getpid());
    last_words.length = std::min(end.size, sizeof last_words.text - 1);
    struct sigaction action {};
    action.sa_handler = die_with_parent;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(kParentGone, &action, nullptr);
}

void kill_stopped(pid_t rank, const StartedRanks& started) {
    const std::optional<ProcessState> state = state_of(rank);
    if (!state || !state->stopped()) return;
    std::fprintf(
        stderr,
        "dtnn-run: rank %d (process %d) was asked to end and is stopped (SIGSTOP): it is killed\n",
        started.rank, int(rank));
    kill(rank, SIGKILL);
}

/// With --kill-on-bad-exit srun takes the first 75 for a failure, and kills ranks that are about to
/// end as well: rank 0 alone says that the job has stopped, when the others are gone.
int stopped_under_srun(const StartedRanks& started) {
    if (started.rank > 0) return int(Exit::done);
    std::this_thread::sleep_for(std::chrono::seconds(1));
    return int(Exit::interrupted);
}

/// The watching parent's whole life.
int watch(pid_t rank, const StartedRanks& started, const sigset_t& awaited, pid_t launcher) {
    prctl(PR_SET_NAME, kWatcherName);
    prctl(PR_SET_PDEATHSIG, kParentGone);
    if (getppid() != launcher) raise(kParentGone);
    std::optional<Clock::time_point> asked_to_end;
    // Hydra signals a process and its group, this process therefore twice at once: that is one.
    constexpr std::chrono::milliseconds kSame{250};
    int last = 0;
    Clock::time_point last_time;
    while (true) {
        siginfo_t what;
        const timespec second = {1, 0};
        const int signal = sigtimedwait(&awaited, &what, asked_to_end ? &second : nullptr);
        if (asked_to_end && Clock::now() - *asked_to_end > kStoppedRank) {
            kill_stopped(rank, started);
            asked_to_end.reset();
        }
        if (signal < 0) continue;
        if (signal == kParentGone) {
            if (getppid() == launcher) continue;  // continued, or a thread of its has ended
            kill(rank, SIGKILL);
            return int(Exit::failed);
        }
        if (signal != SIGCHLD) {
            if ((signal == SIGTERM || signal == SIGINT) && !asked_to_end)
                asked_to_end = Clock::now();
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
        if (code == int(Exit::interrupted) && started.srun) return stopped_under_srun(started);
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
    for (const int signal :
         {SIGCHLD, SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGHUP, SIGQUIT, kParentGone})
        sigaddset(&awaited, signal);
    sigprocmask(SIG_BLOCK, &awaited, &before);
    const pid_t parent = getpid(), launcher = getppid();
    const pid_t rank = fork();
    if (rank > 0) {
        std::signal(SIGPIPE, SIG_IGN);
        return watch(rank, started, awaited, launcher);
    }
    // A rank goes on by itself where no process can be made.
    if (rank == 0) {
        prepare_last_words(started, parent);
        prctl(PR_SET_PDEATHSIG, kParentGone);
        if (getppid() != parent) _exit(int(Exit::failed));
        // A signal to the launcher's process group reaches the parent, which passes it on.
        setpgid(0, 0);
    }
    sigprocmask(SIG_SETMASK, &before, nullptr);
    return std::nullopt;
}

}  // namespace dtnn
