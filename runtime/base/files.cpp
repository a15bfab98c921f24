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

#include "base/files.hpp"
#include "base/utf8.hpp"

namespace dtnn::runtime {
namespace {

std::string remedy(int error, bool reading) {
    switch (error) {
        case ENOSPC:
        case EDQUOT:
            return "free some space, or name a place on another disk";
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

}  // namespace

RunError system_error(const std::string& action, const std::string& path, int error, Exit exit) {
    return RunError(exit,
                    fmt::format("cannot {} {}: {}", action, path,
                                std::error_code(error, std::generic_category()).message()),
                    remedy(error, action.starts_with("read") || action == "open"));
}

RunError system_error(const std::system_error& error) {
    if (error.code() != std::errc::resource_unavailable_try_again)
        return RunError(Exit::failed, error.what());
    return RunError(Exit::failed, fmt::format("no more threads can be started: {}", error.what()),
                    kMoreProcesses);
}

void write_file(const std::string& name, std::span<const std::string_view> parts) {
    const auto write = [&](int descriptor) {
        for (const std::string_view part : parts)
            if (const int error = write_all(descriptor, part)) return error;
        return 0;
    };
    const std::string path = place_of_file(name);
    const int error = path.empty() ? write_into(name, write) : replace_file(path, write);
    if (error != 0) throw system_error("write", path.empty() ? name : path, error);
}

void write_file(const std::string& path, std::string_view text) {
    write_file(path, std::span<const std::string_view>(&text, 1));
}

void create_folders(const std::string& path) {
    if (path.empty()) return;  // the current folder
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error) throw system_error("create the folder", path, error.value());
    if (!std::filesystem::is_directory(path, error)) {
        throw system_error("create the folder", path, ENOTDIR);
    }
}

LineFile::LineFile(std::string path, Begin begin) : path_(std::move(path)) {
    open();
    // A device has no end to be moved.
    if (begin == Begin::empty && ::ftruncate(::fileno(file_.get()), 0) != 0 && errno != EINVAL)
        throw system_error("write", path_, errno);
    if (std::fseek(file_.get(), 0, SEEK_END) != 0) throw system_error("write", path_, errno);
}

void LineFile::open() {
    Descriptor file(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (file.number() < 0) throw system_error("write", path_, errno);
    // The lock goes with the process, however it ends.
    if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        throw RunError(Exit::failed, fmt::format("another process writes {}", path_),
                       "wait until that run is over, or stop it");
    }
    file_.reset(::fdopen(file.number(), "r+"));
    if (!file_) throw system_error("write", path_, errno);
    file.release();
}

bool LineFile::is_gone() const {
    struct stat own {
    }, there{};
    if (::fstat(::fileno(file_.get()), &own) != 0 || !S_ISREG(own.st_mode)) return false;
    if (::stat(path_.c_str(), &there) != 0) return errno == ENOENT || errno == ENOTDIR;
    return own.st_dev != there.st_dev || own.st_ino != there.st_ino;
}

bool LineFile::put_back() {
    if (!file_ || !is_gone()) return false;
    // A removed file is there as long as it is open.
    std::string lines(std::size_t(bytes()), '\0');
    if (std::fseek(file_.get(), 0, SEEK_SET) != 0 ||
        std::fread(lines.data(), 1, lines.size(), file_.get()) != lines.size() ||
        std::fseek(file_.get(), 0, SEEK_END) != 0)
        throw system_error("read", path_, errno);
    create_folders(std::filesystem::path(path_).parent_path().string());
    open();
    if (::ftruncate(::fileno(file_.get()), 0) != 0 ||
        std::fwrite(lines.data(), 1, lines.size(), file_.get()) != lines.size() ||
        std::fflush(file_.get()) != 0)
        throw system_error("write", path_, errno);
    return true;
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

bool is_being_written(const std::string& path) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    // The lock that is taken here goes with the descriptor, at once.
    return file.number() >= 0 && ::flock(file.number(), LOCK_SH | LOCK_NB) != 0 &&
           errno == EWOULDBLOCK;
}

void print_out(std::string_view text) {
    const int error = write_all(answer_descriptor(), shown_lines(text));
    if (error != 0 && error != EPIPE) throw system_error("write", "standard output", error);
}

std::string base_name(const std::string& path) {
    return path.substr(path.find_last_of('/') + 1);
}

}  // namespace dtnn::runtime
