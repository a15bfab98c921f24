#pragma once
/// Sentences of a small language, made up from a seed. A regular language with agreement: a verb
/// has the number of its noun, between which a clause may stand, "the old cats that see a dog sleep
/// .".

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/data/sample_source.hpp"

namespace dtnn::runtime {

/// Samples of `steps` words, from the beginning of a sentence on; a step's class is the next word.
/// A pure function of (seed, split, index).
class Grammar final : public SampleSource {
  public:
    Grammar(std::int64_t steps, std::uint64_t seed, std::int64_t train_samples,
            std::int64_t test_samples)
        : steps_(steps), seed_(seed), train_samples_(train_samples), test_samples_(test_samples) {}

    void load(Split split, std::int64_t index, Sample& sample) const override;
    std::int64_t size(Split split) const override {
        return split == Split::train ? train_samples_ : test_samples_;
    }
    std::uint64_t content_hash() const override;
    std::int64_t resident_bytes() const override { return 0; }
    std::vector<std::string> class_names() const override;
    Dims found_shape() const override { return {steps_}; }
    std::vector<std::string> notes() const override;

  private:
    std::int64_t steps_;
    std::uint64_t seed_;
    std::int64_t train_samples_, test_samples_;
};

/// The mean over the steps of what the next word's entropy is, in nats, where all words before it
/// are known: no cross-entropy is less on average.
double least_grammar_loss(std::int64_t steps);

}  // namespace dtnn::runtime
