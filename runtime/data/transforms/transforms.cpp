// The transforms of samples: what each does with its fields. The compiler's table of them, with
// their documentation, is compiler/frontend/tables/transform_table.cpp.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "runtime/base/run_error.hpp"
#include "runtime/data/transforms/colour.hpp"
#include "runtime/data/transforms/geometry.hpp"
#include "runtime/data/transforms/resample.hpp"
#include "runtime/data/transforms/sample_step.hpp"

namespace dtnn::runtime {
namespace {

/// The window must lie within the sample: the sizes of files are known when they are read.
void require_within(const ImageView& image, const Window& window, const char* step) {
    if (window.top >= 0 && window.left >= 0 && window.top + window.height <= image.height() &&
        window.left + window.width <= image.width())
        return;
    throw RunError(Exit::failed,
                   fmt::format("is {}x{}x{}, from which {} cannot take {}x{} pixels from {},{} on",
                               image.channels(), image.height(), image.width(), step, window.height,
                               window.width, window.top, window.left),
                   fmt::format("put a resize before {} in the dataset's transforms", step));
}

class Resize final : public SampleStep {
  public:
    explicit Resize(const ComponentFields& fields) : antialias_(fields.flag("antialias")) {
        if (fields.has("size"))
            size_ = size_of(fields);
        else
            shorter_ = fields.whole("shorter", 1, kMostExtent);
    }
    void apply(const ImageView& image, SampleScratch& scratch, Draws&) const override {
        std::int64_t height = 0, width = 0;
        if (!size_.empty()) {
            height = size_[0], width = size_[1];
        } else if (image.height() <= image.width()) {
            height = shorter_, width = longer(image.width(), image.height());
        } else {
            width = shorter_, height = longer(image.height(), image.width());
        }
        if (height == image.height() && width == image.width()) return;
        resize(image, {0, 0, image.height(), image.width()}, height, width, antialias_,
               scratch.resize, scratch.spare);
        image.swap(scratch.spare);
    }

  private:
    /// The longer extent at the same aspect ratio, in whole pixels.
    std::int64_t longer(std::int64_t from, std::int64_t shorter_from) const {
        return std::max<std::int64_t>(shorter_, shorter_ * from / shorter_from);
    }

    std::vector<std::int64_t> size_;
    std::int64_t shorter_ = 0;
    bool antialias_;
};

class Crop final : public SampleStep {
  public:
    explicit Crop(const ComponentFields& fields)
        : top_(fields.whole("top", 0, kMostExtent)),
          left_(fields.whole("left", 0, kMostExtent)),
          size_(size_of(fields)) {}
    void apply(const ImageView& image, SampleScratch& scratch, Draws&) const override {
        const Window window{top_, left_, size_[0], size_[1]};
        require_within(image, window, "crop");
        crop(image, window, 0, scratch.spare);
        image.swap(scratch.spare);
    }

  private:
    std::int64_t top_;
    std::int64_t left_;
    std::vector<std::int64_t> size_;
};

class CentreCrop final : public SampleStep {
  public:
    explicit CentreCrop(const ComponentFields& fields) {
        if (fields.has("size"))
            size_ = size_of(fields);
        else
            share_ = fields.real("share", kPositive, 1);
    }
    void apply(const ImageView& image, SampleScratch& scratch, Draws&) const override {
        Window window;
        window.height = size_.empty() ? part(image.height()) : size_[0];
        window.width = size_.empty() ? part(image.width()) : size_[1];
        window.top = (image.height() - window.height) / 2;
        window.left = (image.width() - window.width) / 2;
        require_within(image, window, "centre_crop");
        crop(image, window, 0, scratch.spare);
        image.swap(scratch.spare);
    }

  private:
    std::int64_t part(std::int64_t extent) const {
        return std::max<std::int64_t>(1, std::llround(double(extent) * share_));
    }

    std::vector<std::int64_t> size_;
    double share_ = 1;
};

class ToGray final : public SampleStep {
  public:
    explicit ToGray(const ComponentFields&) {}
    void apply(const ImageView& image, SampleScratch&, Draws&) const override { to_gray(image); }
};

constexpr std::array kTransforms = {
    SampleStepKind{"resize", make<Resize>},
    SampleStepKind{"crop", make<Crop>},
    SampleStepKind{"centre_crop", make<CentreCrop>},
    SampleStepKind{"to_gray", make<ToGray>},
    SampleStepKind{"normalize", nullptr},
};

}  // namespace

std::unique_ptr<SampleStep> make_transform(const plan::Component& component) {
    return make_step(kTransforms, "transform", component);
}

}  // namespace dtnn::runtime
