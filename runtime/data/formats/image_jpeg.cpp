#include <fmt/format.h>
#include <jpeglib.h>

#include <csetjmp>
#include <cstdio>

#include "base/utf8.hpp"
#include "runtime/data/formats/image_formats.hpp"

namespace dtnn::runtime::image {
namespace {

/// libjpeg reports errors by calling back and must not be returned to; exceptions may not cross it.
struct Manager {
    jpeg_error_mgr base;  // first: libjpeg knows only this
    std::jmp_buf back;
    char text[JMSG_LENGTH_MAX];
};

[[noreturn]] void give_up(j_common_ptr info) {
    auto* const manager = reinterpret_cast<Manager*>(info->err);
    manager->base.format_message(info, manager->text);
    std::longjmp(manager->back, 1);
}

/// A warning is data that is cut off or corrupt, which libjpeg would fill with gray.
void warn(j_common_ptr info, int level) {
    if (level < 0) give_up(info);
}

struct JpegDecoder {
    jpeg_decompress_struct info{};
    Manager manager{};
    ~JpegDecoder() { jpeg_destroy_decompress(&info); }
};

constexpr int kCmyk = 4;
/// Progressive files may hold any number of scans over all of the image; real ones have ten or so.
constexpr int kMostScans = 200;

// Between setjmp and longjmp only C data is touched: nothing that has a destructor is made there.

bool read_header(JpegDecoder& decoder, std::span<const std::uint8_t> bytes) {
    decoder.info.err = jpeg_std_error(&decoder.manager.base);
    decoder.manager.base.error_exit = give_up;
    decoder.manager.base.emit_message = warn;
    if (setjmp(decoder.manager.back) != 0) return false;
    jpeg_create_decompress(&decoder.info);
    jpeg_mem_src(&decoder.info, bytes.data(), static_cast<unsigned long>(bytes.size()));
    jpeg_read_header(&decoder.info, TRUE);
    return true;
}

/// Counts scans: called by libjpeg as it goes through the file.
void watch(j_common_ptr common) {
    const auto* info = reinterpret_cast<j_decompress_ptr>(common);
    if (info->input_scan_number <= kMostScans) return;
    auto* const manager = reinterpret_cast<Manager*>(common->err);
    std::snprintf(manager->text, sizeof manager->text, "it has more than %d scans", kMostScans);
    std::longjmp(manager->back, 1);
}

bool start(JpegDecoder& decoder, J_COLOR_SPACE space, jpeg_progress_mgr& progress) {
    if (setjmp(decoder.manager.back) != 0) return false;
    decoder.info.out_color_space = space;
    decoder.info.dct_method = JDCT_ISLOW;  // the same integers with every instruction set
    progress.progress_monitor = watch;
    decoder.info.progress = &progress;
    jpeg_start_decompress(&decoder.info);
    return true;
}

bool read_rows(JpegDecoder& decoder, std::uint8_t* to, std::size_t row_bytes) {
    if (setjmp(decoder.manager.back) != 0) return false;
    while (decoder.info.output_scanline < decoder.info.output_height) {
        JSAMPROW row = to + decoder.info.output_scanline * row_bytes;
        jpeg_read_scanlines(&decoder.info, &row, 1);
    }
    jpeg_finish_decompress(&decoder.info);
    return true;
}

/// In place, four bytes to three. Adobe stores 255 - value, and says so by its marker.
void cmyk_to_rgb(std::vector<std::uint8_t>& bytes, bool inverted) {
    const std::size_t pixels = bytes.size() / kCmyk;
    for (std::size_t i = 0; i < pixels; ++i) {
        const auto paper = [&](std::size_t channel) {
            const int value = bytes[i * kCmyk + channel];
            return inverted ? value : 255 - value;
        };
        const int rest = paper(3);
        const int rgb[3] = {paper(0) * rest, paper(1) * rest, paper(2) * rest};
        for (std::size_t channel = 0; channel < 3; ++channel)
            bytes[i * 3 + channel] = std::uint8_t((rgb[channel] + 127) / 255);
    }
    bytes.resize(pixels * 3);
}

}  // namespace

ImageHeader decode_jpeg(std::span<const std::uint8_t> bytes, const std::string& name,
                        const ImageLimits& limits, Sample* sample) {
    JpegDecoder decoder;
    const auto fail = [&] {
        return broken(name, fmt::format("the JPEG data is corrupt or cut off: {}",
                                        printable(decoder.manager.text)));
    };
    if (!read_header(decoder, bytes)) throw fail();
    const jpeg_decompress_struct& info = decoder.info;
    check_size(info.image_height, info.image_width, name, limits);
    const bool cmyk = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
    const bool gray = info.jpeg_color_space == JCS_GRAYSCALE;
    const Orientation orientation = orientation_of_jpeg(bytes);
    const std::int64_t height = info.image_height, width = info.image_width;
    const bool turned = swaps_extents(orientation);
    const ImageHeader header{turned ? width : height, turned ? height : width, gray ? 1 : 3};
    if (sample == nullptr) return header;

    jpeg_progress_mgr progress{};
    if (!start(decoder, cmyk ? JCS_CMYK : gray ? JCS_GRAYSCALE : JCS_RGB, progress)) throw fail();
    const int stored = cmyk ? kCmyk : gray ? 1 : 3;
    const std::size_t row_bytes = std::size_t(width) * std::size_t(stored);
    sample->scratch.resize(std::size_t(height) * row_bytes);
    if (!read_rows(decoder, sample->scratch.data(), row_bytes)) throw fail();
    if (cmyk) cmyk_to_rgb(sample->scratch, info.saw_Adobe_marker);
    set_pixels(*sample, height, width, gray ? 1 : 3, false, limits.channels, orientation);
    return header;
}

}  // namespace dtnn::runtime::image
