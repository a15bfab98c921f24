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

void fill_standard_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
        // The lowest free number is this one. Opened for the other direction: writing still fails.
        static_cast<void>(::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
    }
}

namespace {
int answers = STDOUT_FILENO;
}  // namespace

int keep_answers_apart() {
    const int own = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (own < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return errno;
    answers = own;
    return 0;
}

int answer_descriptor() {
    return answers;
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
