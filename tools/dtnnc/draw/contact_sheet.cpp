#include "tools/dtnnc/draw/contact_sheet.hpp"

#include <png.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "runtime/data/sampler.hpp"
#include "runtime/data/transforms/sample_chain.hpp"
#include "tools/dtnnc/output.hpp"

namespace dtnn::tools {
namespace {

using runtime::Sample;

constexpr int kLeastSide = 96;  ///< of a sample on the sheet, enlarged
constexpr int kMostSide = 256;  ///< of a sample on the sheet; larger ones are made smaller
constexpr int kGap = 4;

/// Red, green and blue, a byte each, row by row.
struct Picture {
    int width = 0;
    int height = 0;
    std::vector<std::uint8_t> bytes;
};

std::uint8_t byte_of(float pixel) {
    const float scaled = std::round(pixel * 255);
    return scaled >= 255 ? 255 : scaled > 0 ? std::uint8_t(scaled) : 0;
}

/// How samples of one size are shown.
struct Cell {
    int factor = 1;                      ///< how often every pixel is shown
    std::int64_t height = 0, width = 0;  ///< before it is enlarged

    explicit Cell(const plan::Dims& shape) : height(shape[1]), width(shape[2]) {
        const std::int64_t side = std::max<std::int64_t>(1, std::max(height, width));
        if (side > kMostSide) {
            height = std::max<std::int64_t>(1, height * kMostSide / side);
            width = std::max<std::int64_t>(1, width * kMostSide / side);
        } else {
            factor = int(std::max<std::int64_t>(1, (kLeastSide + side - 1) / side));
        }
    }
    int shown_height() const { return int(height) * factor; }
    int shown_width() const { return int(width) * factor; }
};

void place(const Sample& sample, int top, int left, int factor, Picture& picture) {
    const std::int64_t plane = sample.height * sample.width;
    const std::int64_t next = sample.channels == 3 ? plane : 0;
    for (int y = 0; y < int(sample.height) * factor; ++y) {
        for (int x = 0; x < int(sample.width) * factor; ++x) {
            const std::int64_t pixel = y / factor * sample.width + x / factor;
            const std::size_t to =
                std::size_t(top + y) * std::size_t(picture.width) + std::size_t(left + x);
            for (std::int64_t c = 0; c < 3; ++c)
                picture.bytes[to * 3 + std::size_t(c)] =
                    byte_of(sample.pixels[std::size_t(c * next + pixel)]);
        }
    }
}

std::string png_of(const Picture& picture) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = png_uint_32(picture.width);
    image.height = png_uint_32(picture.height);
    image.format = PNG_FORMAT_RGB;
    std::string text;
    png_alloc_size_t bytes = 0;
    // The first call says how many bytes it takes.
    for (int round = 0; round < 2; ++round) {
        if (png_image_write_to_memory(&image, round == 0 ? nullptr : text.data(), &bytes, 0,
                                      picture.bytes.data(), 0, nullptr) == 0)
            throw OutputError(std::string("the contact sheet cannot be made: ") + image.message);
        text.resize(bytes);
    }
    return text;
}

}  // namespace

std::string contact_sheet(const runtime::SampleSource& source, const plan::Plan& plan,
                          const SheetSize& size) {
    const runtime::SampleChain chain(plan);
    const Cell cell(plan.dataset.shape);
    Picture picture;
    picture.width = size.columns * (cell.shown_width() + kGap) + kGap;
    picture.height = size.rows * (cell.shown_height() + kGap) + kGap;
    picture.bytes.assign(std::size_t(picture.width) * std::size_t(picture.height) * 3, 255);
    Sample sample;
    runtime::SampleScratch scratch;
    const std::int64_t samples = source.size(runtime::Split::train);
    // At random: classes that take turns, or stand in blocks, all have their chance.
    const std::vector<std::int64_t> shuffled =
        runtime::split_permutation(plan.training.seed, samples);
    for (int row = 0; row < size.rows && row < samples; ++row) {
        const std::int64_t index = shuffled[std::size_t(row)];
        for (int column = 0; column < size.columns; ++column) {
            source.load(runtime::Split::train, index, sample);
            chain.transform(sample, scratch);
            if (column == 0)
                chain.leave_plain(sample, scratch);
            else
                chain.augment(sample, scratch, {column - 1, index, 0});
            if (sample.height != cell.height || sample.width != cell.width) {
                runtime::resize(sample, {0, 0, sample.height, sample.width}, cell.height,
                                cell.width, true, scratch.resize, scratch.spare);
                runtime::replace_pixels(sample, scratch);
            }
            place(sample, kGap + row * (cell.shown_height() + kGap),
                  kGap + column * (cell.shown_width() + kGap), cell.factor, picture);
        }
    }
    return png_of(picture);
}

}  // namespace dtnn::tools
