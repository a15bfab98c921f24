#include "tools/dtnn_run/relay.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string_view>
#include <thread>

namespace dtnn {
namespace {

constexpr int kOutputLost = 1;
/// So long finish() waits for those who hold the streams.
constexpr std::chrono::seconds kLeftBehind{3};

struct Stream {
    int from, to;
    bool lost = false;
};

/// The relay's whole life: ends when nobody holds the other ends any more.
[[noreturn]] void hand_on(std::array<Stream, 2> streams) {
    std::array<char, 1U << 16> room;
    while (streams[0].from >= 0 || streams[1].from >= 0) {
        std::array<pollfd, 2> waiting = {pollfd{streams[0].from, POLLIN, 0},
                                         pollfd{streams[1].from, POLLIN, 0}};
        if (::poll(waiting.data(), waiting.size(), -1) < 0) continue;
        for (std::size_t i = 0; i < streams.size(); ++i) {
            if (streams[i].from < 0 || waiting[i].revents == 0) continue;
            const ssize_t count = ::read(streams[i].from, room.data(), room.size());
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0) {
                ::close(streams[i].from);
                streams[i].from = -1;
                continue;
            }
            const int error = write_all(streams[i].to, {room.data(), std::size_t(count)});
            // Who went away, or closed it from the beginning, wants no more.
            if (error != 0 && error != EPIPE && error != EBADF) streams[i].lost = true;
        }
    }
    ::_exit(streams[0].lost ? kOutputLost : 0);
}

}  // namespace

Relay::Relay(Streams how) {
    if (how == Streams::as_they_are) return;
    std::array<int, 2> out{-1, -1}, error{-1, -1};
    if (::pipe2(out.data(), O_CLOEXEC) != 0 || ::pipe2(error.data(), O_CLOEXEC) != 0) {
        for (const int end : out)
            if (end >= 0) ::close(end);
        return;
    }
    process_ = ::fork();
    if (process_ == 0) {
        ::prctl(PR_SET_NAME, "dtnn-run-relay");
        ::close(out[1]);
        ::close(error[1]);
        // Signals to the terminal's group and to this program are the ranks' affair.
        ::setpgid(0, 0);
        for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE})
            std::signal(signal, SIG_IGN);
        hand_on({Stream{out[0], STDOUT_FILENO}, Stream{error[0], STDERR_FILENO}});
    }
    ::close(out[0]);
    ::close(error[0]);
    out_.reset(out[1]);
    error_.reset(error[1]);
    if (process_ < 0) {
        out_.reset(-1);
        error_.reset(-1);
    }
}

Relay::~Relay() {
    static_cast<void>(finish());
}

void Relay::take_streams() const {
    if (process_ < 0) return;
    ::dup2(out_.number(), STDOUT_FILENO);
    ::dup2(error_.number(), STDERR_FILENO);
}

bool Relay::finish() {
    if (process_ < 0) return true;
    out_.reset(-1);
    error_.reset(-1);
    const auto end = std::chrono::steady_clock::now() + kLeftBehind;
    int status = 0;
    pid_t ended = 0;
    while ((ended = ::waitpid(process_, &status, WNOHANG)) == 0 &&
           std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    process_ = -1;
    return ended <= 0 || !WIFEXITED(status) || WEXITSTATUS(status) != kOutputLost;
}

}  // namespace dtnn
