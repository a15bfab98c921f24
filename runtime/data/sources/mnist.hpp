#pragma once
/// MNIST from its four IDX files, raw or gzip.

#include <string>

#include "runtime/data/formats/idx.hpp"
#include "runtime/data/sample_source.hpp"

namespace dtnn::runtime {

/// 28x28 pixels as value / 255, ten classes. The files must hold exactly as many samples as the
/// plan says, or at most as many.
class Mnist final : public SampleSource {
  public:
    Mnist(const std::string& folder, std::int64_t train_samples, std::int64_t test_samples,
          bool at_most = false);
    void load(Split split, std::int64_t index, Sample& sample) const override;
    std::int64_t size(Split split) const override;
    std::uint64_t content_hash() const override;
    std::int64_t resident_bytes() const override;
    std::vector<std::string> class_names() const override;

  private:
    struct Files {
        IdxFile images;
        IdxFile labels;
    };
    static Files read(const std::string& folder, const std::string& prefix, std::int64_t samples,
                      bool at_most);
    const Files& of(Split split) const { return split == Split::train ? train_ : test_; }

    Files train_;
    Files test_;
};

}  // namespace dtnn::runtime
