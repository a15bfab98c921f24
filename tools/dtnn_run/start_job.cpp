#include "tools/dtnn_run/start_job.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>
#include <utility>

#include "base/quantity_text.hpp"
#include "base/utf8.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/comm/started_ranks.hpp"
#include "tools/dtnn_run/job_notes.hpp"
#include "tools/dtnn_run/launcher_state.hpp"
#include "tools/dtnn_run/mpi_launcher.hpp"
#include "tools/dtnn_run/relay.hpp"
#include "tools/dtnn_run/restarts.hpp"

namespace dtnn {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file is its command line

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point before) {
    return std::chrono::duration<double>(Clock::now() - before).count();
}

/// Ranks that mpiexec has lost sight of end by themselves within this.
constexpr double kLeftBehindSeconds = 20;
/// Codes below this are the program's, as 70 and 75 are.
constexpr int kLeastForeignCode = 7;
/// Between two looks at the processes that start and watch the ranks; how long one of them may be
/// stopped, and how long they may take to end after rank 0 has.
constexpr double kLookSeconds = 1;
constexpr double kStoppedSeconds = 10;
constexpr double kEndSeconds = 60;
/// The same after a stop was asked for, which mpiexec may lose its proxies over.
constexpr double kAskedEndSeconds = 4;
/// A stop that is asked for while ranks are being started waits for them so long: mpiexec and its
/// proxy would die of the signal, or lose it and never end. How often it looks.
constexpr double kBeginSeconds = 8;
constexpr double kBeginLookSeconds = 0.05;
/// A signal within this time of the one before is the same wish.
constexpr double kSameSeconds = 0.25;

/// The step of the newest checkpoint in the run's folder.
std::optional<std::int64_t> newest_step(const std::string& run) {
    std::optional<std::int64_t> newest;
    if (run.empty()) return newest;
    std::error_code error;
    for (fs::directory_iterator entry(run + "/checkpoints", error), end; !error && entry != end;
         entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        std::int64_t step = 0;
        const auto [stop, wrong] = std::from_chars(name.data(), name.data() + name.size(), step);
        if (wrong == std::errc() && stop == name.data() + name.size())
            newest = std::max(newest.value_or(-1), step);
    }
    return newest;
}

class Job {
  public:
    explicit Job(const JobRequest& request) : request_(request), restarts_(request.max_restarts) {
        std::error_code error;
        const std::string program = fs::read_symlink("/proc/self/exe", error).string();
        if (error) throw RunError(Exit::failed, "the program cannot find itself in /proc", "");
        if (request.ranks > 1) {
            mpi_ = find_mpi_launcher();
            command_ = {mpi_.program, "-n", std::to_string(request.ranks)};
            const auto& options = mpi_.mpi->launcher_options;
            command_.insert(command_.end(), options.begin(), options.end());
        }
        command_.push_back(program);
        sigemptyset(&awaited_);
        for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGUSR1, SIGQUIT})
            sigaddset(&awaited_, signal);
        // nohup has it ignored, which a blocked signal no longer is.
        struct sigaction hangup {};
        sigaction(SIGHUP, nullptr, &hangup);
        if (hangup.sa_handler != SIG_IGN) sigaddset(&awaited_, SIGHUP);
        sigprocmask(SIG_BLOCK, &awaited_, &before_);
    }

    ~Job() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    JobEnd run();

  private:
    /// One start of the ranks, and what became of it.
    struct Try {
        explicit Try(pid_t process) : launcher(process), state(process) {}
        pid_t launcher;
        LauncherState state;
        TryEnd end;
        std::string given_up;  ///< why the processes were killed
        int held = 0;          ///< a signal that waits until all ranks have begun
        Clock::time_point asked;
        double since_end = 0;  ///< of rank 0, in seconds
    };

    pid_t start(const Words& words, const Relay& relay) const;
    TryEnd one_try(const Words& words);
    void ask_to_stop(Try& one, int signal) const;
    void look_after(Try& one) const;
    void give_up(Try& one, std::string why) const;
    void conclude(Try& one, int status);
    TryEnd wait_for(pid_t launcher);
    std::string reason_of(int status, pid_t launcher, const Notes& notes, int code) const;
    /// Whether nobody asked to stop meanwhile.
    bool wait_before_restart(double seconds) const;
    Words next_words() const;

    const JobRequest& request_;
    Restarts restarts_;
    NotesFile notes_;
    MpiLauncher mpi_;  ///< of several ranks
    Words command_;
    sigset_t awaited_, before_;
    std::string run_ = request_.run;
};

