#include "tools/dtnnc/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace dtnn::tools {

namespace {

// Closes on every way out; a descriptor's own errors are checked where they matter.
class Descriptor {
  public:
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    int number() const { return number_; }
    int close() {
        int number = number_;
        number_ = -1;
        return ::close(number);
    }

  private:
    int number_;
};

[[noreturn]] void fail(const std::string& what, int error) {
    const std::string text = fmt::format("cannot write {}: {}", what, std::strerror(error));
    if (error == EPIPE) throw ClosedOutput(text);
    throw OutputError(text);
}

int write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0) {
            if (errno == EINTR) continue;
            return errno;
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

void write_directly(const std::string& path, std::string_view text) {
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.number() < 0) fail(path, errno);
    if (int error = write_all(file.number(), text)) fail(path, error);
    if (file.close() != 0) fail(path, errno);
}

}  // namespace

std::optional<std::string> read_file(const std::string& path, std::string& error) {
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.number() < 0) {
        error = std::strerror(errno);
        return std::nullopt;
    }
    std::string text;
    struct stat status {};
    if (::fstat(file.number(), &status) == 0 && S_ISREG(status.st_mode))
        text.reserve(static_cast<std::size_t>(status.st_size));
    char part[1 << 16];
    for (;;) {
        ssize_t count = ::read(file.number(), part, sizeof part);
        if (count == 0) return text;
        if (count < 0) {
            if (errno == EINTR) continue;
            error = std::strerror(errno);
            return std::nullopt;
        }
        text.append(part, static_cast<std::size_t>(count));
    }
}

void write_file(const std::string& path, std::string_view text) {
    write_file(path, [&](const std::function<void(std::string_view)>& sink) {
        sink(text);
        return FilePatch{};
    });
}

void write_file(
    const std::string& path,
    const std::function<FilePatch(const std::function<void(std::string_view)>& sink)>& make) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
        if (S_ISDIR(status.st_mode)) fail(path, EISDIR);
        std::string text;
        const FilePatch patch = make([&](std::string_view piece) { text.append(piece); });
        text.replace(patch.offset, patch.text.size(), patch.text);
        write_directly(path, text);
        return;
    }
    std::string aside = fmt::format("{}.{}.part", path, ::getpid());
    Descriptor file(::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (file.number() < 0) fail(path, errno);
    int error = 0;
    FilePatch patch;
    try {
        patch = make([&](std::string_view piece) {
            if (!error) error = write_all(file.number(), piece);
        });
    } catch (...) {
        ::unlink(aside.c_str());
        throw;
    }
    if (!error && !patch.text.empty()) {
        if (::lseek(file.number(), static_cast<off_t>(patch.offset), SEEK_SET) < 0)
            error = errno;
        else
            error = write_all(file.number(), patch.text);
    }
    if (!error && ::fsync(file.number()) != 0 && errno != EINVAL) error = errno;
    if (file.close() != 0 && !error) error = errno;
    if (!error && ::rename(aside.c_str(), path.c_str()) != 0) error = errno;
    if (error) {
        ::unlink(aside.c_str());
        fail(path, error);
    }
}

void write_stdout(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
        fail("standard output", errno);
}

void flush_stdout() {
    if (std::fflush(stdout) != 0 || std::ferror(stdout)) fail("standard output", errno);
}

int output_width() {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    if (const char* columns = std::getenv("COLUMNS"))
        if (int width = std::atoi(columns); width > 0) return width;
    return 120;
}

}  // namespace dtnn::tools
