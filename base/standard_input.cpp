#include "base/standard_input.hpp"

#include <unistd.h>

#include <cerrno>

namespace dtnn {

int read_standard_input(std::string& text, const std::function<bool(const std::string&)>& enough) {
    constexpr std::size_t kPiece = 1U << 16;
    while (!enough(text)) {
        const std::size_t size = text.size();
        text.resize(size + kPiece);
        ssize_t count = 0;
        do {
            count = ::read(STDIN_FILENO, text.data() + size, kPiece);
        } while (count < 0 && errno == EINTR);
        text.resize(size + std::size_t(count < 0 ? 0 : count));
        if (count < 0) return errno;
        if (count == 0) return 0;
    }
    return 0;
}

}  // namespace dtnn
