#include "runtime/base/new_file.hpp"

#include <fcntl.h>

#include <cerrno>
#include <utility>

#include "runtime/base/files.hpp"

namespace dtnn::runtime {
namespace {
constexpr std::size_t kBuffer = std::size_t{1} << 18;
}  // namespace

NewFile::NewFile(std::string path) : path_(std::move(path)), into_(-1) {
    if (path_ == "-") return;
    if (const std::string place = place_of_file(path_); !place.empty()) {
        path_ = place;
        aside_.emplace(place);
        if (aside_->error() != 0) fail(aside_->error());
    } else {
        into_.reset(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
        if (into_.number() < 0) fail(errno);
    }
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
    if (const int error = write_all(descriptor(), buffer_)) fail(error);
    buffer_.clear();
}

void NewFile::add(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= kBuffer) flush();
}

void NewFile::finish() {
    flush();
    if (path_ == "-") return;
    int error = 0;
    if (aside_) {
        error = aside_->put();
    } else {
        error = flush_to_disk(into_.number());
        if (into_.close() != 0 && error == 0) error = errno;
    }
    if (error != 0) fail(error);
}

}  // namespace dtnn::runtime
