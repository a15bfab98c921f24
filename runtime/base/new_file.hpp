#pragma once
/// A file that is written piece by piece, and is there once it is whole.

#include <string>
#include <string_view>

namespace dtnn::runtime {

/// Writes to PATH.part; finish() flushes it to the disk and renames it. Without finish() nothing is
/// left. "-" is standard output. Errors are RunErrors that name the path.
class NewFile {
  public:
    explicit NewFile(std::string path);
    ~NewFile();
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    void add(std::string_view text);
    void finish();

  private:
    void flush();
    [[noreturn]] void fail(int error);

    std::string path_;
    std::string buffer_;
    std::string aside_;    ///< what is written until it is whole; empty: path_ itself
    int descriptor_ = -1;  ///< the file that is written; -1: none
};

}  // namespace dtnn::runtime
