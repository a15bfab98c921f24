#include "runtime/base/regular_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "runtime/base/files.hpp"

namespace dtnn::runtime {

RegularFile::RegularFile(std::string path, Exit exit)
    : path_(std::move(path)),
      exit_(exit),
      // Without O_NONBLOCK, opening a pipe waits for someone who writes into it.
      descriptor_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (descriptor_ < 0) throw system_error("open", path_, errno, exit_);
    struct stat status {};
    const int error = ::fstat(descriptor_, &status) == 0 ? 0 : errno;
    if (error == 0 && S_ISREG(status.st_mode)) {
        size_ = status.st_size;
        return;
    }
    ::close(descriptor_);
    if (error != 0) throw system_error("read", path_, error, exit_);
    throw RunError(exit_,
                   fmt::format("{} is {}, not a regular file", path_,
                               S_ISDIR(status.st_mode)    ? "a folder"
                               : S_ISFIFO(status.st_mode) ? "a pipe"
                                                          : "a device or a socket"),
                   "name a file; what comes out of a pipe is written to one first");
}

RegularFile::~RegularFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

RegularFile::RegularFile(RegularFile&& other) noexcept
    : path_(std::move(other.path_)),
      exit_(other.exit_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_) {}

RegularFile& RegularFile::operator=(RegularFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(exit_, other.exit_);
    std::swap(descriptor_, other.descriptor_);
    std::swap(size_, other.size_);
    return *this;
}

void RegularFile::read(std::int64_t offset, std::span<char> bytes) const {
    while (!bytes.empty()) {
        const ssize_t got = ::pread(descriptor_, bytes.data(), bytes.size(), offset);
        if (got < 0) {
            if (errno == EINTR) continue;
            throw system_error("read", path_, errno, exit_);
        }
        if (got == 0) {
            throw RunError(exit_,
                           fmt::format("{} ends after {} bytes; it had {} when it was opened",
                                       path_, offset, size_),
                           "something has cut it off; make it again, and leave it alone in a run");
        }
        bytes = bytes.subspan(std::size_t(got));
        offset += got;
    }
}

std::string RegularFile::read_all(std::int64_t most, std::string_view what) const {
    if (size_ > most) {
        throw RunError(exit_,
                       fmt::format("{} has {} bytes; {} has at most {}", path_, size_, what, most),
                       "name another file");
    }
    std::string bytes(std::size_t(size_), '\0');
    read(0, std::span<char>(bytes));
    return bytes;
}

}  // namespace dtnn::runtime
