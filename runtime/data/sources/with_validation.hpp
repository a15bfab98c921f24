#pragma once
/// Samples of validation that are files of their own.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/data/sample_source.hpp"

namespace dtnn::runtime {

/// The samples of `trained`; behind those of its train split come those of `held`'s.
class WithValidation final : public SampleSource {
  public:
    /// `named`: samples have a class each, by its name where classes have some. A class that is
    /// never trained, and columns of other names, are RunErrors.
    WithValidation(std::unique_ptr<SampleSource> trained, std::unique_ptr<SampleSource> held,
                   bool named);

    void load(Split split, std::int64_t index, Sample& sample) const override;
    std::int64_t size(Split split) const override {
        return trained_->size(split) + (split == Split::train ? validation_size() : 0);
    }
    std::int64_t validation_size() const override { return held_->size(Split::train); }
    std::uint64_t content_hash() const override;
    bool hashes_samples() const override {
        return trained_->hashes_samples() && held_->hashes_samples();
    }
    std::int64_t resident_bytes() const override;
    std::string name_of(Split split, std::int64_t index) const override;
    std::vector<std::string> class_names() const override { return trained_->class_names(); }
    std::vector<std::string> feature_names() const override { return trained_->feature_names(); }
    std::int64_t found_classes() const override { return trained_->found_classes(); }
    Attributes found_attributes() const override { return trained_->found_attributes(); }
    /// Of the training samples alone.
    std::vector<plan::FeatureColumn> found_columns(
        std::span<const std::int64_t> samples) const override {
        return trained_->found_columns(samples);
    }
    void load_target(Split split, std::int64_t index, SampleArray& target) const override;
    /// Zero where the two differ.
    Dims found_shape() const override;
    std::int64_t found_pixels() const override;
    std::vector<std::string> notes() const override;

  private:
    /// Gives the label of a sample of `held_` the number that its class has in training.
    void renumber(SampleArray& target) const;
    /// The place of a sample among those of validation; negative: it is trained, or of the test.
    std::int64_t place(Split split, std::int64_t index) const {
        return split == Split::train ? index - trained_->size(split) : -1;
    }

    std::unique_ptr<SampleSource> trained_, held_;
    std::vector<std::int32_t> class_of_;  ///< of the classes of `held_`; empty: the same numbers
};

}  // namespace dtnn::runtime
