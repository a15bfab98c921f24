#include "tests/unit/runtime/archive_files.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <zlib.h>

namespace dtnn::runtime {
namespace {

/// `window`: as for deflateInit2.
std::string deflated(const std::string& text, int window) {
    z_stream stream{};
    REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    std::string packed(deflateBound(&stream, uLong(text.size())) + 32, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = uInt(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = uInt(packed.size());
    REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
}

std::string little(std::uint64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i)
        text += char(value >> (8 * i));
    return text;
}

}  // namespace

std::string gzip(const std::string& text) {
    return deflated(text, 15 + 16);
}

std::string tar_member(const std::string& path, const std::string& content, char type,
                       const std::string& link) {
    std::string header(512, '\0');
    const auto put = [&](std::size_t at, const std::string& text) {
        header.replace(at, text.size(), text);
    };
    put(0, path);
    put(100, "0000644");
    put(108, "0000000");
    put(116, "0000000");
    put(124, fmt::format("{:011o}", content.size()));
    put(136, "00000000000");
    put(148, "        ");
    header[156] = type;
    put(157, link);
    put(257, "ustar");
    put(263, "00");
    unsigned sum = 0;
    for (const char byte : header)
        sum += std::uint8_t(byte);
    put(148, fmt::format("{:06o}", sum) + '\0' + ' ');
    return header + content + std::string((512 - content.size() % 512) % 512, '\0');
}

std::string tar(const Members& members) {
    std::string text;
    for (const auto& [path, content] : members)
        text += tar_member(path, content);
    return text + std::string(1024, '\0');
}

std::string zip(const Members& members, bool deflate_them) {
    std::string text, directory;
    for (const auto& [path, content] : members) {
        const std::string data = deflate_them ? deflated(content, -15) : content;
        const uLong crc =
            crc32(0, reinterpret_cast<const Bytef*>(content.data()), uInt(content.size()));
        // Version, flags (names are UTF-8), method, time, date, checksum, sizes, lengths of names.
        const std::string shared =
            little(20, 2) + little(0x800, 2) + little(deflate_them ? 8 : 0, 2) + little(0, 2) +
            little(0x21, 2) + little(crc, 4) + little(data.size(), 4) + little(content.size(), 4) +
            little(path.size(), 2) + little(0, 2);
        directory += little(0x02014B50, 4) + little(20, 2) + shared + little(0, 2) + little(0, 2) +
                     little(0, 2) + little(0, 4) + little(text.size(), 4) + path;
        text += little(0x04034B50, 4) + shared + path + data;
    }
    const std::size_t count = members.size();
    return text + directory + little(0x06054B50, 4) + little(0, 4) + little(count, 2) +
           little(count, 2) + little(directory.size(), 4) + little(text.size(), 4) + little(0, 2);
}

std::string claiming(std::string zip, const std::string& path, std::uint32_t bytes) {
    // The size stands 8 bytes before the name in the member's header, and 22 in the directory.
    const std::size_t header = zip.find(path), entry = zip.rfind(path);
    zip.replace(header - 8, 4, little(bytes, 4));
    zip.replace(entry - 22, 4, little(bytes, 4));
    return zip;
}

std::string npy(const std::string& descr, const std::string& shape, const std::string& data,
                bool fortran) {
    std::string header = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", descr,
                                     fortran ? "True" : "False", shape);
    header.resize((header.size() + 11 + 63) / 64 * 64 - 11, ' ');
    header += '\n';
    return "\x93NUMPY" + std::string("\1\0", 2) + little(header.size(), 2) + header + data;
}

}  // namespace dtnn::runtime
