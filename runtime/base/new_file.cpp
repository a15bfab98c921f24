#include "runtime/base/new_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/files.hpp"
#include "runtime/base/files.hpp"

namespace dtnn::runtime {
namespace {
constexpr std::size_t kBuffer = std::size_t{1} << 18;
}  // namespace

NewFile::NewFile(std::string path) : path_(std::move(path)) {
    if (path_ == "-") return;
    const std::string place = place_of_file(path_);
    aside_ = place.empty() ? "" : place + ".part";
    if (!place.empty()) path_ = place;
    descriptor_ = ::open((aside_.empty() ? path_ : aside_).c_str(),
                         O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor_ < 0) throw system_error("write", path_, errno);
}

NewFile::~NewFile() {
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    if (!aside_.empty()) ::unlink(aside_.c_str());
}

void NewFile::fail(int error) {
    throw system_error("write", path_, error);
}

void NewFile::flush() {
    if (path_ == "-") {
        print_out(buffer_);
        buffer_.clear();
        return;
    }
    if (const int error = write_all(descriptor_, buffer_)) fail(error);
    buffer_.clear();
}

void NewFile::add(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= kBuffer) flush();
}

void NewFile::finish() {
    flush();
    if (path_ == "-") return;
    if (const int error = flush_to_disk(descriptor_)) fail(error);
    const bool closed = ::close(std::exchange(descriptor_, -1)) == 0;
    if (closed && (aside_.empty() || ::rename(aside_.c_str(), path_.c_str()) == 0)) return;
    const int error = errno;
    if (!aside_.empty()) ::unlink(aside_.c_str());
    fail(error);
}

}  // namespace dtnn::runtime
