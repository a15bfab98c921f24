#pragma once
/// Made-up elements for the inputs that are no images.

#include <memory>
#include <utility>
#include <vector>

#include "runtime/data/sample_source.hpp"

namespace dtnn::runtime {

/// The samples of another source with their arrays: integers of those that an input may have, and
/// numbers in [0, 1). A pure function of (seed, split, index).
class MadeUpArrays final : public SampleSource {
  public:
    MadeUpArrays(std::unique_ptr<SampleSource> images, const plan::Dataset& dataset,
                 std::uint64_t seed)
        : images_(std::move(images)),
          inputs_(dataset.inputs),
          first_(plan::has_image(dataset) ? 1 : 0),
          seed_(seed) {}
    void load(Split split, std::int64_t index, Sample& sample) const override;
    std::int64_t size(Split split) const override { return images_->size(split); }
    std::uint64_t content_hash() const override { return images_->content_hash(); }
    std::int64_t resident_bytes() const override { return images_->resident_bytes(); }

  private:
    std::unique_ptr<SampleSource> images_;
    std::vector<plan::Feature> inputs_;
    std::size_t first_;  ///< of those that are no image
    std::uint64_t seed_;
};

}  // namespace dtnn::runtime
