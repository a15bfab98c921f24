// The augmentations of samples: what each draws, and does with it. The compiler's table of them,
// with their documentation, is compiler/frontend/tables/transform_table.cpp.

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "runtime/data/transforms/colour.hpp"
#include "runtime/data/transforms/geometry.hpp"
#include "runtime/data/transforms/resample.hpp"
#include "runtime/data/transforms/sample_step.hpp"

namespace dtnn::runtime {
namespace {

class Flip final : public SampleStep {
  public:
    explicit Flip(const ComponentFields&) {}
    void apply(const ImageView& image, SampleScratch&, Draws&) const override {
        flip_horizontal(image);
    }
};

class VerticalFlip final : public SampleStep {
  public:
    explicit VerticalFlip(const ComponentFields&) {}
    void apply(const ImageView& image, SampleScratch&, Draws&) const override {
        flip_vertical(image);
    }
};

/// A window of the sample's own size, or of `size`, somewhere in the sample with `padding` pixels
/// of `fill` around it.
class RandomCrop final : public SampleStep {
  public:
    explicit RandomCrop(const ComponentFields& fields)
        : padding_(fields.wholes("padding", 2, 0, kMostExtent)),
          fill_(float(fields.real("fill", 0, 1))) {
        if (fields.has("size")) size_ = size_of(fields);
    }
    void apply(const ImageView& image, SampleScratch& scratch, Draws& draws) const override {
        Window window{0, 0, size_.empty() ? image.height() : size_[0],
                      size_.empty() ? image.width() : size_[1]};
        window.top = place(image.height(), window.height, padding_[0], draws);
        window.left = place(image.width(), window.width, padding_[1], draws);
        crop(image, window, fill_, scratch.spare);
        image.swap(scratch.spare);
    }
    void apply_plain(const ImageView& image, SampleScratch& scratch) const override {
        if (size_.empty()) return;
        crop(image,
             {(image.height() - size_[0]) / 2, (image.width() - size_[1]) / 2, size_[0], size_[1]},
             fill_, scratch.spare);
        image.swap(scratch.spare);
    }

  private:
    /// The beginning of the window: anywhere that keeps it within the padded extent, and so that
    /// the sample is in its middle where it is larger than that.
    static std::int64_t place(std::int64_t extent, std::int64_t window, std::int64_t padding,
                              Draws& draws) {
        const std::int64_t room = extent + 2 * padding - window;
        if (room < 0) return (extent - window) / 2;
        return draws.below(room + 1) - padding;
    }

    std::vector<std::int64_t> padding_;
    std::vector<std::int64_t> size_;
    float fill_;
};

/// A part of the image, of random area and aspect ratio, brought to the size (torchvision's
/// RandomResizedCrop).
class RandomResizedCrop final : public SampleStep {
  public:
    explicit RandomResizedCrop(const ComponentFields& fields)
        : area_(fields.reals("area", 2, kPositive, 1)),
          ratio_(fields.reals("ratio", 2, kPositive, 1000)),
          antialias_(fields.flag("antialias")) {
        if (fields.has("size")) size_ = size_of(fields);
    }
    void apply(const ImageView& image, SampleScratch& scratch, Draws& draws) const override {
        const std::int64_t height = size_.empty() ? image.height() : size_[0];
        const std::int64_t width = size_.empty() ? image.width() : size_[1];
        resize(image, window(image, draws), height, width, antialias_, scratch.resize,
               scratch.spare);
        image.swap(scratch.spare);
    }
    void apply_plain(const ImageView& image, SampleScratch& scratch) const override {
        if (size_.empty()) return;
        const double ratio = double(size_[1]) / double(size_[0]);
        resize(image, middle(image, ratio, ratio), size_[0], size_[1], antialias_, scratch.resize,
               scratch.spare);
        image.swap(scratch.spare);
    }

  private:
    Window window(const ImageView& image, Draws& draws) const {
        const double area = double(image.height()) * double(image.width());
        for (int attempt = 0; attempt < 10; ++attempt) {
            const double wanted = area * draws.between(area_[0], area_[1]);
            const double ratio = std::exp(draws.between(std::log(ratio_[0]), std::log(ratio_[1])));
            Window part;
            part.width = std::llround(std::sqrt(wanted * ratio));
            part.height = std::llround(std::sqrt(wanted / ratio));
            if (part.width < 1 || part.width > image.width() || part.height < 1 ||
                part.height > image.height())
                continue;
            part.top = draws.below(image.height() - part.height + 1);
            part.left = draws.below(image.width() - part.width + 1);
            return part;
        }
        return middle(image, ratio_[0], ratio_[1]);
    }
    /// The largest part in the middle whose width is between so many times its height.
    static Window middle(const ImageView& image, double least, double greatest) {
        Window part{0, 0, image.height(), image.width()};
        const double ratio = double(image.width()) / double(image.height());
        if (ratio < least)
            part.height = at_most(double(image.width()) / least, image.height());
        else if (ratio > greatest)
            part.width = at_most(double(image.height()) * greatest, image.width());
        part.top = (image.height() - part.height) / 2;
        part.left = (image.width() - part.width) / 2;
        return part;
    }
    static std::int64_t at_most(double extent, std::int64_t most) {
        // Bounded before it is rounded: of a tiny ratio the quotient is no whole number of 64 bits.
        return std::clamp<std::int64_t>(std::llround(std::min(extent, double(most))), 1, most);
    }

