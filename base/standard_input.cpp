#include "base/standard_input.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace dtnn {

int read_standard_input(std::string& text, const std::function<bool(const std::string&)>& enough) {
    constexpr std::size_t kPiece = 1U << 16;
    constexpr int kLookMilliseconds = 200;
    while (!enough(text)) {
        // A read that waits goes on after a signal, poll does not.
        pollfd input = {STDIN_FILENO, POLLIN, 0};
        const int ready = ::poll(&input, 1, kLookMilliseconds);
        if (ready < 0 && errno != EINTR) return errno;
        if (ready <= 0) continue;
        const std::size_t size = text.size();
        text.resize(size + kPiece);
        const ssize_t count = ::read(STDIN_FILENO, text.data() + size, kPiece);
        if (count < 0 && errno == EINTR) {
            text.resize(size);
            continue;
        }
        text.resize(size + std::size_t(count < 0 ? 0 : count));
        if (count < 0) return errno;
        if (count == 0) return 0;
    }
    return 0;
}

}  // namespace dtnn
