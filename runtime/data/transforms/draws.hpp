#pragma once
/// The random numbers of augmentations: pure functions of seed, epoch and sample.

#include <cstdint>

#include "kernels/philox.hpp"

namespace dtnn::runtime {

/// Which time a sample is seen: what is drawn for it depends on nothing else.
struct Sighting {
    std::int64_t epoch = 0;
    std::int64_t sample = 0;      ///< index in its split
    std::int64_t occurrence = 0;  ///< in the epoch, where samples are seen more than once
};

/// The numbers that one augmentation draws for one sample, in order: the words of the Philox
/// sequence (key_of(seed, augment, place in the list of augmentations), epoch + 2^32 occurrence),
/// from word 2^18 * sample on.
class Draws {
  public:
    Draws(std::uint64_t key, const Sighting& sighting)
        : key_(key),
          step_(std::uint64_t(sighting.epoch) | std::uint64_t(sighting.occurrence) << 32),
          next_(std::uint64_t(sighting.sample) << 18) {}

    static std::uint64_t key(std::uint64_t seed, std::uint64_t place) {
        return kernels::philox::key_of(seed, kernels::philox::Purpose::augment, place);
    }

    std::uint32_t word() {
        if (next_ % 4 == 0) block_ = kernels::philox::block(key_, step_, next_ / 4);
        return block_[next_++ % 4];
    }
    /// In [0, 1).
    double uniform() {
        const std::uint32_t first = word();
        return kernels::philox::uniform_double(first, word());
    }
    double between(double low, double high) { return low + (high - low) * uniform(); }
    /// 0 <= value < bound.
    std::int64_t below(std::int64_t bound) {
        const std::uint32_t first = word();
        return std::int64_t(kernels::philox::below(first, word(), std::uint64_t(bound)));
    }
    bool happens(double probability) { return uniform() < probability; }

  private:
    std::uint64_t key_;
    std::uint64_t step_;
    std::uint64_t next_;
    kernels::philox::Block block_{};
};

}  // namespace dtnn::runtime
