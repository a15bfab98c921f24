#include "runtime/report/event_file.hpp"

#include <array>
#include <cerrno>
#include <utility>

#include "base/protobuf_message.hpp"
#include "runtime/base/files.hpp"

namespace dtnn::runtime {
namespace {

constexpr std::uint32_t kPolynomial = 0x82F63B78;  // Castagnoli's, reflected

constexpr std::array<std::uint32_t, 256> make_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t remainder = byte;
        for (int bit = 0; bit < 8; ++bit)
            remainder = remainder >> 1 ^ (remainder & 1 ? kPolynomial : 0);
        table[byte] = remainder;
    }
    return table;
}

constexpr std::array<std::uint32_t, 256> kTable = make_table();

/// A checksum of data that hold checksums is weak, so the format rotates and offsets it.
std::uint32_t masked(std::uint32_t crc) {
    return (crc >> 15 | crc << 17) + 0xA282EAD8;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
    std::uint32_t remainder = 0xFFFFFFFF;
    for (const char byte : bytes)
        remainder = remainder >> 8 ^ kTable[(remainder ^ std::uint8_t(byte)) & 0xFF];
    return ~remainder;
}

EventFile::EventFile(std::string path)
    : path_(std::move(path)), file_(std::fopen(path_.c_str(), "wbe")) {
    if (!file_) throw system_error("write", path_, errno);
}

void EventFile::add(std::string_view record) {
    std::string framed;
    framed.reserve(record.size() + 16);
    append_little_endian(framed, record.size(), 8);
    append_little_endian(framed, masked(crc32c(framed)), 4);
    framed += record;
    append_little_endian(framed, masked(crc32c(record)), 4);
    if (std::fwrite(framed.data(), 1, framed.size(), file_.get()) != framed.size() ||
        std::fflush(file_.get()) != 0) {
        throw system_error("write", path_, errno);
    }
}

}  // namespace dtnn::runtime
