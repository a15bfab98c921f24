#include "base/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
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

void Descriptor::reset(int number) {
    if (number_ >= 0) ::close(number_);
    number_ = number;
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

bool answer_is_wanted() {
    const int flags = ::fcntl(answers, F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

int flush_to_disk(int descriptor) {
    // EBADF: of a folder that may not be read.
    return ::fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS || errno == EBADF ? 0
                                                                                           : errno;
}

bool is_link(const std::string& path) {
    std::error_code error;
    return std::filesystem::is_symlink(path, error);
}

std::string place_of_file(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
        return "";
    if (!is_link(path)) return path;
    std::error_code error;
    const std::filesystem::path target = std::filesystem::weakly_canonical(path, error);
    return error ? path : target.string();
}

int name_aside(const std::string& place, std::string& name) {
    // Long names get no longer than a file system takes them.
    constexpr std::size_t kMostKept = 200;
    std::uint64_t number = 0;
    if (::getrandom(&number, sizeof number, 0) != ssize_t(sizeof number)) return errno;
    const std::size_t begin = place.find_last_of('/') + 1;
    name = fmt::format("{}.{:016x}.part", place.substr(0, begin + kMostKept), number);
    return 0;
}

FileAside::FileAside(const std::string& place, unsigned mode)
    : own_folder_(-1), folder_(AT_FDCWD), name_(place), file_(-1) {
    const std::size_t slash = place.find_last_of('/');
    const std::string folder = slash == std::string::npos ? "." : place.substr(0, slash + 1);
    name_ = place.substr(slash + 1);
    own_folder_.reset(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // A folder that may be written to and not be read cannot be flushed.
    if (own_folder_.number() < 0 && errno == EACCES)
        own_folder_.reset(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (own_folder_.number() < 0) {
        error_ = errno;
        return;
    }
    folder_ = own_folder_.number();
    make(mode);
}

FileAside::FileAside(int folder, std::string name, unsigned mode)
    : own_folder_(-1), folder_(folder), name_(std::move(name)), file_(-1) {
    make(mode);
}

FileAside::~FileAside() {
    if (!aside_.empty()) ::unlinkat(folder_, aside_.c_str(), 0);
}

void FileAside::make(unsigned mode) {
    do {
        error_ = name_aside(name_, aside_);
        if (error_ != 0) break;
        file_.reset(::openat(folder_, aside_.c_str(),
                             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
        if (file_.number() < 0) error_ = errno;
    } while (error_ == EEXIST);
    if (error_ != 0) aside_.clear();
}

int FileAside::put(Flush flush) {
    if (flush == Flush::to_disk)
        if (const int error = flush_to_disk(file_.number())) return error;
    if (file_.close() != 0) return errno;
    if (::renameat(folder_, aside_.c_str(), folder_, name_.c_str()) != 0) return errno;
    aside_.clear();
    return flush == Flush::to_disk ? flush_to_disk(folder_) : 0;
}

int replace_file(const std::string& place, const std::function<int(int descriptor)>& write) {
    FileAside file(place);
    if (file.error() != 0) return file.error();
    const int error = write(file.descriptor());
    return error != 0 ? error : file.put();
}

}  // namespace dtnn