pid_t Job::start(const Words& words, const Relay& relay) const {
    Words command = command_;
    command.insert(command.end(), words.begin(), words.end());
    std::vector<char*> arguments;
    for (std::string& word : command)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t parent = getpid();
    const pid_t launcher = fork();
    if (launcher < 0)
        throw RunError(Exit::failed,
                       fmt::format("cannot start {}: {}", command.front(), std::strerror(errno)),
                       errno == EAGAIN ? kMoreProcesses : "");
    if (launcher > 0) return launcher;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(int(Exit::failed));
    // A terminal's Ctrl-C comes once, through the parent; and a group in the background may not
    // read the terminal, which mpiexec does for rank 0.
    setpgid(0, 0);
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    relay.take_streams();
    if (request_.answers_are_notes) dup2(STDERR_FILENO, STDOUT_FILENO);
    // A signal that this program ignores, mpiexec and the ranks would ignore from the beginning.
    for (const int signal : {SIGPIPE, SIGXFSZ, SIGTERM, SIGINT, SIGUSR1})
        std::signal(signal, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
    execv(arguments.front(), arguments.data());
    std::fprintf(stderr, "dtnn-run: cannot start %s: %s\n", command.front().c_str(),
                 std::strerror(errno));
    _exit(int(Exit::failed));
}

std::string Job::reason_of(int status, pid_t launcher, const Notes& notes, int code) const {
    if (!notes.killed.empty()) return notes.killed;
    if (WIFSIGNALED(status))
        return fmt::format("{} (process {}) was killed by signal {} ({})",
                           request_.ranks > 1 ? "mpiexec" : "the run", launcher, WTERMSIG(status),
                           strsignal(WTERMSIG(status)));
    if (!notes.error.empty()) return notes.error;
    if (!notes.watcher.empty()) return notes.watcher;
    return fmt::format("{} ended with {}", request_.ranks > 1 ? "mpiexec" : "the run", code);
}

void Job::give_up(Try& one, std::string why) const {
    one.given_up = std::move(why);
    std::fprintf(stderr, "dtnn-run: %s: the job is ended\n", one.given_up.c_str());
    one.state.kill_all();
}

void Job::ask_to_stop(Try& one, int signal) const {
    const bool first = !std::exchange(one.end.stop_asked, true);
    if (!notes_.read().begun) {
        if (first) {
            one.held = signal;
            one.asked = Clock::now();
        } else if (seconds_since(one.asked) > kSameSeconds) {
            one.state.look(0, kStoppedSeconds);
            give_up(one, "asked to stop again, before all ranks had begun");
        }
        return;
    }
    // Asked for the first time, ranks are to write a checkpoint, which USR1 asks for, too.
    const bool ask = first && request_.ranks > 1 && mpi_.mpi->kills_at_term;
    // mpiexec dies of SIGHUP, and its ranks with it.
    const int handed_on = signal == SIGHUP ? SIGTERM : signal;
    kill(one.launcher, ask && signal != SIGQUIT ? SIGUSR1 : handed_on);
}

void Job::look_after(Try& one) const {
    const Notes notes = notes_.read();
    if (one.held != 0) {
        if (notes.begun) {
            one.end.stop_asked = false;
            ask_to_stop(one, std::exchange(one.held, 0));
        } else if (seconds_since(one.asked) > kBeginSeconds) {
            one.state.look(0, kStoppedSeconds);
            give_up(one, fmt::format("asked to stop, and not all ranks had begun within {}",
                                     limit_text(kBeginSeconds)));
        }
        return;
    }
    if (request_.ranks == 1) return;
    if (const auto stopped = one.state.look(kLookSeconds, kStoppedSeconds))
        return give_up(one, *stopped);
    const bool ended = notes.code || (one.end.stop_asked && !one.state.watches());
    one.since_end = ended ? one.since_end + kLookSeconds : 0;
    if (one.since_end > (one.end.stop_asked ? kAskedEndSeconds : kEndSeconds))
        give_up(one, fmt::format("rank 0 has ended, and {} (process {}) has not, for {}",
                                 command_.front(), one.launcher, elapsed_time_text(one.since_end)));
}

void Job::conclude(Try& one, int status) {
    TryEnd& end = one.end;
    const Notes notes = notes_.read();
    end.code = WIFEXITED(status) ? WEXITSTATUS(status) : int(Exit::failed);
    if (!notes.begun && !one.given_up.empty() && end.stop_asked) end.code = int(Exit::interrupted);
    if ((end.code == 0 || !one.given_up.empty()) && notes.code) end.code = *notes.code;
    end.reason =
        one.given_up.empty() ? reason_of(status, one.launcher, notes, end.code) : one.given_up;
    // Nobody else can say it, and mpiexec ends with the number of the signal. It kills parents
    // itself when a rank has failed, and then ends with that rank's code.
    if (end.reason == notes.watcher && !end.reason.empty() && end.code >= kLeastForeignCode &&
        end.code != int(Exit::internal) && end.code != int(Exit::interrupted)) {
        std::fprintf(stderr, "dtnn-run: %s\n", end.reason.c_str());
        end.code = int(Exit::failed);
    }
    if (!notes.run.empty()) run_ = notes.run;
    end.step = newest_step(run_);
}

TryEnd Job::wait_for(pid_t launcher) {
    Try one(launcher);
    while (true) {
        const double seconds = one.held != 0 ? kBeginLookSeconds : kLookSeconds;
        const timespec look = {time_t(seconds), long((seconds - double(time_t(seconds))) * 1e9)};
        const int signal = sigtimedwait(&awaited_, nullptr, &look);
        int status = 0;
        if (signal == SIGCHLD && waitpid(launcher, &status, WNOHANG) == launcher) {
            conclude(one, status);
            return one.end;
        }
        if (signal > 0 && signal != SIGCHLD && one.given_up.empty()) ask_to_stop(one, signal);
        if (signal < 0 && errno == EAGAIN && one.given_up.empty()) look_after(one);
    }
}

bool Job::wait_before_restart(double seconds) const {
    timespec left = {time_t(seconds), 0};
    while (true) {
        const int signal = sigtimedwait(&awaited_, nullptr, &left);
        if (signal == SIGCHLD || (signal < 0 && errno == EINTR)) continue;
        return signal < 0;
    }
}

Words Job::next_words() const {
    if (run_.empty()) return request_.words;
    return request_.words_again(run_, newest_step(run_).has_value());
}

TryEnd Job::one_try(const Words& words) {
    // One process writes to this program's streams itself.
    Relay relay(request_.ranks > 1 ? Relay::Streams::handed_on : Relay::Streams::as_they_are);
    TryEnd end = wait_for(start(words, relay));
    if (relay.finish()) return end;
    std::fputs("dtnn-run: cannot write standard output: the answer is lost\n", stderr);
    end.answer_lost = end.code == 0;
    if (end.answer_lost) end.code = int(Exit::failed);
    return end;
}

JobEnd Job::run() {
    stop_before("starting the ranks");
    Words words = request_.words;
    while (true) {
        notes_.clear();
        const TryEnd end = one_try(words);
        const Decision decision = restarts_.after(end);
        if (!decision.line.empty())
            std::fprintf(stderr, "dtnn-run: %s\n", shown_lines(decision.line).c_str());
        JobEnd last = {end.code, end.stop_asked, end.code == 0 ? "" : end.reason};
        if (!decision.again) return last;
        if (!wait_before_restart(decision.seconds)) {
            if (!end.step) return {end.code, true, end.reason};
            std::fprintf(stderr,
                         "dtnn-run: stopped by a signal before the restart; go on with\n"
                         "  dtnn-run --resume %s\n",
                         run_.c_str());
            return {int(Exit::interrupted), true, end.reason};
        }
        if (!notes_.released_within(kLeftBehindSeconds)) {
            std::fputs("dtnn-run: no restart: ranks of the last try are still there\n", stderr);
            return last;
        }
        words = next_words();
    }
}

}  // namespace

JobEnd run_job(const JobRequest& request) {
    if (started_ranks().ranks > 1)
        throw RunError(Exit::usage,
                       fmt::format("{} is given to a process that mpiexec or srun has started as "
                                   "one of several ranks",
                                   request.ranks > 1 ? "--ranks" : "--max-restarts"),
                       request.ranks > 1 ? "leave out --ranks, or mpiexec"
                                         : "leave it out, or start the ranks with --ranks");
    return Job(request).run();
}

void start_job(const JobRequest& request) {
    std::exit(run_job(request).code);
}

}  // namespace dtnn
