#pragma once
/// A regular file that is read at any place, by several threads at once.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {

class RegularFile {
  public:
    /// Opens without ever waiting: what is not a regular file (a folder, a pipe, a device) is
    /// refused. Errors name the path; `exit` is their code.
    explicit RegularFile(std::string path, Exit exit = Exit::failed);
    ~RegularFile();
    RegularFile(RegularFile&& other) noexcept;
    RegularFile& operator=(RegularFile&& other) noexcept;
    RegularFile(const RegularFile&) = delete;
    RegularFile& operator=(const RegularFile&) = delete;

    const std::string& path() const { return path_; }
    std::int64_t size() const { return size_; }  ///< when it was opened

    /// Fills `bytes` from `offset`; an error when the file ends before.
    void read(std::int64_t offset, std::span<char> bytes) const;
    void read(std::int64_t offset, std::span<std::uint8_t> bytes) const {
        read(offset, std::span<char>(reinterpret_cast<char*>(bytes.data()), bytes.size()));
    }
    /// All of it; an error when it is longer than `most`, which `what` calls by a name ("an
    /// image").
    std::string read_all(std::int64_t most, std::string_view what) const;

  private:
    std::string path_;
    Exit exit_;
    int descriptor_ = -1;
    std::int64_t size_ = 0;
};

}  // namespace dtnn::runtime
