#include "tools/dtnnc/draw/contact_sheet.hpp"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "runtime/data/sampler.hpp"
#include "runtime/data/transforms/sample_chain.hpp"
#include "tools/dtnnc/draw/small_font.hpp"
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

constexpr int kLabelScale = 2;            ///< of letters beside the samples
constexpr std::size_t kMostLetters = 20;  ///< of a label

/// Writes the text with its upper left corner there, in dark gray.
void write_text(const std::string& text, int top, int left, int scale, Picture& picture) {
    constexpr std::uint8_t kInk = 0x33;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto& columns = letter(text[i]);
        for (int y = 0; y < kLetterRows * scale; ++y) {
            for (int x = 0; x < kLetterColumns * scale; ++x) {
                if ((columns[std::size_t(x / scale)] >> (y / scale) & 1) == 0) continue;
                const int column = left + int(i) * kLetterWidth * scale + x, row = top + y;
                if (column >= picture.width || row >= picture.height) continue;
                const std::size_t to =
                    std::size_t(row) * std::size_t(picture.width) + std::size_t(column);
                for (std::size_t c = 0; c < 3; ++c)
                    picture.bytes[to * 3 + c] = kInk;
            }
        }
    }
}

std::string shortened(std::string text) {
    if (text.size() <= kMostLetters) return text;
    text.resize(kMostLetters - 2);
    return text + "..";
}

/// What the sample is labelled as: its class, its classes, its values; nothing where every pixel
/// has a label.
std::string label_of(const Sample& sample, const std::vector<std::string>& names,
                     const plan::Dataset& dataset) {
    const auto name = [&](std::size_t i) {
        return i < names.size() ? names[i] : fmt::format("class {}", i);
    };
    if (dataset.label_kind == plan::LabelKind::classes)
        return sample.labels.size() == 1 ? name(std::size_t(sample.labels[0])) : "";
    std::string text;
    for (std::size_t i = 0; i < sample.targets.size(); ++i) {
        const bool values = dataset.label_kind == plan::LabelKind::values;
        if (!values && sample.targets[i] == 0) continue;
        text += (text.empty() ? "" : ", ") +
                (values ? fmt::format("{:.4g}", sample.targets[i]) : name(i));
    }
    return text.empty() ? "no label" : text;
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
    Sample sample;
    runtime::SampleScratch scratch;
    const std::int64_t samples = source.size(runtime::Split::train);
    const int rows = int(std::min<std::int64_t>(size.rows, samples));
    // Without augmentation every epoch sees the same.
    const int columns = plan.dataset.augmentations.empty() ? 1 : size.columns;
    // At random: classes that take turns, or stand in blocks, all have their chance.
    const std::vector<std::int64_t> shuffled =
        runtime::split_permutation(plan.training.seed, samples);
    const std::vector<std::string> names = source.class_names();
    std::vector<std::string> labels;
    std::size_t longest = 0;
    for (int row = 0; row < rows; ++row) {
        const std::int64_t index = shuffled[std::size_t(row)];
        source.load(runtime::Split::train, index, sample);
        labels.push_back(shortened(label_of(sample, names, plan.dataset)));
        longest = std::max({longest, labels.back().size(), fmt::format("#{}", index).size()});
    }
    // Above the columns stands what they show, beside the rows what the samples are.
    const int head_scale = cell.shown_width() >= 7 * kLetterWidth * kLabelScale ? kLabelScale : 1;
    const int head = columns > 1 ? kLetterRows * head_scale + kGap : 0;
    const int side = int(longest) * kLetterWidth * kLabelScale + kGap;
    constexpr int kLine = kLetterRows * kLabelScale + 2;
    const int row_height = std::max(cell.shown_height(), 2 * kLine) + kGap;
    Picture picture;
    picture.width = kGap + side + columns * (cell.shown_width() + kGap);
    picture.height = kGap + head + rows * row_height;
    picture.bytes.assign(std::size_t(picture.width) * std::size_t(picture.height) * 3, 255);
    for (int column = 0; columns > 1 && column < columns; ++column)
        write_text(column == 0 ? "plain" : fmt::format("epoch {}", column), kGap,
                   kGap + side + column * (cell.shown_width() + kGap), head_scale, picture);
    for (int row = 0; row < rows; ++row) {
        const std::int64_t index = shuffled[std::size_t(row)];
        const int top = kGap + head + row * row_height;
        write_text(labels[std::size_t(row)], top, kGap, kLabelScale, picture);
        write_text(fmt::format("#{}", index), top + (labels[std::size_t(row)].empty() ? 0 : kLine),
                   kGap, kLabelScale, picture);
        for (int column = 0; column < columns; ++column) {
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
            place(sample, top, kGap + side + column * (cell.shown_width() + kGap), cell.factor,
                  picture);
        }
    }
    return png_of(picture);
}

}  // namespace dtnn::tools
