#pragma once
/// An image among a sample's arrays, as transforms and augmentations see and change it.

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/data/sample_source.hpp"

namespace dtnn::runtime {

/// The first input of a sample, channels, height, width, and the classes of its pixels, where these
/// are the first target. Copied like a pointer; the sample outlives it.
class ImageView {
  public:
    /// Where a step makes pixels that the sample does not have, they are of the class `fill_label`:
    /// 0, or plan::kIgnoredLabel.
    ImageView(Sample& sample, std::int32_t fill_label = 0)
        : image_(&sample.input()), classes_(&sample.target()), fill_label_(fill_label) {}

    std::int64_t channels() const { return image_->dims[0]; }
    std::int64_t height() const { return image_->dims[1]; }
    std::int64_t width() const { return image_->dims[2]; }
    std::vector<float>& pixels() const { return image_->floats; }
    void set_shape(std::int64_t channels, std::int64_t height, std::int64_t width) const {
        image_->set_floats(std::array{channels, height, width});
    }

    /// Whether each pixel has a class; one class of a sample has no extents.
    bool labelled() const { return !classes_->dims.empty(); }
    std::vector<std::int32_t>& labels() const { return classes_->integers; }
    std::int32_t fill_label() const { return fill_label_; }
    /// Makes room for a class for each pixel.
    void set_labelled() const {
        classes_->dims.assign({height(), width()});
        classes_->integers.resize(std::size_t(height() * width()));
    }

    /// Changes places with an image of the same sample that a step has made, and its classes.
    void swap(const ImageView& made) const {
        std::swap(*image_, *made.image_);
        if (labelled()) std::swap(*classes_, *made.classes_);
    }

  private:
    SampleArray* image_;
    SampleArray* classes_;
    std::int32_t fill_label_;
};

}  // namespace dtnn::runtime
