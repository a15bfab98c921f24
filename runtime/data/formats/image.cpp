#include "runtime/data/formats/image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/utf8.hpp"
#include "runtime/data/formats/image_formats.hpp"

namespace dtnn::runtime {
namespace image {
namespace {

/// The places in a plane that pixels of the file go to: pixel (y, x) to first + y * row + x *
/// column.
struct Places {
    std::int64_t first = 0, row = 0, column = 1;
};

Places places_of(Orientation orientation, std::int64_t height, std::int64_t width) {
    switch (orientation) {
        case Orientation::upright:
            break;
        case Orientation::mirrored:
            return {width - 1, width, -1};
        case Orientation::upside_down:
            return {height * width - 1, -width, -1};
        case Orientation::flipped:
            return {(height - 1) * width, -width, 1};
        case Orientation::transposed:
            return {0, 1, height};
        case Orientation::turned_left:
            return {height - 1, -1, height};
        case Orientation::transversed:
            return {height * width - 1, -1, -height};
        case Orientation::turned_right:
            return {(width - 1) * height, 1, -height};
    }
    return {0, width, 1};
}

/// `from`: interleaved, `stored` channels; to planes of `wanted`.
template <class Stored>
void set_planes(float* to, const Stored* from, std::int64_t height, std::int64_t width,
                std::size_t stored, std::int64_t wanted, float most, const Places& places) {
    const auto rows = [&](const Stored* at, const auto& pixel) {
        for (std::int64_t y = 0; y < height; ++y) {
            float* place = to + places.first + y * places.row;
            for (std::int64_t x = 0; x < width; ++x, at += stored, place += places.column)
                *place = pixel(at);
        }
    };
    if (wanted == 1 && stored == 3) {
        rows(from, [most](const Stored* at) {
            return (0.299f * float(at[0]) + 0.587f * float(at[1]) + 0.114f * float(at[2])) / most;
        });
        return;
    }
    for (std::size_t channel = 0; channel < std::size_t(wanted); ++channel, to += height * width)
        rows(from + (stored == 1 ? 0 : channel),
             [most](const Stored* at) { return float(*at) / most; });
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
                std::int64_t wanted, Orientation orientation) {
    const bool turned = swaps_extents(orientation);
    sample.input().set_floats(std::array{wanted, turned ? width : height, turned ? height : width});
    const Places places = places_of(orientation, height, width);
    const auto set = [&](const auto* from, float most) {
        set_planes(sample.input().floats.data(), from, height, width, std::size_t(stored), wanted,
                   most, places);
    };
    if (wide) {
        set(reinterpret_cast<const std::uint16_t*>(sample.scratch.data()), 65535.0f);
    } else {
        set(sample.scratch.data(), 255.0f);
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

ImageHeader decode_mask(std::span<const std::uint8_t> bytes, const std::string& name,
                        const ImageLimits& limits, Sample& sample) {
    const std::string_view begin(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (begin.starts_with(image::kPng)) return image::decode_numbers(bytes, name, limits, sample);
    throw image::broken(name, begin.starts_with(image::kJpeg)
                                  ? "a mask is a JPEG, which does not keep numbers as they are; "
                                    "masks are PNGs"
                                  : "this is no PNG, which masks are");
}

bool begins_as_image(std::string_view bytes) {
    return bytes.starts_with(image::kJpeg) || bytes.starts_with(image::kPng);
}

ImageHeader read_image_header(std::span<const std::uint8_t> bytes, const std::string& name,
                              const ImageLimits& limits) {
    return image::decode(bytes, name, limits, nullptr);
}

}  // namespace dtnn::runtime
