#include "runtime/data/formats/exif.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

namespace dtnn::runtime {
namespace {

using Bytes = std::span<const std::uint8_t>;

/// Numbers of a stretch of bytes; nothing where it ends before.
class Numbers {
  public:
    Numbers(Bytes bytes, bool little) : bytes_(bytes), little_(little) {}
    std::optional<std::uint32_t> at(std::size_t place, std::size_t count) const {
        if (place > bytes_.size() || count > bytes_.size() - place) return std::nullopt;
        std::uint32_t value = 0;
        for (std::size_t i = 0; i < count; ++i)
            value = value << 8 | bytes_[place + (little_ ? count - 1 - i : i)];
        return value;
    }

  private:
    Bytes bytes_;
    bool little_;
};

bool begins(Bytes bytes, std::string_view text) {
    return bytes.size() >= text.size() &&
           std::equal(text.begin(), text.end(), bytes.begin(),
                      [](char a, std::uint8_t b) { return std::uint8_t(a) == b; });
}

constexpr std::string_view kExif{"Exif\0\0", 6};

/// The tag in the first directory of a TIFF header and what follows it.
Orientation orientation_of_tiff(Bytes tiff) {
    const bool little = begins(tiff, {"II\x2A\0", 4});
    if (!little && !begins(tiff, {"MM\0\x2A", 4})) return Orientation::upright;
    constexpr std::size_t kEntry = 12;
    constexpr std::uint32_t kTag = 0x0112, kShort = 3;
    const Numbers numbers(tiff, little);
    const auto directory = numbers.at(4, 4);
    const auto entries = directory ? numbers.at(*directory, 2) : std::nullopt;
    for (std::size_t i = 0; entries && i < *entries; ++i) {
        const std::size_t entry = std::size_t(*directory) + 2 + i * kEntry;
        const auto value = numbers.at(entry + 8, 2);
        if (!value) break;
        if (numbers.at(entry, 2) != kTag) continue;
        if (numbers.at(entry + 2, 2) != kShort || *value < 1 || *value > 8) break;
        return static_cast<Orientation>(*value);
    }
    return Orientation::upright;
}

}  // namespace

Orientation orientation_of_jpeg(Bytes bytes) {
    constexpr std::uint8_t kMark = 0xFF, kApp1 = 0xE1, kScan = 0xDA, kEnd = 0xD9;
    std::size_t at = 2;  // behind the start of the image
    while (at + 4 <= bytes.size() && bytes[at] == kMark) {
        const std::uint8_t kind = bytes[at + 1];
        if (kind == kMark) {  // fill bytes may stand before a marker
            ++at;
            continue;
        }
        if (kind == kScan || kind == kEnd) break;
        const std::size_t length = std::size_t(bytes[at + 2]) << 8 | bytes[at + 3];
        if (length < 2 || length > bytes.size() - at - 2) break;
        const Bytes content = bytes.subspan(at + 4, length - 2);
        if (kind == kApp1 && begins(content, kExif))
            return orientation_of_tiff(content.subspan(kExif.size()));
        at += 2 + length;
    }
    return Orientation::upright;
}

}  // namespace dtnn::runtime
