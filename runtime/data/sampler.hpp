#pragma once
/// In which order samples are seen: pure functions of the seed, without the state of a generator.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "runtime/data/sample_source.hpp"

namespace dtnn::runtime {

/// A permutation of 0 .. count-1 (Fisher and Yates, by Philox).
std::vector<std::int64_t> split_permutation(std::uint64_t seed, std::int64_t count);

/// Which samples an epoch sees, in which order, for all ranks alike: the order is that of the
/// global batches, and a rank takes its part of each.
///
///     validation = validation_samples of split_permutation(seed, source_train_samples), the first
///                  or those of the fold (plan/rules/validation_part.hpp),
///                  or all test samples with test_as_validation, or the last validation_samples of
///                  the source with validation_files
///     pool       = the other training samples
///     an epoch   = floor(n / |pool|) times the pool, and of one more time as many as are missing
///     to
///                  n = train_samples, drawn anew for every epoch (Fisher and Yates, stream 1 of
///                  the purpose shuffle); shuffled, all together, or with carry_state the pool
///                  once, in lanes (plan/rules/lanes.hpp)
///
/// Draws samples without regard to their class: a sample is as likely to be drawn as any other, and
/// in an epoch no sample comes two times more often than another.
class Sampler {
  public:
    /// Both parts of the split are kept in rising order. `lanes`: the samples of a step of all
    /// ranks; 0: of one rank.
    Sampler(const plan::Dataset& dataset, const plan::Training& training, std::int64_t lanes = 0);

    /// The training samples in the order of `epoch` (from 0): index + occurrence * (samples of the
    /// split), as Pass takes them; the occurrence counts how often the sample has been listed
    /// before. Without shuffling they are in rising order, or in lanes. Valid until the next call;
    /// allocates nothing.
    const std::vector<std::int64_t>& epoch_order(std::int64_t epoch);

    /// The samples that are ever trained on.
    const std::vector<std::int64_t>& train() const { return pool_; }
    const std::vector<std::int64_t>& validation() const { return validation_; }
    Split validation_split() const { return validation_split_; }
    const std::vector<std::int64_t>& test() const { return test_; }

  private:
    std::uint64_t seed_;
    bool shuffle_;
    std::int64_t lanes_;  ///< 0: samples come as `shuffle` says
    std::int64_t source_samples_;
    Split validation_split_;
    std::vector<std::int64_t> pool_;
    std::vector<std::int64_t> validation_;
    std::vector<std::int64_t> test_;
    std::vector<std::int64_t> order_;
    std::vector<std::int64_t> drawn_;  ///< the pool, as one draws from it
};

/// Whether it is what users call a split: train, validation or test.
bool is_split(const std::string& word);

/// A split without samples is a RunError (exit 2).
void require_split(const plan::Plan& plan, const std::string& word);

struct SplitSamples {
    Split split = Split::test;
    std::span<const std::int64_t> order;
};
/// In rising order. Of `train` those that are trained on: without the validation samples, each
/// once.
SplitSamples samples_of(const Sampler& sampler, const std::string& word);

}  // namespace dtnn::runtime
