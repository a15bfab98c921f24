#pragma once
/// Files without a split of their own: a share of the samples is kept for the test.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/data/sample_source.hpp"

namespace dtnn::runtime {

/// A part of `all` is held out: of N samples, all of them its train split, the first floor(N *
/// share), at least one, of a permutation that depends on N alone are the test's, in rising order;
/// the others stay in training.
class HeldOut final : public SampleSource {
  public:
    /// RunError where nothing would be left to train on.
    HeldOut(std::unique_ptr<SampleSource> all, double share);

    void load(Split split, std::int64_t index, Sample& sample) const override {
        all_->load(Split::train, place(split, index), sample);
    }
    std::int64_t size(Split split) const override { return std::int64_t(of(split).size()); }
    std::uint64_t content_hash() const override;
    std::int64_t resident_bytes() const override;
    std::string name_of(Split split, std::int64_t index) const override {
        return all_->name_of(Split::train, place(split, index));
    }
    std::vector<std::string> class_names() const override { return all_->class_names(); }
    std::vector<std::string> feature_names() const override { return all_->feature_names(); }
    std::int64_t found_classes() const override { return all_->found_classes(); }
    Attributes found_attributes() const override { return all_->found_attributes(); }
    Dims found_shape() const override { return all_->found_shape(); }
    std::vector<plan::FeatureColumn> found_columns(
        std::span<const std::int64_t> samples) const override;
    void load_target(Split split, std::int64_t index, SampleArray& target) const override {
        all_->load_target(Split::train, place(split, index), target);
    }
    std::int64_t found_pixels() const override { return all_->found_pixels(); }
    std::vector<std::string> notes() const override { return all_->notes(); }

  private:
    const std::vector<std::int64_t>& of(Split split) const {
        return split == Split::train ? train_ : test_;
    }
    std::int64_t place(Split split, std::int64_t index) const {
        return of(split)[std::size_t(index)];
    }

    std::unique_ptr<SampleSource> all_;
    std::vector<std::int64_t> train_;
    std::vector<std::int64_t> test_;
};

}  // namespace dtnn::runtime
