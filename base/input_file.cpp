#include "base/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace dtnn {

std::string ReadFault::reason() const {
    if (error != 0) return std::error_code(error, std::generic_category()).message();
    return "it " + fact;
}

InputFile::InputFile(const std::string& path)
    // Without O_NONBLOCK, opening a pipe waits for someone who writes into it; without O_NOCTTY, a
    // terminal that is named becomes the program's.
    : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
    struct stat status {};
    if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) {
        fault_.error = errno;
    } else if (S_ISREG(status.st_mode)) {
        size_ = status.st_size;
    } else {
        fault_.fact = fmt::format("is {}, not a regular file", S_ISDIR(status.st_mode) ? "a folder"
                                                               : S_ISFIFO(status.st_mode)
                                                                   ? "a pipe"
                                                                   : "a device or a socket");
        fault_.remedy = "name a file; what comes out of a pipe is written to one first";
    }
}

InputFile::~InputFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

InputFile::InputFile(InputFile&& other) noexcept
    : fault_(std::move(other.fault_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
    std::swap(fault_, other.fault_);
    std::swap(descriptor_, other.descriptor_);
    std::swap(size_, other.size_);
    return *this;
}

ReadFault InputFile::read(std::int64_t offset, std::span<char> bytes) const {
    while (!bytes.empty()) {
        const ssize_t got = ::pread(descriptor_, bytes.data(), bytes.size(), offset);
        if (got < 0) {
            if (errno == EINTR) continue;
            return {errno, "", ""};
        }
        if (got == 0) {
            return {0,
                    fmt::format("ends after {} bytes; it had {} when it was opened", offset, size_),
                    "something has cut it off; make it again, and leave it alone in a run"};
        }
        bytes = bytes.subspan(std::size_t(got));
        offset += got;
    }
    return {};
}

ReadFault InputFile::read_all(std::int64_t most, std::string_view what, std::string& text,
                              const std::function<void()>& go_on) const {
    if (size_ > most) {
        return {0, fmt::format("has {} bytes; {} has at most {}", size_, what, most),
                "name another file"};
    }
    constexpr std::int64_t kPiece = std::int64_t{8} << 20;
    text.resize(std::size_t(size_));
    for (std::int64_t at = 0; at < size_; at += kPiece) {
        if (go_on) go_on();
        const std::int64_t size = std::min(kPiece, size_ - at);
        if (ReadFault fault = read(at, {text.data() + at, std::size_t(size)})) return fault;
    }
    return {};
}

ReadFault read_input(const std::string& path, std::int64_t most, std::string_view what,
                     std::string& text) {
    const InputFile file(path);
    return file.fault() ? file.fault() : file.read_all(most, what, text);
}

}  // namespace dtnn
