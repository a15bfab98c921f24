#include <fmt/format.h>
#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/utf8.hpp"
#include "runtime/data/formats/image_formats.hpp"

namespace dtnn::runtime::image {
namespace {

/// libpng reports errors by calling back and must not be returned to; exceptions may not cross it.
struct PngDecoder {
    png_structp png = nullptr;
    png_infop info = nullptr;
    std::span<const std::uint8_t> bytes;
    std::jmp_buf back;
    char text[200] = "";
    ~PngDecoder() { png_destroy_read_struct(&png, &info, nullptr); }
};

[[noreturn]] void give_up(png_structp png, png_const_charp text) {
    auto* const decoder = static_cast<PngDecoder*>(png_get_error_ptr(png));
    std::snprintf(decoder->text, sizeof decoder->text, "%s", text);
    std::longjmp(decoder->back, 1);
}

/// Warnings are about profiles and text, which are ignored; corrupt image data is an error.
void ignore(png_structp, png_const_charp) {}

void read(png_structp png, png_bytep to, std::size_t size) {
    auto* const decoder = static_cast<PngDecoder*>(png_get_io_ptr(png));
    if (size > decoder->bytes.size()) png_error(png, "the file is cut off");
    std::memcpy(to, decoder->bytes.data(), size);
    decoder->bytes = decoder->bytes.subspan(size);
}

// Between setjmp and longjmp only C data is touched: nothing that has a destructor is made there.

bool read_header(PngDecoder& decoder) {
    decoder.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &decoder, give_up, ignore);
    if (decoder.png == nullptr) return false;
    decoder.info = png_create_info_struct(decoder.png);
    if (decoder.info == nullptr) return false;
    if (setjmp(decoder.back) != 0) return false;
    png_set_read_fn(decoder.png, &decoder, read);
    // An image that is larger than the limits is refused by them, with a remedy.
    png_set_user_limits(decoder.png, 0x7FFFFFFF, 0x7FFFFFFF);
    // Text and profiles may unpack to anything, and say that they have any length; none is wanted.
    // -1: of the chunks that libpng knows too, all but those that the pixels need.
    png_set_keep_unknown_chunks(decoder.png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
    png_set_chunk_malloc_max(decoder.png, 1 << 20);
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    // Random changes never have the right checksum, and what is behind it is to be tried too.
    png_set_crc_action(decoder.png, PNG_CRC_QUIET_USE, PNG_CRC_QUIET_USE);
#else
    png_set_crc_action(decoder.png, PNG_CRC_ERROR_QUIT, PNG_CRC_WARN_DISCARD);
#endif
    png_read_info(decoder.png, decoder.info);
    return true;
}

bool start(PngDecoder& decoder) {
    if (setjmp(decoder.back) != 0) return false;
    png_set_expand_gray_1_2_4_to_8(decoder.png);
    png_set_palette_to_rgb(decoder.png);
    png_set_strip_alpha(decoder.png);
    const std::uint16_t one = 1;
    if (png_get_bit_depth(decoder.png, decoder.info) == 16 &&
        *reinterpret_cast<const std::uint8_t*>(&one) == 1) {
        png_set_swap(decoder.png);
    }
    png_set_interlace_handling(decoder.png);
    png_read_update_info(decoder.png, decoder.info);
    return true;
}

/// Pixels as they are stored, a byte each.
bool start_numbers(PngDecoder& decoder) {
    if (setjmp(decoder.back) != 0) return false;
    png_set_packing(decoder.png);
    png_set_strip_alpha(decoder.png);
    png_set_interlace_handling(decoder.png);
    png_read_update_info(decoder.png, decoder.info);
    return true;
}

bool read_rows(PngDecoder& decoder, png_bytepp rows) {
    if (setjmp(decoder.back) != 0) return false;
    png_read_image(decoder.png, rows);
    png_read_end(decoder.png, nullptr);
    return true;
}

RunError corrupt(const PngDecoder& decoder, const std::string& name) {
    return broken(name,
                  fmt::format("the PNG data is corrupt or cut off: {}", printable(decoder.text)));
}

/// Rows and columns of pixels.
struct PngSize {
    std::uint32_t height, width;
};

/// Reads what stands before the pixels, and holds it to the limits.
PngSize begin(PngDecoder& decoder, std::span<const std::uint8_t> bytes, const std::string& name,
              const ImageLimits& limits) {
    decoder.bytes = bytes;
    if (!read_header(decoder)) throw corrupt(decoder, name);
    const PngSize size{png_get_image_height(decoder.png, decoder.info),
                       png_get_image_width(decoder.png, decoder.info)};
    check_size(size.height, size.width, name, limits);
    return size;
}

/// Reads all rows into sample.scratch.
void read_image(PngDecoder& decoder, const std::string& name, std::size_t row_bytes,
                std::uint32_t height, Sample& sample) {
    sample.scratch.resize(row_bytes * height);
    std::vector<png_bytep> rows(height);
    for (std::size_t y = 0; y < rows.size(); ++y)
        rows[y] = sample.scratch.data() + y * row_bytes;
    if (!read_rows(decoder, rows.data())) throw corrupt(decoder, name);
}

}  // namespace

ImageHeader decode_numbers(std::span<const std::uint8_t> bytes, const std::string& name,
                           const ImageLimits& limits, Sample& sample) {
    PngDecoder decoder;
    const auto [height, width] = begin(decoder, bytes, name, limits);
    const int type = png_get_color_type(decoder.png, decoder.info);
    const bool palette = type == PNG_COLOR_TYPE_PALETTE;
    if ((!palette && (type & PNG_COLOR_MASK_COLOR) != 0) ||
        png_get_bit_depth(decoder.png, decoder.info) > 8) {
        throw bad_file(name,
                       (type & PNG_COLOR_MASK_COLOR) != 0
                           ? "the mask has colours; the pixels of masks are numbers"
                           : "the mask has 16 bits a pixel; masks have up to 8",
                       "save the class of every pixel as an 8-bit gray PNG, or one with a palette");
    }
    if (!start_numbers(decoder)) throw corrupt(decoder, name);
    const std::size_t row_bytes = png_get_rowbytes(decoder.png, decoder.info);
    if (row_bytes != width)
        throw broken(name, fmt::format("its rows have {} bytes for {} pixels", row_bytes, width));
    read_image(decoder, name, row_bytes, height, sample);
    sample.target().dims.assign({height, width});
    sample.target().integers.assign(sample.scratch.begin(), sample.scratch.end());
    return {height, width, palette ? 3 : 1};
}

ImageHeader decode_png(std::span<const std::uint8_t> bytes, const std::string& name,
                       const ImageLimits& limits, Sample* sample) {
    PngDecoder decoder;
    const auto [height, width] = begin(decoder, bytes, name, limits);
    const bool coloured =
        (png_get_color_type(decoder.png, decoder.info) & PNG_COLOR_MASK_COLOR) != 0;
    const ImageHeader header{height, width, coloured ? 3 : 1};
    if (sample == nullptr) return header;

    if (!start(decoder)) throw corrupt(decoder, name);
    const std::size_t row_bytes = png_get_rowbytes(decoder.png, decoder.info);
    const int stored = png_get_channels(decoder.png, decoder.info);
    const bool wide = png_get_bit_depth(decoder.png, decoder.info) == 16;
    read_image(decoder, name, row_bytes, height, *sample);
    if ((stored != 1 && stored != 3) ||
        row_bytes != std::size_t(width) * std::size_t(stored) * (wide ? 2 : 1)) {
        throw broken(name, fmt::format("its pixels have {} channels", stored));
    }
    set_pixels(*sample, header.height, header.width, stored, wide, limits.channels);
    return header;
}

}  // namespace dtnn::runtime::image
