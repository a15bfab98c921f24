#include "runtime/base/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace dtnn::runtime {
namespace {

std::string remedy(int error, bool reading) {
    switch (error) {
        case ENOSPC:
        case EDQUOT:
            return "free some space, or name a folder on another disk with --output";
        case EACCES:
        case EPERM:
        case EROFS:
            return reading ? "change its permissions, or copy it to where it may be read"
                           : "change its permissions, or name another folder with --output";
        case ENOENT:
            return "check the path; it is relative to the current folder";
        case ENOTDIR:
            return "a part of the path is a file, not a folder";
        case EISDIR:
            return "name a file, not a folder";
        case EFBIG:
            return "raise the limit of a file's size (ulimit -f)";
        case EMFILE:
        case ENFILE:
            return "raise the limit of open files (ulimit -n)";
        case ELOOP:
            return "a link in the path leads back to itself: correct it";
        case EIO:
            return reading
                       ? "the disk or its file system is failing: read it from another place"
                       : "the disk or its file system is failing: name a folder on another disk "
                         "with --output";
        default:
            return "";
    }
}

/// A descriptor that closes itself.
class Descriptor {
  public:
    explicit Descriptor(int value) : value_(value) {}
    ~Descriptor() {
        if (value_ >= 0) ::close(value_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return value_; }
    int release() { return std::exchange(value_, -1); }

  private:
    int value_;
};

/// Zero, or the errno.
int write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0) {
            if (errno == EINTR) continue;
            return errno;
        }
        text.remove_prefix(std::size_t(written));
    }
    return 0;
}

int write_into(const std::string& path, std::span<const std::string_view> parts) {
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (file.get() < 0) return errno;
    for (const std::string_view part : parts) {
        if (const int error = write_all(file.get(), part)) return error;
    }
    // Pipes and devices have nothing to be flushed.
    if (::fsync(file.get()) != 0 && errno != EINVAL && errno != EROFS) return errno;
    return ::close(file.release()) == 0 ? 0 : errno;
}

}  // namespace

RunError system_error(const std::string& action, const std::string& path, int error, Exit exit) {
    return RunError(exit,
                    fmt::format("cannot {} {}: {}", action, path,
                                std::error_code(error, std::generic_category()).message()),
                    remedy(error, action.starts_with("read") || action == "open"));
}

std::string read_file(const std::string& path, Exit exit) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) throw system_error("open", path, errno, exit);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) throw system_error("read", path, errno, exit);
    if (S_ISDIR(status.st_mode)) throw system_error("read", path, EISDIR, exit);
    std::string text;
    // The size is a first guess only: pipes have none, and a file may grow.
    std::size_t room = std::size_t(status.st_size > 0 ? status.st_size : 0) + 1;
    std::size_t have = 0;
    while (true) {
        text.resize(have + room);
        const ssize_t got = ::read(file.get(), text.data() + have, room);
        if (got < 0) {
            if (errno == EINTR) continue;
            throw system_error("read", path, errno, exit);
        }
        if (got == 0) break;
        have += std::size_t(got);
        room = room > std::size_t(got) ? room - std::size_t(got) : 65536;
    }
    text.resize(have);
    return text;
}

std::string place_of_file(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
        return "";
    std::error_code error;
    if (!std::filesystem::is_symlink(path, error)) return path;
    const std::filesystem::path target = std::filesystem::weakly_canonical(path, error);
    return error ? path : target.string();
}

void write_file(const std::string& name, std::span<const std::string_view> parts) {
    const std::string path = place_of_file(name);
    if (path.empty()) {
        if (const int error = write_into(name, parts)) throw system_error("write", name, error);
        return;
    }
    const std::string aside = path + ".part";
    if (const int error = write_into(aside, parts)) {
        ::unlink(aside.c_str());
        throw system_error("write", path, error);
    }
    if (::rename(aside.c_str(), path.c_str()) != 0) {
        const int error = errno;
        ::unlink(aside.c_str());
        throw system_error("write", path, error);
    }
    // The new name is safe once the folder is on the disk; not every file system can be asked.
    const std::string folder = std::filesystem::path(path).parent_path().string();
    const Descriptor directory(
        ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory.get() >= 0) ::fsync(directory.get());
}

void write_file(const std::string& path, std::string_view text) {
    write_file(path, std::span<const std::string_view>(&text, 1));
}

void create_folders(const std::string& path) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error) throw system_error("create the folder", path, error.value());
    if (!std::filesystem::is_directory(path, error)) {
        throw system_error("create the folder", path, ENOTDIR);
    }
}

LineFile::LineFile(std::string path, Begin begin) : path_(std::move(path)) {
    Descriptor file(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (file.get() < 0) throw system_error("write", path_, errno);
    // The lock goes with the process, however it ends.
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        throw RunError(Exit::failed, fmt::format("another process writes {}", path_),
                       "wait until that run is over, or stop it");
    }
    // A device has no end to be moved.
    if (begin == Begin::empty && ::ftruncate(file.get(), 0) != 0 && errno != EINVAL)
        throw system_error("write", path_, errno);
    file_.reset(::fdopen(file.get(), "r+"));
    if (!file_) throw system_error("write", path_, errno);
    file.release();
    if (std::fseek(file_.get(), 0, SEEK_END) != 0) throw system_error("write", path_, errno);
}

void LineFile::add(std::string_view line) {
    if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size() ||
        std::fputc('\n', file_.get()) == EOF || std::fflush(file_.get()) != 0) {
        throw system_error("write", path_, errno);
    }
}

std::int64_t LineFile::bytes() const {
    const off_t bytes = ::ftello(file_.get());
    if (bytes < 0) throw system_error("read", path_, errno);
    return bytes;
}

void LineFile::cut(std::int64_t bytes) {
    std::int64_t end = std::min(bytes, this->bytes());
    // Cuts to the end of the last whole line.
    for (; end > 0; --end) {
        if (::fseeko(file_.get(), end - 1, SEEK_SET) != 0) throw system_error("read", path_, errno);
        if (std::fgetc(file_.get()) == '\n') break;
    }
    if (::fseeko(file_.get(), end, SEEK_SET) != 0 || ::ftruncate(::fileno(file_.get()), end) != 0) {
        throw system_error("write", path_, errno);
    }
}

void LineFile::flush() {
    if (!file_) return;
    if (std::fflush(file_.get()) != 0) throw system_error("write", path_, errno);
    if (::fsync(::fileno(file_.get())) != 0 && errno != EINVAL && errno != EROFS)
        throw system_error("write", path_, errno);
}

void LineFile::close() {
    if (!file_) return;
    flush();
    if (std::fclose(file_.release()) != 0) throw system_error("write", path_, errno);
}

void fill_standard_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
        // The lowest free number is this one. Opened for the other direction: writing still fails.
        static_cast<void>(::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
    }
}

void print_out(std::string_view text) {
    const int error = write_all(STDOUT_FILENO, text);
    if (error != 0 && error != EPIPE) throw system_error("write", "standard output", error);
}

std::string base_name(const std::string& path) {
    return path.substr(path.find_last_of('/') + 1);
}

}  // namespace dtnn::runtime
