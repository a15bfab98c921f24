#include "base/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace dtnn {

int write_into(const std::string& path, const std::function<int(int descriptor)>& write) {
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (file.number() < 0) return errno;
    if (const int error = write(file.number())) return error;
    if (const int error = flush_to_disk(file.number())) return error;
    return file.close() == 0 ? 0 : errno;
}

Descriptor::~Descriptor() {
    if (number_ >= 0) ::close(number_);
}

int Descriptor::release() {
    return std::exchange(number_, -1);
}

int Descriptor::close() {
    return ::close(release());
}

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

int read_all(int descriptor, std::string& text) {
    struct stat status {};
    if (::fstat(descriptor, &status) != 0) return errno;
    if (S_ISDIR(status.st_mode)) return EISDIR;
    // The size is a first guess only: pipes have none, and a file may grow.
    std::size_t room = std::size_t(status.st_size > 0 ? status.st_size : 0) + 1;
    std::size_t have = text.size();
    while (true) {
        text.resize(have + room);
        const ssize_t got = ::read(descriptor, text.data() + have, room);
        if (got < 0 && errno == EINTR) continue;
        const int error = errno;
        if (got > 0) have += std::size_t(got);
        if (got <= 0) {
            text.resize(have);
            return got < 0 ? error : 0;
        }
        room = room > std::size_t(got) ? room - std::size_t(got) : 65536;
    }
}

int flush_to_disk(int descriptor) {
    return ::fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS ? 0 : errno;
}

void flush_folder_of(const std::string& path) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    const Descriptor directory(
        ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory.number() >= 0) ::fsync(directory.number());
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

int replace_file(const std::string& place, const std::string& suffix,
                 const std::function<int(int descriptor)>& write) {
    const std::string aside = place + suffix;
    int error = 0;
    try {
        error = write_into(aside, write);
    } catch (...) {
        ::unlink(aside.c_str());
        throw;
    }
    if (error == 0 && ::rename(aside.c_str(), place.c_str()) != 0) error = errno;
    if (error != 0)
        ::unlink(aside.c_str());
    else
        flush_folder_of(place);
    return error;
}

}  // namespace dtnn
