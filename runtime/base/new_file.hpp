#pragma once
/// A file that is written piece by piece, and is there once it is whole.

#include <optional>
#include <string>
#include <string_view>

#include "base/files.hpp"

namespace dtnn::runtime {

/// Writes a FileAside, which finish() puts to its place; what is no regular file is written into.
/// "-" is standard output. Errors are RunErrors that name the path.
class NewFile {
  public:
    explicit NewFile(std::string path);
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    void add(std::string_view text);
    void finish();

  private:
    int descriptor() const { return aside_ ? aside_->descriptor() : into_.number(); }
    void flush();
    [[noreturn]] void fail(int error);

    std::string path_;
    std::string buffer_;
    std::optional<FileAside> aside_;  ///< none: the path itself is written into
    Descriptor into_;
};

}  // namespace dtnn::runtime
