#pragma once
/// A plan's dataset that is opened when it is first needed.

#include <memory>
#include <string>
#include <vector>

#include "runtime/data/sample_source.hpp"

namespace dtnn::library {

/// Whoever passes over the samples has opened it before.
class LateSource final : public runtime::SampleSource {
  public:
    /// The plan outlives it. `opened` may be the source already.
    explicit LateSource(const plan::Plan& plan, std::unique_ptr<runtime::SampleSource> opened)
        : plan_(plan), source_(std::move(opened)) {}

    /// RunError where the dataset is not what the plan says.
    void open() {
        if (!source_)
            source_ =
                runtime::open_source(plan_.dataset, runtime::Counts::exact, plan_.target.dtype);
    }
    bool is_open() const { return source_ != nullptr; }

    void load(runtime::Split split, std::int64_t index, runtime::Sample& sample) const override {
        source_->load(split, index, sample);
    }
    std::int64_t size(runtime::Split split) const override { return source_->size(split); }
    std::int64_t validation_size() const override { return source_->validation_size(); }
    std::uint64_t content_hash() const override { return source_->content_hash(); }
    bool hashes_samples() const override { return source_->hashes_samples(); }
    std::int64_t resident_bytes() const override {
        return is_open() ? source_->resident_bytes() : 0;
    }
    std::string name_of(runtime::Split split, std::int64_t index) const override {
        return source_->name_of(split, index);
    }
    std::vector<std::string> class_names() const override {
        return is_open() ? source_->class_names() : std::vector<std::string>();
    }
    std::vector<std::string> feature_names() const override {
        return is_open() ? source_->feature_names() : std::vector<std::string>();
    }
    std::vector<std::string> notes() const override {
        return is_open() ? source_->notes() : std::vector<std::string>();
    }

  private:
    const plan::Plan& plan_;
    std::unique_ptr<runtime::SampleSource> source_;  ///< null: not open yet
};

}  // namespace dtnn::library
