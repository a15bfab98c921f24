#pragma once
/// Where samples come from.

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "plan/plan.hpp"

namespace dtnn::runtime {

enum class Split { train, test };

class SampleSource {
  public:
    virtual ~SampleSource() = default;

    /// Writes sample `index` of the split as channels, height, width, row-major, values in [0, 1],
    /// and its labels, 0 <= class < classes: one, or one for each pixel, row-major, where the
    /// dataset's label_shape says so. A pure function of the dataset, split and index. One thread
    /// at a time.
    virtual void load(Split split, std::int64_t index, std::span<float> pixels,
                      std::span<std::int32_t> labels) = 0;

    /// Samples in a split; of the train split, before validation is split off.
    virtual std::int64_t size(Split split) const = 0;
};

/// The plan's dataset, opened and verified against the plan: shape, classes and sizes. What is
/// wrong is a RunError that names file, fact and remedy.
std::unique_ptr<SampleSource> open_source(const plan::Dataset& dataset);

/// Made-up samples of the dataset's shape, classes and sizes, whatever its type.
std::unique_ptr<SampleSource> made_up_source(const plan::Dataset& dataset);

}  // namespace dtnn::runtime
