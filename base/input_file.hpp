#pragma once
/// The one way in which files are opened for reading: without ever waiting, regular files only, and
/// never more bytes of them than the reader has a use for.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace dtnn {

/// The fault that keeps a file from being read: the errno that the system gave, or, where `error`
/// is 0, a fact about the file. The caller puts the path before it.
struct ReadFault {
    int error = 0;
    std::string fact;    ///< "is a pipe, not a regular file"; empty where the system said why
    std::string remedy;  ///< may be empty

    explicit operator bool() const { return error != 0 || !fact.empty(); }
    /// In words, as they stand behind "cannot read PATH: ": the system's, or "it FACT".
    std::string reason() const;
};

/// A regular file, read at any place, by several threads at once.
class InputFile {
  public:
    /// Refuses what is not a regular file (a folder, a pipe, a device); fault() says so.
    explicit InputFile(const std::string& path);
    ~InputFile();
    InputFile(InputFile&& other) noexcept;
    InputFile& operator=(InputFile&& other) noexcept;
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    /// Whether it was opened; nothing may be read else.
    const ReadFault& fault() const { return fault_; }
    std::int64_t size() const { return size_; }  ///< when it was opened

    /// Fills `bytes` from `offset`; a fault when the file ends before.
    ReadFault read(std::int64_t offset, std::span<char> bytes) const;

    /// All that it had when it was opened, into `text`; a fault, before memory is taken, when that
    /// is more than `most`, the limit of `what` ("a plan"). `go_on` is asked before every few
    /// megabytes, and may throw.
    ReadFault read_all(std::int64_t most, std::string_view what, std::string& text,
                       const std::function<void()>& go_on = {}) const;

  private:
    ReadFault fault_;
    int descriptor_ = -1;
    std::int64_t size_ = 0;
};

/// The whole of the file, as InputFile opens and reads it.
ReadFault read_input(const std::string& path, std::int64_t most, std::string_view what,
                     std::string& text);

}  // namespace dtnn
