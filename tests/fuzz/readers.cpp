/// Any bytes at all as a file of data: the readers refuse it with a RunError that has a remedy, or
/// give samples that are sound, and neither crash, hang nor take unbounded memory.
///
/// The first byte chooses the reader, see LLVMFuzzerTestOneInput; the rest is the file.

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

#include "base/utf8.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/formats/archive_reader.hpp"
#include "runtime/data/formats/hdf5.hpp"
#include "runtime/data/formats/idx.hpp"
#include "runtime/data/formats/image.hpp"
#include "runtime/data/formats/mat_file.hpp"
#include "runtime/data/formats/npy.hpp"
#include "runtime/data/sources/array_source.hpp"
#include "runtime/data/sources/csv_source.hpp"
#include "runtime/data/vocabulary/text_encoder.hpp"
#include "tests/fuzz/choices.hpp"
#include "tests/fuzz/memory_file.hpp"

namespace {

using namespace dtnn::runtime;
using dtnn::fuzz::Choices;
using dtnn::fuzz::MemoryFile;

constexpr std::int64_t kMostPixels = 1 << 16;
constexpr std::int64_t kMostBytes = 1 << 22;

[[noreturn]] void fail(const char* why) {
    std::fprintf(stderr, "%s\n", why);
    std::abort();
}

void read_image(const std::string& file) {
    const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(file.data()),
                                              file.size());
    static Sample sample;  // used again, as workers do
    for (const std::int64_t channels : {1, 3}) {
        const ImageLimits limits{channels, kMostPixels};
        decode_image(bytes, "image", limits, sample);
        const ImageHeader header = read_image_header(bytes, "image", limits);
        if (header.height != sample.input().dims[1] || header.width != sample.input().dims[2] ||
            sample.input().dims[0] != channels || header.height * header.width > kMostPixels)
            fail("the header and the image differ");
        if (sample.input().floats.size() != std::size_t(channels * header.height * header.width))
            fail("the image has another number of pixels");
        for (const float pixel : sample.input().floats)
            if (!(pixel >= 0.0f && pixel <= 1.0f)) fail("a pixel is not in [0, 1]");
    }
}

void read_mask(const std::string& file) {
    const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(file.data()),
                                              file.size());
    static Sample sample;
    const ImageHeader header = decode_mask(bytes, "mask", {1, kMostPixels}, sample);
    if (sample.target().integers.size() != std::size_t(header.height * header.width) ||
        header.height * header.width > kMostPixels)
        fail("the mask has another number of pixels");
    for (const std::int32_t number : sample.target().integers)
        if (number < 0 || number > 255) fail("a number is not in a byte");
}

void append_big_endian(std::string& out, std::uint64_t value) {
    for (const int shift : {24, 16, 8, 0})
        out.push_back(char(value >> shift & 0xff));
}

/// A PNG of the chunks that the choices name, with the checksums that belong to them; what IDAT and
/// the compressed texts hold is compressed.
std::string png_of(Choices choices) {
    static constexpr const char* kTypes[] = {"IHDR", "IDAT", "PLTE", "tRNS", "IEND", "zTXt",
                                             "iTXt", "tEXt", "iCCP", "gAMA", "acTL", "fdAT",
                                             "eXIf", "sBIT", "bKGD", "hIST", "zzZz", "IDAT"};
    std::string png = "\x89PNG\r\n\x1a\n";
    while (!choices.over()) {
        const std::string type = kTypes[choices.below(std::size(kTypes))];
        const std::size_t size =
            type == "IHDR" ? 13 : choices.number(choices.below(8) == 0 ? 2 : 1);
        std::string body;
        if (type == "iTXt") body = std::string("k\0\1\0\0\0", 6);
        if (type == "zTXt" || type == "iCCP") body = std::string("k\0\0", 3);
        std::string inside;
        for (std::size_t i = 0; i < size; ++i)
            inside.push_back(char(choices.number(1)));
        const bool compressed = type[0] == 'I' && type[1] == 'D';
        if ((compressed || !body.empty()) && choices.below(8) != 0) {
            // As large as a reader may believe it to be.
            if (choices.below(16) == 0) inside.resize(std::size_t{1} << choices.below(25));
            uLongf packed = compressBound(inside.size());
            std::string bytes(packed, '\0');
            compress2(reinterpret_cast<Bytef*>(bytes.data()), &packed,
                      reinterpret_cast<const Bytef*>(inside.data()), inside.size(), 1);
            inside = bytes.substr(0, packed);
        }
        body += inside;
        append_big_endian(png, body.size());
        png += type + body;
        append_big_endian(png, crc32(0, reinterpret_cast<const Bytef*>((type + body).data()),
                                     uInt(type.size() + body.size())));
    }
    return png;
}

