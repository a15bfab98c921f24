#include "runtime/comm/launcher_abort.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "base/files.hpp"

namespace dtnn::runtime {
namespace {

bool ask(int connection, const std::string& request) {
    return write(connection, request.data(), request.size()) == ssize_t(request.size());
}

/// Drops an answer, for which it waits so long at most; whether the connection still stands.
bool answered(int connection, int milliseconds) {
    pollfd answer = {connection, POLLIN, 0};
    char dropped[256];
    return poll(&answer, 1, milliseconds) <= 0 || read(connection, dropped, sizeof dropped) > 0;
}

}  // namespace

void let_output_pass() {
    using std::chrono::milliseconds;
    std::fflush(nullptr);
    for (int i = 0; i < 70; ++i) {
        int left = 0;
        const bool unread = (ioctl(STDERR_FILENO, FIONREAD, &left) == 0 && left > 0) ||
                            (ioctl(answer_descriptor(), FIONREAD, &left) == 0 && left > 0);
        if (!unread) break;
        std::this_thread::sleep_for(milliseconds(10));
    }
    // The launcher's own ways, from node to node, cannot be seen.
    std::this_thread::sleep_for(milliseconds(300));
}

void abort_by_launcher(int code) {
    const char* text = std::getenv("PMI_FD");
    if (text == nullptr) return;
    const int connection = std::atoi(text);
    let_output_pass();
    // The first request on a connection chooses the protocol; a second one of it changes nothing.
    // Slurm takes whatever it reads at once for a single request, so the next waits for the answer;
    // to the second of its kind there is none.
    if (!ask(connection, "cmd=init pmi_version=1 pmi_subversion=1\n")) return;
    if (!answered(connection, 300)) return;
    if (!ask(connection, fmt::format("cmd=abort exitcode={}\n", code))) return;
    // The launcher ends this process too. If it does not, the caller goes on to end by itself.
    for (int i = 0; i < 20; ++i)
        if (!answered(connection, 100)) return;
}

}  // namespace dtnn::runtime
