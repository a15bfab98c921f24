#pragma once
/// A file of records as TensorFlow frames them (TFRecord): for each record its length (8 bytes,
/// little-endian), a masked CRC-32C of these, the bytes, a masked CRC-32C of the bytes.
/// (https://www.tensorflow.org/tutorials/load_data/tfrecord)

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace dtnn::runtime {

/// CRC-32C (Castagnoli; RFC 3720, appendix B.4).
std::uint32_t crc32c(std::string_view bytes);

/// Records are handed to the system one by one, so that a killed run keeps them and a reader that
/// follows the file sees them at once.
class EventFile {
  public:
    /// Begins an empty file; a RunError when it cannot be written.
    explicit EventFile(std::string path);
    void add(std::string_view record);
    const std::string& path() const { return path_; }

  private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::string path_;
    std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace dtnn::runtime
