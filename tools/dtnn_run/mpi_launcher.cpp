#include "tools/dtnn_run/mpi_launcher.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <sstream>
#include <vector>

#include "base/plugin.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/comm/mpi_choice.hpp"

namespace dtnn {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file is its command line

namespace {

constexpr std::chrono::seconds kAnswerTime(10);
constexpr std::size_t kAnswerBytes = 65536;

/// What a child writes to its standard output and error; it is killed when it takes too long or
/// writes more than that.
std::string answer_of(const std::function<void()>& child) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        throw RunError(Exit::failed, fmt::format("cannot make a pipe: {}", std::strerror(errno)),
                       "");
    const pid_t process = fork();
    if (process < 0)
        throw RunError(
            Exit::failed,
            fmt::format("cannot start a process that tries MPI: {}", std::strerror(errno)),
            errno == EAGAIN ? kMoreProcesses : "");
    if (process == 0) {
        const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
        dup2(nothing, STDIN_FILENO);
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        child();
        _exit(0);
    }
    close(ends[1]);
    const auto end = std::chrono::steady_clock::now() + kAnswerTime;
    std::string answer;
    while (answer.size() < kAnswerBytes) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            end - std::chrono::steady_clock::now());
        pollfd text = {ends[0], POLLIN, 0};
        const int ready = left.count() > 0 ? poll(&text, 1, int(left.count())) : 0;
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) break;
        char part[4096];
        const ssize_t bytes = read(ends[0], part, sizeof part);
        if (bytes <= 0) break;
        answer.append(part, std::size_t(bytes));
    }
    close(ends[0]);
    kill(process, SIGKILL);
    while (waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
    }
    return answer;
}

/// Why our library for it does not load; empty: it does. An MPI leaves handlers behind where it was
/// loaded, and may print: a child tries.
std::string lack_of_library(const MpiFlavour& flavour) {
    const Plugin found = find_plugin(flavour.library);
    if (found.path.empty()) return fmt::format("{} is in none of {}", found.name, found.looked);
    constexpr std::string_view kLoaded = "\nloaded";
    const std::string answer = answer_of([&] {
        const Plugin opened = open_plugin(flavour.library);
        const std::string_view said =
            opened.handle != nullptr ? kLoaded : std::string_view(opened.refused);
        if (write(STDOUT_FILENO, said.data(), said.size()) < 0) _exit(1);
    });
    if (answer.ends_with(kLoaded)) return "";
    return answer.empty() ? fmt::format("{} ends or stops a process that loads it", found.path)
                          : answer;
}

/// Empty where it is in no folder of PATH.
std::string find_mpiexec(const MpiFlavour& flavour) {
    const char* path = std::getenv("PATH");
    for (const std::string_view name : flavour.launchers) {
        std::istringstream folders(path == nullptr ? "" : path);
        for (std::string folder; std::getline(folders, folder, ':');) {
            std::string file = fmt::format("{}/{}", folder.empty() ? "." : folder, name);
            if (access(file.c_str(), X_OK) != 0 || std::filesystem::is_directory(file)) continue;
            if (name != "mpiexec") return file;
            const std::string version = answer_of([&file] {
                execl(file.c_str(), file.c_str(), "--version", static_cast<char*>(nullptr));
            });
            if (flavour_of_launcher(version).mpi == flavour.mpi) return file;
        }
    }
    return "";
}

}  // namespace

MpiLauncher find_mpi_launcher() {
    const MpiFlavour* asked = asked_mpi();
    std::vector<std::string> lacks;
    for (const MpiFlavour& flavour : mpi_flavours()) {
        if (asked != nullptr && asked->mpi != flavour.mpi) continue;
        std::string lack = lack_of_library(flavour);
        if (lack.empty()) {
            std::string program = find_mpiexec(flavour);
            if (!program.empty()) return {&flavour, std::move(program)};
            lack = fmt::format("{} is in no folder of PATH", flavour.launchers.front());
        }
        lacks.push_back(fmt::format("for {}, {}", flavour.name, lack));
    }
    const MpiFlavour& likely = likely_mpi();
    const bool built = !find_plugin(likely.library).path.empty();
    throw RunError(
        Exit::failed,
        fmt::format("--ranks finds no MPI to start ranks with: {}", fmt::join(lacks, "; ")),
        built ? likely.install : how_to_build(likely));
}

}  // namespace dtnn
