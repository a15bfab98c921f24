#pragma once
/// Made-up samples of any shape and class count, which a network can learn.

#include <array>

#include "runtime/data/sample_source.hpp"

namespace dtnn::runtime {

/// Sample i has class i % classes: the class's pattern (a coarse grid of light and dark, 4 by 4 per
/// channel) and uniform noise, in [0, 1]. With a class for every pixel, each cell of the grid has a
/// class drawn for the sample, and the light of its class. Where samples have a row of numbers for
/// their label, it is 1 at the class and 0 elsewhere. A pure function of (seed, split, index);
/// patterns and lights of (seed, class).
class Synthetic final : public SampleSource {
  public:
    /// `label_shape`: empty, or the height and width of a sample.
    Synthetic(Dims shape, std::int64_t classes, Dims label_shape, std::uint64_t seed,
              std::int64_t train_samples, std::int64_t test_samples,
              plan::LabelKind kind = plan::LabelKind::classes);
    void load(Split split, std::int64_t index, Sample& sample) const override;
    std::int64_t size(Split split) const override {
        return split == Split::train ? train_samples_ : test_samples_;
    }
    std::uint64_t content_hash() const override;
    std::int64_t resident_bytes() const override { return 0; }

  private:
    static constexpr std::int64_t kCells = 4;  ///< the pattern's, along each axis
    using Lights = std::array<float, kCells>;

    /// Light and noise; `lights_of_row(channel, row of cells)` gives the light of that row's cells.
    template <class LightsOfRow>
    void image(std::uint64_t key, std::int64_t index, std::span<float> pixels,
               const LightsOfRow& lights_of_row) const;

    Dims shape_;
    Dims label_shape_;
    std::int64_t classes_;
    std::uint64_t seed_;
    std::int64_t train_samples_;
    std::int64_t test_samples_;
    plan::LabelKind kind_;
};

}  // namespace dtnn::runtime
