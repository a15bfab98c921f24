#include "runtime/data/formats/image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/utf8.hpp"
#include "runtime/data/formats/image_formats.hpp"

namespace dtnn::runtime {
namespace image {
namespace {

/// `from`: interleaved, `stored` channels; to planes of `wanted`.
template <class Stored>
void set_planes(float* to, const Stored* from, std::size_t pixels, std::size_t stored,
                std::int64_t wanted, float most) {
    if (wanted == 1 && stored == 3) {
        for (std::size_t i = 0; i < pixels; ++i, from += 3)
            to[i] = (0.299f * float(from[0]) + 0.587f * float(from[1]) + 0.114f * float(from[2])) /
                    most;
        return;
    }
    for (std::size_t channel = 0; channel < std::size_t(wanted); ++channel) {
        const Stored* at = from + (stored == 1 ? 0 : channel);
        for (std::size_t i = 0; i < pixels; ++i, at += stored)
            *to++ = float(*at) / most;
    }
}

}  // namespace

RunError broken(const std::string& name, const std::string& fact) {
    return RunError(Exit::failed, name + ": " + fact,
                    "replace the image, or take it out of the dataset");
}

void check_size(std::uint64_t height, std::uint64_t width, const std::string& name,
                const ImageLimits& limits) {
    const auto most = std::uint64_t(limits.most_pixels);
    if (height == 0 || width == 0) throw broken(name, "the image has no pixels");
    if (width <= most && height <= most / width) return;
    throw RunError(
        Exit::failed,
        fmt::format("{}: the image has {} x {} pixels; {} {} pixels an image", name, height, width,
                    limits.from_plan ? "the plan has memory for" : "there are at most", most),
        limits.from_plan ? "make the image smaller, or compile the job with a larger "
                           "dataset.most_pixels"
                         : "make the image smaller");
}

void set_pixels(Sample& sample, std::int64_t height, std::int64_t width, int stored, bool wide,
                std::int64_t wanted) {
    sample.set_shape(wanted, height, width);
    const std::size_t pixels = std::size_t(height * width);
    if (wide) {
        set_planes(sample.pixels.data(),
                   reinterpret_cast<const std::uint16_t*>(sample.scratch.data()), pixels,
                   std::size_t(stored), wanted, 65535.0f);
    } else {
        set_planes(sample.pixels.data(), sample.scratch.data(), pixels, std::size_t(stored), wanted,
                   255.0f);
    }
}

namespace {

constexpr std::string_view kJpeg = "\xFF\xD8\xFF";
constexpr std::string_view kPng = "\x89PNG\r\n\x1A\n";

ImageHeader decode(std::span<const std::uint8_t> bytes, const std::string& name,
                   const ImageLimits& limits, Sample* sample) {
    if (bytes.empty()) throw broken(name, "the file is empty");
    const std::string begin(reinterpret_cast<const char*>(bytes.data()),
                            std::min<std::size_t>(bytes.size(), 8));
    if (begin.starts_with(kJpeg)) return decode_jpeg(bytes, name, limits, sample);
    if (begin.starts_with(kPng)) return decode_png(bytes, name, limits, sample);
    throw broken(
        name, fmt::format("this is neither JPEG nor PNG; it begins with `{}`", printable(begin)));
}

}  // namespace
}  // namespace image

void decode_image(std::span<const std::uint8_t> bytes, const std::string& name,
                  const ImageLimits& limits, Sample& sample) {
    image::decode(bytes, name, limits, &sample);
}

bool begins_as_image(std::string_view bytes) {
    return bytes.starts_with(image::kJpeg) || bytes.starts_with(image::kPng);
}

ImageHeader read_image_header(std::span<const std::uint8_t> bytes, const std::string& name,
                              const ImageLimits& limits) {
    return image::decode(bytes, name, limits, nullptr);
}

}  // namespace dtnn::runtime
