#pragma once
/// Samples that lie in memory and are to be predicted, now these and then others.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plan/rules/lengths.hpp"
#include "runtime/data/sample_source.hpp"
#include "runtime/data/sources/array_source.hpp"

namespace dtnn::runtime {

/// The target of a sample of which nobody knows what is right: zeros.
void leave_target_open(const plan::Dataset& dataset, Sample& sample);

/// All samples are the test split, as those of PredictionInputs, and become what the same numbers
/// in a .npy file would.
class GivenSamples final : public SampleSource {
  public:
    explicit GivenSamples(plan::Dataset dataset)
        : dataset_(std::move(dataset)),
          arrays_(
              ArraySource::of_memory(dataset_.inputs, plan::lengths_input(dataset_).has_value())) {}

    /// Takes these in place of those before: an array for each input, all of as many samples. They
    /// are read where they lie. What does not fit is a RunError.
    void take(std::vector<GivenArray> arrays);

    void load(Split split, std::int64_t index, Sample& sample) const override;
    std::int64_t size(Split split) const override;
    std::uint64_t content_hash() const override { return 0; }
    std::int64_t resident_bytes() const override { return 0; }
    std::string name_of(Split split, std::int64_t index) const override;

  private:
    const plan::Dataset dataset_;
    const std::unique_ptr<ArraySource> arrays_;
};

}  // namespace dtnn::runtime
