#include "tests/unit/runtime/image_files.hpp"

#include <jpeglib.h>
#include <png.h>

#include <cstdio>
#include <cstdlib>

namespace dtnn::runtime {

std::string png(int height, int width, PngColours colours, const std::vector<std::uint8_t>& rows,
                int depth, bool interlaced) {
    constexpr int kTypes[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_PALETTE, PNG_COLOR_TYPE_RGB,
                              PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB_ALPHA};
    std::string out;
    png_structp writer = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
    png_infop info = png_create_info_struct(writer);
    png_set_write_fn(
        writer, &out,
        [](png_structp at, png_bytep bytes, std::size_t size) {
            static_cast<std::string*>(png_get_io_ptr(at))
                ->append(reinterpret_cast<const char*>(bytes), size);
        },
        nullptr);
    png_set_IHDR(writer, info, png_uint_32(width), png_uint_32(height), depth, kTypes[int(colours)],
                 interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (colours == PngColours::palette) {
        std::vector<png_color> palette(std::size_t(1) << depth);
        for (std::size_t i = 0; i < palette.size(); ++i)
            palette[i] = {png_byte(i), png_byte(2 * i), png_byte(255 - i)};
        png_set_PLTE(writer, info, palette.data(), int(palette.size()));
        const png_byte clear = 0;
        png_set_tRNS(writer, info, &clear, 1, nullptr);
    }
    std::vector<png_bytep> pointers;
    const std::size_t row_bytes = rows.size() / std::size_t(height);
    for (int y = 0; y < height; ++y)
        pointers.push_back(const_cast<png_bytep>(rows.data()) + std::size_t(y) * row_bytes);
    png_set_rows(writer, info, pointers.data());
    png_write_png(writer, info, PNG_TRANSFORM_IDENTITY, nullptr);
    png_destroy_write_struct(&writer, &info);
    return out;
}

std::string jpeg(int height, int width, int channels, const std::vector<std::uint8_t>& rows,
                 bool progressive) {
    jpeg_compress_struct info{};
    jpeg_error_mgr errors{};
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    unsigned char* bytes = nullptr;
    unsigned long size = 0;
    jpeg_mem_dest(&info, &bytes, &size);
    info.image_height = JDIMENSION(height);
    info.image_width = JDIMENSION(width);
    info.input_components = channels;
    info.in_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, 100, TRUE);
    if (channels == 4) info.write_Adobe_marker = TRUE;
    if (progressive) jpeg_simple_progression(&info);
    jpeg_start_compress(&info, TRUE);
    const std::size_t row_bytes = std::size_t(width) * std::size_t(channels);
    while (info.next_scanline < info.image_height) {
        JSAMPROW row = const_cast<JSAMPROW>(rows.data()) + info.next_scanline * row_bytes;
        jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    std::string out(reinterpret_cast<const char*>(bytes), size);
    std::free(bytes);
    return out;
}

std::string plain_png(int height, int width, std::uint8_t red, std::uint8_t green,
                      std::uint8_t blue) {
    std::vector<std::uint8_t> rows;
    for (int i = 0; i < height * width; ++i)
        rows.insert(rows.end(), {red, green, blue});
    return png(height, width, PngColours::rgb, rows);
}

}  // namespace dtnn::runtime