void walk(ArchiveReader& archive, const RegularFile& file, int depth) {
    std::int64_t members = 0, bytes = 0;
    while (const auto member = archive.next()) {
        if (const char* why = why_unsafe(member->path)) fail(why);
        if (member->size < 0 || ++members > 100'000) fail("a member that cannot be");
        if (depth == 0 && member->offset >= 0 && member->size > 0 &&
            member->offset + member->size <= file.size() && member->path.ends_with(".tar")) {
            ArchiveReader inner(file, *member);
            walk(inner, file, depth + 1);
        }
        bytes += member->size;
        if (bytes > kMostBytes) return;
        if (archive.read().size() != std::size_t(member->size)) fail("a member of another size");
    }
}

void read_archive(const std::string& file) {
    const MemoryFile memory(file);
    const RegularFile regular(memory.path());
    ArchiveReader archive(regular);
    walk(archive, regular, 0);
}

template <class Source>
void load_all(const Source& source, std::int64_t classes) {
    Sample sample;
    for (const Split split : {Split::train, Split::test}) {
        for (std::int64_t i = 0; i < source.size(split); ++i) {
            source.load(split, i, sample);
            for (const float pixel : sample.input().floats)
                if (!std::isfinite(pixel)) fail("a pixel is not finite");
            if (sample.target().integers.size() != 1 || sample.target().integers[0] < 0 ||
                sample.target().integers[0] >= classes)
                fail("a label is out of range");
        }
    }
}

void read_npz_file(const std::string& file) {
    const MemoryFile memory(file);
    for (const auto& [name, array] : read_npz(memory.path(), kMostBytes)) {
        std::vector<double> values(std::size_t(array.header.elements()));
        array.copy(std::span<double>(values));
    }
}

void read_arrays(const std::string& file) {
    const MemoryFile memory(file);
    dtnn::plan::Feature input;
    input.stored_dims = {1, 2, 2};
    ArraySource::Expected expected{{input}, 3, dtnn::plan::LabelKind::classes, 6, 3, kMostBytes};
    load_all(*ArraySource::open_archive(memory.path(), expected), 3);
}

void read_array(const std::string& file) {
    const NpyArray array = parse_npy(file, "array");
    std::vector<float> values(std::size_t(array.header.elements()));
    array.copy(std::span<float>(values));
    std::vector<std::int64_t> wholes(values.size());
    array.copy(std::span<std::int64_t>(wholes));
}

void read_table(const std::string& file) {
    const MemoryFile memory(file);
    CsvSource::Form form;
    form.shape = {2, 1, 1};
    form.classes = 3;
    form.labels.numbers = {-1};
    form.train_samples = form.test_samples = 6;
    form.cache = kMostBytes;
    load_all(CsvSource(memory.path(), memory.path(), form), 3);
}

void read_idx_file(const std::string& file) {
    const IdxFile idx = parse_idx(file, "idx", {6, 2, 2});
    if (idx.begin + 24 != idx.bytes.size()) fail("an IDX file of another size");
}

void read_hdf5_file(const std::string& file) {
    const char* const end = file.data() + file.size();
    for (const auto& [path, tensor] : read_hdf5(file, "hdf5").tensors) {
        const auto* begin = reinterpret_cast<const char*>(tensor.bytes.data());
        const std::size_t wanted = dtnn::size_of(tensor.dtype);
        if (!tensor.bytes.empty() && (begin < file.data() || begin + tensor.bytes.size() > end))
            fail("numbers that are not in the file");
        if (!tensor.bytes.empty() &&
            std::int64_t(tensor.bytes.size() / wanted) != dtnn::element_count(tensor.dims))
            fail("an array has other bytes than its shape");
    }
}

/// A vocabulary, a zero, and a text.
void read_vocabulary_and_text(const std::string& file) {
    const std::size_t end = std::min(file.find('\0'), file.size());
    const std::string text = end < file.size() ? file.substr(end + 1) : "";
    const MemoryFile memory(file.substr(0, end));
    const Vocabulary vocabulary =
        read_vocabulary(memory.path(), file.starts_with('{') ? "" : "o200k");
    const auto encoded = [&](std::size_t part) {
        TextEncoder encoder(vocabulary);
        std::vector<std::int32_t> tokens;
        for (std::size_t at = 0; at < text.size(); at += part)
            encoder.add(std::string_view(text).substr(at, part), at + part >= text.size(), tokens);
        return tokens;
    };
    const std::vector<std::int32_t> tokens = encoded(text.size() + 1);
    if (encoded(3) != tokens) fail("parts of a text have other tokens");
    std::string bytes;
    for (const std::int32_t token : tokens) {
        if (token < 0 || token >= vocabulary.size()) fail("a token that the vocabulary has not");
        bytes += vocabulary.tokens[std::size_t(token)];
    }
    bool whole = !vocabulary.space_before;
    for (const PieceRule& rule : vocabulary.rules)
        whole = whole && rule.gaps;
    if (whole && bytes != text) fail("the tokens are another text");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string file(reinterpret_cast<const char*>(data) + 1, size - 1);
    try {
        switch (data[0]) {
            case 'i':
                read_image(file);
                break;
            case 'p':
                read_image(png_of(Choices(data + 1, size - 1)));
                break;
            case 'K':
                read_mask(file);
                break;
            case 'L':
                read_mask(png_of(Choices(data + 1, size - 1)));
                break;
            case 'a':
                read_archive(file);
                break;
            case 'z':
                read_npz_file(file);
                break;
            case 's':
                read_arrays(file);
                break;
            case 'y':
                read_array(file);
                break;
            case 'c':
                read_table(file);
                break;
            case 'x':
                read_idx_file(file);
                break;
            case 'g':
                (void)gunzip(file, std::size_t{1} << 20, "gzip");
                break;
            case 'h':
                read_hdf5_file(file);
                break;
            case 'v':
                read_vocabulary_and_text(file);
                break;
            case 'm':
                (void)read_synsets(file, "meta.mat");
                break;
            default:
                break;
        }
    } catch (const RunError& error) {
        const std::string text = error.what();
        if (error.exit() == Exit::internal || text.empty()) fail("not a user's mistake");
        if (!dtnn::is_utf8(error.render(false))) fail("a message that is not UTF-8");
    }
    return 0;
}
