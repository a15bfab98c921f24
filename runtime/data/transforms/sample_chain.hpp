#pragma once
/// The way of a sample from its source to the network, as the plan says:
///
///     transforms -> augmentations (training only) -> normalize -> mixup (training only)
///
/// Transforms and augmentations work on pixels in [0, 1]; so `normalize` comes behind them,
/// wherever it stands in the list of transforms. Several `normalize` are applied in their order.

#include <cstdint>
#include <memory>
#include <vector>

#include "plan/plan.hpp"
#include "runtime/data/transforms/sample_step.hpp"

namespace dtnn::runtime {

/// A normalization: (pixel - mean) / standard deviation, in the plan's floating type; one number of
/// each for every channel.
struct Normalization {
    std::vector<double> mean;
    std::vector<double> standard_deviation;
};

/// The constants that `normalize` names (plan/normalization.hpp), or the lists that it has, for so
/// many channels.
Normalization normalization_of(const plan::Component& component, std::int64_t channels);

class SampleChain {
  public:
    /// Makes the steps of the plan. A mistake of a component is a RunError (exit 5).
    explicit SampleChain(const plan::Plan& plan);

    /// Applies what every sample goes through.
    void transform(Sample& sample, SampleScratch& scratch) const;
    /// Applies what training samples go through then.
    void augment(Sample& sample, SampleScratch& scratch, const Sighting& sighting) const;
    /// Applies what the others go through then: the middle part where augmentations make another
    /// size.
    void leave_plain(Sample& sample, SampleScratch& scratch) const;

    /// Whether any step works on pixels: all do so in 32 bits.
    bool has_steps() const { return !transforms_.empty() || !augmentations_.empty(); }
    const std::vector<Normalization>& normalizations() const { return normalizations_; }

  private:
    struct Augmentation {
        std::uint64_t key;
        std::unique_ptr<SampleStep> step;
    };
    std::vector<std::unique_ptr<SampleStep>> transforms_;
    std::vector<Augmentation> augmentations_;
    std::vector<Normalization> normalizations_;
    std::int32_t fill_label_;  ///< of pixels that steps make
};

}  // namespace dtnn::runtime
