#pragma once
/// Made-up elements for the inputs that are no images, and for sequences of labels.

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "plan/rules/label_sequences.hpp"
#include "runtime/data/sample_source.hpp"

namespace dtnn::runtime {

/// The samples of another source with their arrays: integers of those that an input may have, and
/// numbers in [0, 1). Where labels are sequences, they are one label, or none where the other
/// source gives the blank. A pure function of (seed, split, index).
class MadeUpArrays final : public SampleSource {
  public:
    MadeUpArrays(std::unique_ptr<SampleSource> images, const plan::Dataset& dataset,
                 std::uint64_t seed)
        : images_(std::move(images)),
          inputs_(dataset.inputs),
          first_(plan::has_image(dataset) ? 1 : 0),
          most_labels_(plan::has_sequences(dataset) ? element_count(dataset.target().dims) : 0),
          blank_(plan::blank_of(dataset)),
          seed_(seed) {}
    void load(Split split, std::int64_t index, Sample& sample) const override;
    std::int64_t size(Split split) const override { return images_->size(split); }
    std::uint64_t content_hash() const override { return images_->content_hash(); }
    std::int64_t resident_bytes() const override { return images_->resident_bytes(); }

  private:
    std::unique_ptr<SampleSource> images_;
    std::vector<plan::Feature> inputs_;
    std::size_t first_;         ///< of those that are no image
    std::int64_t most_labels_;  ///< of a sequence; 0: labels are none
    std::optional<std::int64_t> blank_;
    std::uint64_t seed_;
};

}  // namespace dtnn::runtime
