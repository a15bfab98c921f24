#include "tools/dtnn_run/start_job.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
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
#include "runtime/comm/mpi_flavour.hpp"
#include "runtime/comm/started_ranks.hpp"
#include "tools/dtnn_run/job_notes.hpp"
#include "tools/dtnn_run/launcher_state.hpp"
#include "tools/dtnn_run/restarts.hpp"

namespace dtnn {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file is its command line

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// Ranks that mpiexec has lost sight of end by themselves within this.
constexpr double kLeftBehindSeconds = 20;
/// Codes below this are the program's, as 70 and 75 are.
constexpr int kLeastForeignCode = 7;
/// Between two looks at the processes that start and watch the ranks; how long one of them may be
/// stopped, and how long they may take to end after rank 0 has.
constexpr double kLookSeconds = 1;
constexpr double kStoppedSeconds = 10;
constexpr double kEndSeconds = 60;

std::string find_mpiexec() {
    const char* path = std::getenv("PATH");
    for (const char* name : mpi_flavour().launchers) {
        std::istringstream folders(path == nullptr ? "" : path);
        for (std::string folder; std::getline(folders, folder, ':');) {
            std::string file = (folder.empty() ? "." : folder) + "/" + name;
            if (access(file.c_str(), X_OK) == 0 && !fs::is_directory(file)) return file;
        }
    }
    throw RunError(Exit::failed, "--ranks needs mpiexec, which is in no folder of PATH",
                   mpi_flavour().install);
}

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
            command_ = {find_mpiexec(), "-n", std::to_string(request.ranks)};
            const auto& options = mpi_flavour().launcher_options;
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
    pid_t start(const Words& words) const;
    TryEnd wait_for(pid_t launcher);
    std::string reason_of(int status, pid_t launcher, const Notes& notes, int code) const;
    /// Whether nobody asked to stop meanwhile.
    bool wait_before_restart(double seconds) const;
    Words next_words() const;

    const JobRequest& request_;
    Restarts restarts_;
    NotesFile notes_;
    Words command_;
    sigset_t awaited_, before_;
    std::string run_ = request_.run;
};

pid_t Job::start(const Words& words) const {
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
                       "");
    if (launcher > 0) return launcher;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(int(Exit::failed));
    // A terminal's Ctrl-C comes once, through the parent; and a group in the background may not
    // read the terminal, which mpiexec does for rank 0.
    setpgid(0, 0);
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
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

TryEnd Job::wait_for(pid_t launcher) {
    TryEnd end;
    LauncherState state(launcher);
    std::string given_up;
    double since_end = 0;
    while (true) {
        siginfo_t what;
        const timespec look = {time_t(kLookSeconds), 0};
        const int signal = sigtimedwait(&awaited_, &what, &look);
        if (signal < 0 && errno == EAGAIN && given_up.empty() && request_.ranks > 1) {
            if (const auto stopped = state.look(kLookSeconds, kStoppedSeconds)) given_up = *stopped;
            since_end = notes_.read().code ? since_end + kLookSeconds : 0;
            if (given_up.empty() && since_end > kEndSeconds)
                given_up = fmt::format("rank 0 has ended, and {} (process {}) has not, for {}",
                                       command_.front(), launcher, elapsed_time_text(since_end));
            if (!given_up.empty()) {
                std::fprintf(stderr, "dtnn-run: %s: the job is ended\n", given_up.c_str());
                state.kill_all();
            }
        }
        if (signal < 0) continue;
        if (signal != SIGCHLD) {
            // Asked for the first time, ranks are to write a checkpoint, which USR1 asks for, too.
            const bool first = !std::exchange(end.stop_asked, true);
            const bool ask = first && request_.ranks > 1 && mpi_flavour().kills_at_term;
            // mpiexec dies of SIGHUP, and its ranks with it.
            const int handed_on = signal == SIGHUP ? SIGTERM : signal;
            kill(launcher, ask && signal != SIGQUIT ? SIGUSR1 : handed_on);
            continue;
        }
        int status = 0;
        if (waitpid(launcher, &status, WNOHANG) != launcher) continue;
        const Notes notes = notes_.read();
        end.code = WIFEXITED(status) ? WEXITSTATUS(status) : int(Exit::failed);
        if ((end.code == 0 || !given_up.empty()) && notes.code) end.code = *notes.code;
        end.reason = given_up.empty() ? reason_of(status, launcher, notes, end.code) : given_up;
        // Nobody else can say it, and mpiexec ends with the number of the signal. It kills parents
        // itself when a rank has failed, and then ends with that rank's code.
        if (end.reason == notes.watcher && !end.reason.empty() && end.code >= kLeastForeignCode &&
            end.code != int(Exit::internal) && end.code != int(Exit::interrupted)) {
            std::fprintf(stderr, "dtnn-run: %s\n", end.reason.c_str());
            end.code = int(Exit::failed);
        }
        if (!notes.run.empty()) run_ = notes.run;
        end.step = newest_step(run_);
        return end;
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

JobEnd Job::run() {
    Words words = request_.words;
    while (true) {
        notes_.clear();
        const TryEnd end = wait_for(start(words));
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
