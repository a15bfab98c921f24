#pragma once
/// Walking through tar, tar.gz and zip files without unpacking anything to a disk (libarchive).

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/regular_file.hpp"

namespace dtnn::runtime {

struct Member {
    std::string path;       ///< UTF-8, without a leading "./"
    std::int64_t size = 0;  ///< unpacked
    /// The place where its bytes begin in the file, in a tar that is not compressed; -1: elsewhere.
    std::int64_t offset = -1;
    /// The same of a member that a zip stores as it is, as far as can be told: what is found there
    /// must be verified, and its checksum is not when it is read there.
    std::int64_t zip_offset = -1;
};

/// Refuses what no honest archive of data holds: absolute paths, paths that climb out ("..") or are
/// not UTF-8, links, devices, members without a size, and data that expands past belief.
class ArchiveReader {
  public:
    /// The file outlives the reader. With a range, the archive is a member of the file that lies
    /// there as it is, and `label` is what messages call it.
    explicit ArchiveReader(const RegularFile& file);
    ArchiveReader(const RegularFile& file, const Member& inner);
    ~ArchiveReader();
    ArchiveReader(const ArchiveReader&) = delete;
    ArchiveReader& operator=(const ArchiveReader&) = delete;

    /// The next regular file; folders, and hidden files (".DS_Store", "__MACOSX/...") are passed
    /// over. Nothing: the end.
    std::optional<Member> next();

    /// The whole of the member that next() has given; `bytes` is exactly as large.
    void read(std::span<char> bytes);
    std::string read();  ///< takes memory only for a size that the file can hold
    /// The same, piece by piece.
    void read(const std::function<void(std::string_view)>& piece);

    const std::string& label() const { return label_; }

  private:
    struct Source;
    [[noreturn]] void fail(const std::string& what) const;
    /// Before the current member is unpacked, or memory is taken for it: refuses a bomb.
    void expect_member();
    void fill(std::span<char> bytes);

    std::string label_;
    std::unique_ptr<Source> source_;
    std::int64_t size_ = 0;  ///< size of the current member
    std::string member_;     ///< its path
    std::int64_t unpacked_ = 0;
};

/// Whether the path is one that no archive may hold: absolute, climbing, not UTF-8 or empty; says
/// why, or nothing.
const char* why_unsafe(const std::string& path);

}  // namespace dtnn::runtime