    std::vector<std::int64_t> size_;
    std::vector<double> area_;
    std::vector<double> ratio_;
    bool antialias_;
};

class Rotation final : public SampleStep {
  public:
    explicit Rotation(const ComponentFields& fields)
        : degrees_(fields.real("degrees", 0, 180)), fill_(float(fields.real("fill", 0, 1))) {}
    void apply(const ImageView& image, SampleScratch& scratch, Draws& draws) const override {
        rotate(image, draws.between(-degrees_, degrees_), fill_, scratch.spare);
        image.swap(scratch.spare);
    }

  private:
    double degrees_;
    float fill_;
};

/// One of the changes of colour, by a factor between 1 - amount and 1 + amount.
template <void (*change)(const ImageView&, float)>
class Colour final : public SampleStep {
  public:
    explicit Colour(const ComponentFields& fields) : amount_(fields.real("amount", 0, 100)) {}
    void apply(const ImageView& image, SampleScratch&, Draws& draws) const override {
        change(image, float(draws.between(std::max(0.0, 1 - amount_), 1 + amount_)));
    }

  private:
    double amount_;
};

/// A rectangle about a pixel of the image, cut off at the edges (DeVries and Taylor).
class Cutout final : public SampleStep {
  public:
    explicit Cutout(const ComponentFields& fields)
        : size_(size_of(fields)), fill_(float(fields.real("fill", 0, 1))) {}
    void apply(const ImageView& image, SampleScratch&, Draws& draws) const override {
        const auto [top, bottom] = part(image.height(), size_[0], draws);
        const auto [left, right] = part(image.width(), size_[1], draws);
        for (std::int64_t channel = 0; channel < image.channels(); ++channel) {
            for (std::int64_t y = top; y < bottom; ++y) {
                float* const row =
                    image.pixels().data() + (channel * image.height() + y) * image.width();
                std::fill(row + left, row + right, fill_);
            }
        }
    }

  private:
    static std::pair<std::int64_t, std::int64_t> part(std::int64_t extent, std::int64_t size,
                                                      Draws& draws) {
        const std::int64_t begin = draws.below(extent) - size / 2;
        return {std::max<std::int64_t>(0, begin), std::min(extent, begin + size)};
    }

    std::vector<std::int64_t> size_;
    float fill_;
};

/// A step that happens to some samples only. Whether it does is drawn first.
class Sometimes final : public SampleStep {
  public:
    Sometimes(double probability, std::unique_ptr<SampleStep> step)
        : probability_(probability), step_(std::move(step)) {}
    void apply(const ImageView& image, SampleScratch& scratch, Draws& draws) const override {
        if (draws.happens(probability_)) step_->apply(image, scratch, draws);
    }
    void apply_plain(const ImageView& image, SampleScratch& scratch) const override {
        step_->apply_plain(image, scratch);
    }

  private:
    double probability_;
    std::unique_ptr<SampleStep> step_;
};

constexpr std::array kAugmentations = {
    SampleStepKind{"flip", make<Flip>},
    SampleStepKind{"vertical_flip", make<VerticalFlip>},
    SampleStepKind{"random_crop", make<RandomCrop>},
    SampleStepKind{"random_resized_crop", make<RandomResizedCrop>},
    SampleStepKind{"rotation", make<Rotation>},
    SampleStepKind{"brightness", make<Colour<change_brightness>>},
    SampleStepKind{"contrast", make<Colour<change_contrast>>},
    SampleStepKind{"saturation", make<Colour<change_saturation>>},
    SampleStepKind{"cutout", make<Cutout>},
    SampleStepKind{"mixup", nullptr},
};

}  // namespace

std::unique_ptr<SampleStep> make_augmentation(const plan::Component& component) {
    std::unique_ptr<SampleStep> step = make_step(kAugmentations, "augmentation", component);
    const ComponentFields fields(component);
    if (step == nullptr || !fields.has("probability")) return step;
    return std::make_unique<Sometimes>(fields.real("probability", 0, 1), std::move(step));
}

}  // namespace dtnn::runtime
