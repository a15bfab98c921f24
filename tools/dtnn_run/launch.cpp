#include "tools/dtnn_run/launch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "runtime/base/run_error.hpp"
#include "runtime/comm/launcher_abort.hpp"
#include "runtime/comm/started_ranks.hpp"

namespace dtnn {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file is its command line

namespace {

int tell_death(int signal, const StartedRanks& started, pid_t rank) {
    char host[256] = {};
    if (gethostname(host, sizeof host - 1) != 0) std::strcpy(host, "unknown host");
    std::fprintf(stderr, "dtnn-run: rank %d (%s, process %d) was killed by signal %d (%s)\n",
                 started.rank, host, int(rank), signal, strsignal(signal));
    if (signal == SIGKILL)
        std::fputs(
            "help: when nobody has killed it, its node was out of memory: see the kernel's "
            "log there\n",
            stderr);
    return int(Exit::failed);
}

/// Names the file in which rank 0's parent leaves the exit code, for the process that has started
/// mpiexec: after a signal Hydra may end with 0 although all ranks ended with 75.
constexpr const char* kCodeFile = "DTNN_RANK_0_CODE_FILE";

void leave_code(int code) {
    const char* path = std::getenv(kCodeFile);
    if (path == nullptr) return;
    // Only where that process made it: not on another node.
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    const std::string text = std::to_string(code);
    if (write(file, text.data(), text.size()) < 0) std::perror("dtnn-run: rank 0's exit code");
    close(file);
}

/// What rank 0 left, or nothing.
std::optional<int> left_code(const std::string& path) {
    std::ifstream file(path);
    int code = 0;
    if (file >> code) return code;
    return std::nullopt;
}

/// A file of its own for the exit code; empty where there is no place for one.
std::string make_code_file() {
    const char* folder = std::getenv("TMPDIR");
    std::string path = std::string(folder != nullptr ? folder : "/tmp") + "/dtnn-run-code-XXXXXX";
    const int file = mkstemp(path.data());
    if (file < 0) return "";
    close(file);
    return path;
}

/// The whole life of the process that has started mpiexec: signals go on to it, its code comes
/// back.
int wait_for_launcher(pid_t launcher, const sigset_t& awaited, const std::string& code_file) {
    while (true) {
        siginfo_t what;
        const int signal = sigwaitinfo(&awaited, &what);
        if (signal < 0) continue;
        if (signal != SIGCHLD) {
            kill(launcher, signal);
            continue;
        }
        int status = 0;
        if (waitpid(launcher, &status, WNOHANG) != launcher) continue;
        const std::optional<int> left = left_code(code_file);
        if (!code_file.empty()) unlink(code_file.c_str());
        const int code = WIFEXITED(status) ? WEXITSTATUS(status) : int(Exit::failed);
        return code == 0 && left ? *left : code;
    }
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
        if (started.rank == 0) leave_code(code);
        return code;
    }
}

/// MPICH's own name first: `mpiexec` may be another MPI's.
std::string find_mpiexec() {
    const char* path = std::getenv("PATH");
    for (const char* name : {"mpiexec.mpich", "mpiexec.hydra", "mpiexec"}) {
        std::istringstream folders(path == nullptr ? "" : path);
        for (std::string folder; std::getline(folders, folder, ':');) {
            const std::string file = (folder.empty() ? "." : folder) + "/" + name;
            if (access(file.c_str(), X_OK) == 0 && !std::filesystem::is_directory(file))
                return file;
        }
    }
    throw RunError(Exit::failed, "--ranks needs mpiexec, which is in no folder of PATH",
                   "install MPICH (Debian: apt-get install mpich)");
}

}  // namespace

std::optional<int> watch_rank() {
    const StartedRanks started = started_ranks();
    if (started.ranks == 1) return std::nullopt;
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

std::vector<std::string> without_ranks(const std::vector<std::string>& words) {
    std::vector<std::string> kept;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] == "--ranks") {
            ++i;
        } else if (words[i].rfind("--ranks=", 0) != 0) {
            kept.push_back(words[i]);
        }
    }
    return kept;
}

void start_ranks(int ranks, const std::vector<std::string>& words) {
    if (started_ranks().ranks > 1)
        throw RunError(Exit::usage,
                       "--ranks is given to a process that mpiexec or srun has started "
                       "as one of several ranks",
                       "leave out --ranks, or mpiexec");
    std::error_code error;
    const std::string program = std::filesystem::read_symlink("/proc/self/exe", error).string();
    if (error) throw RunError(Exit::failed, "the program cannot find itself in /proc", "");
    std::vector<std::string> command = {find_mpiexec(), "-n", std::to_string(ranks), program};
    for (const std::string& word : without_ranks(words))
        command.push_back(word);
    std::vector<char*> arguments;
    for (std::string& word : command)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const std::string code_file = make_code_file();
    if (!code_file.empty()) setenv(kCodeFile, code_file.c_str(), 1);
    sigset_t awaited, before;
    sigemptyset(&awaited);
    for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGUSR1, SIGHUP, SIGQUIT})
        sigaddset(&awaited, signal);
    sigprocmask(SIG_BLOCK, &awaited, &before);
    const pid_t parent = getpid();
    const pid_t launcher = fork();
    if (launcher < 0)
        throw RunError(Exit::failed,
                       fmt::format("cannot start {}: {}", command.front(), std::strerror(errno)),
                       "");
    if (launcher > 0) std::exit(wait_for_launcher(launcher, awaited, code_file));
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(int(Exit::failed));
    // A terminal's Ctrl-C comes once, through the parent; and a group in the background may not
    // read the terminal, which mpiexec does for rank 0.
    setpgid(0, 0);
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    // What this program ignores, mpiexec and the ranks would ignore from the beginning.
    for (const int signal : {SIGPIPE, SIGXFSZ, SIGTERM, SIGINT, SIGUSR1})
        std::signal(signal, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    execv(arguments.front(), arguments.data());
    std::fprintf(stderr, "dtnn-run: cannot start %s: %s\n", command.front().c_str(),
                 std::strerror(errno));
    _exit(int(Exit::failed));
}

}  // namespace dtnn
