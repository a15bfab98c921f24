#include "tools/dtnnc/draw/graph_render.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "base/quantity_text.hpp"
#include "tools/dtnnc/output.hpp"

extern char** environ;

namespace dtnn::tools {

namespace {

[[noreturn]] void fail(const std::string& fact) {
    throw OutputError(fmt::format("cannot draw: {}", fact));
}

// A file in memory, so that the child's input, output and errors need no pipes (which could fill up
// and block both sides) and leave nothing behind.
class MemoryFile {
  public:
    explicit MemoryFile(const char* name) : number_(::memfd_create(name, MFD_CLOEXEC)) {
        if (number_ < 0) fail(std::strerror(errno));
    }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    ~MemoryFile() { ::close(number_); }

    int number() const { return number_; }

    void write(std::string_view text) {
        while (!text.empty()) {
            const ssize_t written = ::write(number_, text.data(), text.size());
            if (written < 0 && errno == EINTR) continue;
            if (written < 0) fail(std::strerror(errno));
            text.remove_prefix(std::size_t(written));
        }
        if (::lseek(number_, 0, SEEK_SET) < 0) fail(std::strerror(errno));
    }

    std::string read() const {
        if (::lseek(number_, 0, SEEK_SET) < 0) fail(std::strerror(errno));
        std::string text;
        char part[1 << 16];
        for (;;) {
            const ssize_t count = ::read(number_, part, sizeof part);
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) fail(std::strerror(errno));
            if (count == 0) return text;
            text.append(part, std::size_t(count));
        }
    }

  private:
    int number_;
};

class FileActions {
  public:
    FileActions() { ::posix_spawn_file_actions_init(&actions_); }
    FileActions(const FileActions&) = delete;
    FileActions& operator=(const FileActions&) = delete;
    ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
    void redirect(int from, int to) { ::posix_spawn_file_actions_adddup2(&actions_, from, to); }
    const posix_spawn_file_actions_t* get() const { return &actions_; }

  private:
    posix_spawn_file_actions_t actions_{};
};

// The child's signals are as a shell would leave them: we ignore SIGPIPE.
class DefaultSignals {
  public:
    DefaultSignals() {
        ::posix_spawnattr_init(&attributes_);
        sigset_t signals;
        sigemptyset(&signals);
        sigaddset(&signals, SIGPIPE);
        ::posix_spawnattr_setsigdefault(&attributes_, &signals);
        ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF);
    }
    DefaultSignals(const DefaultSignals&) = delete;
    DefaultSignals& operator=(const DefaultSignals&) = delete;
    ~DefaultSignals() { ::posix_spawnattr_destroy(&attributes_); }
    const posix_spawnattr_t* get() const { return &attributes_; }

  private:
    posix_spawnattr_t attributes_{};
};

// The status of the child, or nothing after it was killed for taking too long.
bool wait_for(pid_t child, int limit_seconds, int& status) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(limit_seconds);
    for (;;) {
        const pid_t done = ::waitpid(child, &status, WNOHANG);
        if (done == child) return true;
        if (done < 0 && errno != EINTR) fail(std::strerror(errno));
        if (std::chrono::steady_clock::now() >= end) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ::kill(child, SIGKILL);
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return false;
}

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

}  // namespace

std::string render(const std::string& dot, const std::string& form, int limit_seconds) {
    MemoryFile input("dtnnc-graph"), picture("dtnnc-picture"), errors("dtnnc-dot-errors");
    input.write(dot);
    FileActions actions;
    actions.redirect(input.number(), STDIN_FILENO);
    actions.redirect(picture.number(), STDOUT_FILENO);
    actions.redirect(errors.number(), STDERR_FILENO);
    std::string program = "dot", form_option = "-T" + form;
    char* arguments[] = {program.data(), form_option.data(), nullptr};
    const DefaultSignals signals;
    pid_t child = 0;
    if (const int error = ::posix_spawnp(&child, program.c_str(), actions.get(), signals.get(),
                                         arguments, environ)) {
        if (error == ENOENT)
            fail(
                "the program `dot` is not installed\nhelp: install the package graphviz, or write "
                "NAME.dot and draw it elsewhere");
        fail(fmt::format("the program `dot` cannot be started: {}", std::strerror(error)));
    }
    int status = 0;
    if (!wait_for(child, limit_seconds, status))
        fail(fmt::format(
            "`dot` was stopped after {}\nhelp: draw blocks as one box each, with --depth 1",
            limit_text(limit_seconds)));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail(fmt::format("`dot` failed: {}", first_line(errors.read())));
    std::string result = picture.read();
    if (result.empty()) fail("`dot` wrote nothing: " + first_line(errors.read()));
    return result;
}

}  // namespace dtnn::tools
