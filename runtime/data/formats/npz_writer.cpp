#include "runtime/data/formats/npz_writer.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>

#include "base/file_limits.hpp"
#include "base/utf8.hpp"
#include "runtime/base/files.hpp"

namespace dtnn::runtime {
namespace {

/// The .npy file's beginning: its length is a multiple of 64, so that elements are aligned.
std::string npy_header(const NpzArray& array) {
    std::string shape;
    for (const std::int64_t dim : array.dims)
        shape += fmt::format("{}, ", dim);
    // (3,) and (3, 4): only a lone extent keeps its comma.
    if (array.dims.size() > 1) shape.resize(shape.size() - 2);
    if (array.dims.size() == 1) shape.pop_back();
    std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                   array.descr, shape);
    constexpr std::size_t kBefore = 10;
    text.append(64 - (kBefore + text.size() + 1) % 64, ' ');
    text += '\n';
    std::string header("\x93NUMPY\x01\x00", 8);
    header += char(text.size() & 0xff);
    header += char(text.size() >> 8 & 0xff);
    return header + text;
}

struct FreeWriter {
    void operator()(archive* writer) const { archive_write_free(writer); }
};
struct FreeEntry {
    void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

la_ssize_t append(archive*, void* data, const void* bytes, std::size_t size) {
    static_cast<std::string*>(data)->append(static_cast<const char*>(bytes), size);
    return la_ssize_t(size);
}

std::string zip_of(const std::string& path, std::span<const NpzArray> arrays) {
    std::string text;
    std::size_t bytes = 0;
    for (const NpzArray& array : arrays)
        bytes += array.bytes.size() + 512;
    text.reserve(bytes);
    const std::unique_ptr<archive, FreeWriter> writer(archive_write_new());
    const auto check = [&](int result) {
        if (result == ARCHIVE_OK) return;
        const char* said = archive_error_string(writer.get());
        throw RunError(Exit::failed, fmt::format("cannot make the archive {}: {}", path,
                                                 said == nullptr ? "no reason given" : said));
    };
    check(archive_write_set_format_zip(writer.get()));
    check(archive_write_set_options(writer.get(), "zip:compression=store,zip:hdrcharset=UTF-8"));
    check(archive_write_set_bytes_in_last_block(writer.get(), 1));
    check(archive_write_open(writer.get(), &text, nullptr, append, nullptr));
    for (const NpzArray& array : arrays) {
        check_tensor_name(array.name, path);
        const std::string header = npy_header(array);
        const std::unique_ptr<archive_entry, FreeEntry> entry(archive_entry_new());
        archive_entry_set_pathname_utf8(entry.get(), (array.name + ".npy").c_str());
        archive_entry_set_filetype(entry.get(), AE_IFREG);
        archive_entry_set_perm(entry.get(), 0644);
        archive_entry_set_size(entry.get(), la_int64_t(header.size() + array.bytes.size()));
        check(archive_write_header(writer.get(), entry.get()));
        const auto write = [&](const void* from, std::size_t size) {
            if (archive_write_data(writer.get(), from, size) != la_ssize_t(size))
                check(ARCHIVE_FATAL);
        };
        write(header.data(), header.size());
        if (!array.bytes.empty()) write(array.bytes.data(), array.bytes.size());
    }
    check(archive_write_close(writer.get()));
    return text;
}

/// The next code point of UTF-8, and `text` without it.
std::uint32_t take_code_point(std::string_view& text) {
    constexpr std::uint32_t kReplacement = 0xFFFD;
    const auto byte = [&](std::size_t i) { return std::uint32_t(std::uint8_t(text[i])); };
    const std::uint32_t first = byte(0);
    const std::size_t more = first < 0x80 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
    bool sound = first < 0x80 || (first >= 0xC2 && first < 0xF5 && text.size() > more);
    for (std::size_t i = 1; sound && i <= more; ++i)
        sound = (byte(i) & 0xC0) == 0x80;
    if (!sound) {
        text.remove_prefix(1);
        return kReplacement;
    }
    std::uint32_t code = more == 0 ? first : first & (0x3Fu >> more);
    for (std::size_t i = 1; i <= more; ++i)
        code = code << 6 | (byte(i) & 0x3F);
    text.remove_prefix(more + 1);
    return code;
}

}  // namespace

void check_tensor_name(const std::string& name, const std::string& path) {
    if (!name.empty() && name.size() <= kMostTensorName) return;
    throw RunError(Exit::failed,
                   fmt::format("cannot write {}: the name `{}` has {} bytes; there are 1 to {}",
                               path, printable(name), name.size(), kMostTensorName),
                   "give the tensor another name");
}

std::string numpy_type(DType dtype) {
    switch (dtype) {
        case DType::f32:
            return "<f4";
        case DType::f64:
            return "<f8";
        case DType::i32:
            return "<i4";
        case DType::i64:
            return "<i8";
        default:
            return "|u1";
    }
}

void write_npz(const std::string& path, std::span<const NpzArray> arrays) {
    write_file(path, zip_of(path, arrays));
}

NpzTexts numpy_texts(std::span<const std::string> texts) {
    std::vector<std::vector<std::uint32_t>> all;
    std::size_t longest = 1;
    for (std::string_view text : texts) {
        std::vector<std::uint32_t>& codes = all.emplace_back();
        while (!text.empty())
            codes.push_back(take_code_point(text));
        longest = std::max(longest, codes.size());
    }
    NpzTexts result{fmt::format("<U{}", longest), {}};
    result.bytes.resize(texts.size() * longest * sizeof(std::uint32_t));
    std::byte* place = result.bytes.data();
    for (const std::vector<std::uint32_t>& codes : all) {
        // An empty text may have no memory to copy from.
        if (!codes.empty()) std::memcpy(place, codes.data(), codes.size() * sizeof(std::uint32_t));
        place += longest * sizeof(std::uint32_t);
    }
    return result;
}

}  // namespace dtnn::runtime
