#pragma once
/// In which order samples are seen: pure functions of the seed, without the state of a generator.

#include <cstdint>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn::runtime {

/// A permutation of 0 .. count-1 (Fisher and Yates, by Philox).
std::vector<std::int64_t> split_permutation(std::uint64_t seed, std::int64_t count);

class Sampler {
  public:
    /// Splits train_samples + validation_samples indices by a permutation that the seed gives; both
    /// parts are kept in rising order.
    Sampler(const plan::Dataset& dataset, const plan::Training& training);

    /// The training samples in the order of `epoch` (from 0). Valid until the next call; allocates
    /// nothing.
    const std::vector<std::int64_t>& epoch_order(std::int64_t epoch);
    const std::vector<std::int64_t>& train() const { return train_; }
    const std::vector<std::int64_t>& validation() const { return validation_; }
    const std::vector<std::int64_t>& test() const { return test_; }

  private:
    std::uint64_t seed_;
    bool shuffle_;
    std::vector<std::int64_t> train_;
    std::vector<std::int64_t> validation_;
    std::vector<std::int64_t> test_;
    std::vector<std::int64_t> order_;
};

}  // namespace dtnn::runtime
