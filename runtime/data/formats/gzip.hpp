#pragma once
/// Reading gzip files (RFC 1952) piece by piece, with their checksums.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/regular_file.hpp"

namespace dtnn::runtime {

/// The most that compressed data may become: this many times as much, once the first so many bytes
/// are out. Deflate reaches 1032; image archives stay below 3, sparse tables below 100.
inline constexpr std::int64_t kMostExpansion = 200;
inline constexpr std::int64_t kFreeExpansion = std::int64_t{16} << 20;

/// An error when `packed` bytes of `path` have become `unpacked` bytes and that is past belief.
void check_expansion(const std::string& path, std::int64_t packed, std::int64_t unpacked);

class GzipReader {
  public:
    /// The file outlives the reader.
    explicit GzipReader(const RegularFile& file);
    ~GzipReader();
    GzipReader(const GzipReader&) = delete;
    GzipReader& operator=(const GzipReader&) = delete;

    /// Unpacks up to `bytes.size()` bytes; fewer, or none, only at the end. Data that is corrupt,
    /// cut off, followed by something else, or that expands past belief is a RunError.
    std::size_t read(std::span<char> bytes);

  private:
    struct State;
    void refill();

    const RegularFile& file_;
    std::vector<char> packed_;
    std::int64_t offset_ = 0;  ///< how much of the file has been read
    std::int64_t unpacked_ = 0;
    bool ended_ = false;
    std::unique_ptr<State> state_;
};

/// Whether the file begins as gzip does.
bool is_gzip(const RegularFile& file);

}  // namespace dtnn::runtime
