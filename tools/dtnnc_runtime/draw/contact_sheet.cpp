#include "tools/dtnnc_runtime/draw/contact_sheet.hpp"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "plan/rules/label_sequences.hpp"
#include "runtime/data/sampler.hpp"
#include "runtime/data/transforms/sample_chain.hpp"
#include "tools/dtnnc/output.hpp"
#include "tools/dtnnc_runtime/draw/small_font.hpp"

namespace dtnn::tools {
namespace {

using runtime::ImageView;
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

    explicit Cell(const Dims& shape) : height(shape[1]), width(shape[2]) {
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

using Colour = std::array<std::uint8_t, 3>;

/// Squares of `factor` dots from there on, one for each of height by width pixels.
template <class ColourOf>
void place(std::int64_t height, std::int64_t width, int top, int left, int factor, Picture& picture,
           ColourOf&& colour_of) {
    for (int y = 0; y < int(height) * factor; ++y) {
        for (int x = 0; x < int(width) * factor; ++x) {
            const Colour colour = colour_of(std::size_t(y / factor * width + x / factor));
            const std::size_t to =
                std::size_t(top + y) * std::size_t(picture.width) + std::size_t(left + x);
            std::copy(colour.begin(), colour.end(), picture.bytes.begin() + std::ptrdiff_t(to * 3));
        }
    }
}

void place_pixels(const ImageView& image, int top, int left, int factor, Picture& picture) {
    const std::vector<float>& pixels = image.pixels();
    const std::size_t next = image.channels() == 3 ? pixels.size() / 3 : 0;
    place(image.height(), image.width(), top, left, factor, picture, [&](std::size_t pixel) {
        return Colour{byte_of(pixels[pixel]), byte_of(pixels[next + pixel]),
                      byte_of(pixels[2 * next + pixel])};
    });
}

/// The first classes' colours can be told apart by the colour-blind (Okabe and Ito, "Color
/// universal design", 2008); class 0, most often the ground, is gray. Those behind take turns.
Colour colour_of_class(std::int64_t label) {
    constexpr std::array<Colour, 9> kColours = {{{214, 218, 224},
                                                 {0, 114, 178},
                                                 {230, 159, 0},
                                                 {0, 158, 115},
                                                 {213, 94, 0},
                                                 {86, 180, 233},
                                                 {204, 121, 167},
                                                 {240, 228, 66},
                                                 {51, 51, 51}}};
    if (label <= 0) return kColours[0];
    return kColours[1 + std::size_t(label - 1) % (kColours.size() - 1)];
}

void place_mask(const ImageView& image, int top, int left, int factor, Picture& picture) {
    place(image.height(), image.width(), top, left, factor, picture,
          [&](std::size_t pixel) { return colour_of_class(image.labels()[pixel]); });
}

constexpr int kLabelScale = 2;            ///< of letters beside the samples
constexpr std::size_t kMostLetters = 20;  ///< of a label
constexpr int kLabelLine = kLetterRows * kLabelScale + 2;
/// Classes beyond these have no place in the legend of masks.
constexpr std::size_t kMostClasses = 32;

int text_width(const std::string& text, int scale) {
    return int(text.size()) * kLetterWidth * scale;
}

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

std::string name_of_class(const std::vector<std::string>& names, std::size_t label) {
    return label < names.size() ? names[label] : fmt::format("class {}", label);
}

/// The label of the sample: its class, its classes, its values; nothing where every pixel has a
/// label, or the sample a sequence of them.
std::string label_of(const Sample& sample, const std::vector<std::string>& names,
                     const plan::Dataset& dataset) {
    const auto name = [&](std::size_t i) { return name_of_class(names, i); };
    if (plan::has_sequences(dataset)) return "";
    if (dataset.target().kind == plan::LabelKind::classes)
        return sample.target().integers.size() == 1 ? name(std::size_t(sample.target().integers[0]))
                                                    : "";
    std::string text;
    const std::vector<double>& numbers = sample.target().doubles;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const bool values = dataset.target().kind == plan::LabelKind::values;
        if (!values && numbers[i] == 0) continue;
        text += (text.empty() ? "" : ", ") + (values ? fmt::format("{:.4g}", numbers[i]) : name(i));
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

class Sheet {
  public:
    Sheet(const runtime::SampleSource& source, const plan::Plan& plan, const SheetSize& size)
        : source_(source),
          chain_(plan),
          cell_(plan.dataset.input().dims),
          masks_(!plan.dataset.target().dims.empty() && !plan::has_sequences(plan.dataset)),
          names_(source.class_names()) {
        if (names_.empty()) names_ = plan.dataset.target().names;
        const std::int64_t samples = source.size(runtime::Split::train);
        // Without augmentation every epoch sees the same.
        columns_ = plan.dataset.augmentations.empty() ? 1 : size.columns;
        // At random: classes that take turns, or stand in blocks, all have their chance.
        const std::vector<std::int64_t> shuffled =
            runtime::split_permutation(plan.training.seed, samples);
        rows_.assign(shuffled.begin(),
                     shuffled.begin() + std::min<std::int64_t>(size.rows, samples));
        for (const std::int64_t index : rows_) {
            source.load(runtime::Split::train, index, sample_);
            labels_.push_back(shortened(label_of(sample_, names_, plan.dataset)));
            side_ = std::max({side_, text_width(labels_.back(), kLabelScale),
                              text_width(number_of(index), kLabelScale)});
        }
        side_ += kBeside;
        if (masks_)
            for (std::size_t i = 0;
                 i < std::min(std::size_t(plan.dataset.target().classes), kMostClasses); ++i)
                classes_.push_back(shortened(name_of_class(names_, i)));
    }

    Picture draw() {
        // Above the columns stands what they show, beside the rows what the samples are.
        head_scale_ = cell_.shown_width() >= 7 * kLetterWidth * kLabelScale ? kLabelScale : 1;
        const int head = columns_ > 1 ? kLetterRows * head_scale_ + kGap : 0;
        const int shown = cell_.shown_height() * (masks_ ? 2 : 1) + (masks_ ? kGap / 2 : 0);
        const int row_height = std::max(shown, 2 * kLabelLine) + kGap;
        picture_.width = kGap + side_ + columns_ * (cell_.shown_width() + kGap);
        for (const std::string& name : classes_)
            picture_.width = std::max(picture_.width, key_width(name) + kGap);
        const int legend = kGap + head + int(rows_.size()) * row_height;
        picture_.height = legend + draw_legend(legend, false);
        picture_.bytes.assign(std::size_t(picture_.width) * std::size_t(picture_.height) * 3, 255);
        for (int column = 0; columns_ > 1 && column < columns_; ++column)
            write_text(column == 0 ? "plain" : fmt::format("epoch {}", column), kGap,
                       left_of(column), head_scale_, picture_);
        for (std::size_t row = 0; row < rows_.size(); ++row)
            draw_row(row, kGap + head + int(row) * row_height);
        draw_legend(legend, true);
        return std::move(picture_);
    }

  private:
    static constexpr int kBeside = 12;  ///< between labels and samples

    static std::string number_of(std::int64_t index) { return fmt::format("#{}", index); }

    int left_of(int column) const { return kGap + side_ + column * (cell_.shown_width() + kGap); }

    static int key_width(const std::string& name) {
        return kGap + kLabelLine + kGap + text_width(name, kLabelScale) + kBeside;
    }

    void draw_row(std::size_t row, int top) {
        const std::string& label = labels_[row];
        write_text(label, top, kGap, kLabelScale, picture_);
        write_text(number_of(rows_[row]), top + (label.empty() ? 0 : kLabelLine), kGap, kLabelScale,
                   picture_);
        for (int column = 0; column < columns_; ++column) {
            source_.load(runtime::Split::train, rows_[row], sample_);
            chain_.transform(sample_, scratch_);
            if (column == 0)
                chain_.leave_plain(sample_, scratch_);
            else
                chain_.augment(sample_, scratch_, {column - 1, rows_[row], 0});
            const ImageView image(sample_);
            if (image.height() != cell_.height || image.width() != cell_.width) {
                runtime::resize(image, {0, 0, image.height(), image.width()}, cell_.height,
                                cell_.width, true, scratch_.resize, scratch_.spare);
                image.swap(scratch_.spare);
            }
            place_pixels(image, top, left_of(column), cell_.factor, picture_);
            if (masks_ && image.labelled())
                place_mask(image, top + cell_.shown_height() + kGap / 2, left_of(column),
                           cell_.factor, picture_);
        }
    }

    /// Draws what the colours of masks mean, as many beside each other as there is room for. Its
    /// height.
    int draw_legend(int top, bool drawn) {
        if (classes_.empty()) return 0;
        int x = 0, y = top + kGap;
        for (std::size_t i = 0; i < classes_.size(); ++i) {
            if (x > 0 && x + key_width(classes_[i]) > picture_.width) {
                x = 0;
                y += kLabelLine + kGap;
            }
            if (drawn) {
                place(1, 1, y, x + kGap, kLabelLine - 2, picture_,
                      [&](std::size_t) { return colour_of_class(std::int64_t(i)); });
                write_text(classes_[i], y, x + kGap + kLabelLine + kGap, kLabelScale, picture_);
            }
            x += key_width(classes_[i]);
        }
        return y + kLabelLine + kGap - top;
    }

    const runtime::SampleSource& source_;
    runtime::SampleChain chain_;
    Cell cell_;
    bool masks_;  ///< every pixel has a class: the mask is shown below the sample
    std::vector<std::string> names_, labels_, classes_;
    std::vector<std::int64_t> rows_;  ///< the samples' numbers
    int columns_ = 1, side_ = 0, head_scale_ = 1;
    Sample sample_;
    runtime::SampleScratch scratch_;
    Picture picture_;
};

}  // namespace

std::string contact_sheet(const runtime::SampleSource& source, const plan::Plan& plan,
                          const SheetSize& size) {
    return png_of(Sheet(source, plan, size).draw());
}

}  // namespace dtnn::tools
