#pragma once
/// Made-up samples of any shape and class count, which a network can learn.

#include "runtime/data/sample_source.hpp"

namespace dtnn::runtime {

/// Sample i has class i % classes: the class's pattern (a coarse grid of light and dark, 4 by 4 per
/// channel) and uniform noise, in [0, 1]. A pure function of (seed, split, index); the pattern of
/// (seed, class).
class Synthetic final : public SampleSource {
  public:
    Synthetic(plan::Dims shape, std::int64_t classes, std::uint64_t seed,
              std::int64_t train_samples, std::int64_t test_samples);
    std::int32_t load(Split split, std::int64_t index, std::span<float> pixels) override;
    std::int64_t size(Split split) const override {
        return split == Split::train ? train_samples_ : test_samples_;
    }

  private:
    plan::Dims shape_;
    std::int64_t classes_;
    std::uint64_t seed_;
    std::int64_t train_samples_;
    std::int64_t test_samples_;
};

}  // namespace dtnn::runtime
