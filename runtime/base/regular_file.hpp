#pragma once
/// Files that are read (base/input_file.hpp), with errors that name path, fact and remedy.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/input_file.hpp"
#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {

/// Read at any place, by several threads at once.
class RegularFile {
  public:
    /// Opens without ever waiting: what is not a regular file (a folder, a pipe, a device) is
    /// refused. Errors name the path; `exit` is their code.
    explicit RegularFile(std::string path, Exit exit = Exit::failed);

    const std::string& path() const { return path_; }
    std::int64_t size() const { return file_.size(); }  ///< when it was opened

    /// Fills `bytes` from `offset`; an error when the file ends before.
    void read(std::int64_t offset, std::span<char> bytes) const;
    void read(std::int64_t offset, std::span<std::uint8_t> bytes) const {
        read(offset, std::span<char>(reinterpret_cast<char*>(bytes.data()), bytes.size()));
    }
    /// All of it; an error when it is longer than `most`, which `what` calls by a name ("an
    /// image"). A signal that asks to stop ends it (signals.hpp).
    std::string read_all(std::int64_t most, std::string_view what) const;

  private:
    /// Throws for a fault of doing `action`; nothing where there is none.
    void check(const std::string& action, const ReadFault& fault) const;

    std::string path_;
    Exit exit_;
    InputFile file_;
};

/// The whole file, as RegularFile reads it. `exit` is the code of its errors.
std::string read_file(const std::string& path, std::int64_t most, std::string_view what,
                      Exit exit = Exit::failed);

}  // namespace dtnn::runtime
