#include "runtime/data/sampler.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/philox.hpp"

namespace dtnn::runtime {
namespace {

namespace philox = kernels::philox;

void shuffle(std::vector<std::int64_t>& values, std::uint64_t key, std::uint64_t step) {
    for (std::size_t i = values.size(); i-- > 1;) {
        // Swap number i takes half a block: words 2i and 2i+1.
        const philox::Block block = philox::block(key, step, i / 2);
        const std::size_t half = i % 2 * 2;
        std::swap(values[i], values[philox::below(block[half], block[half + 1], i + 1)]);
    }
}

std::vector<std::int64_t> counting(std::int64_t count) {
    std::vector<std::int64_t> values(static_cast<std::size_t>(count));
    std::iota(values.begin(), values.end(), std::int64_t{0});
    return values;
}

}  // namespace

std::vector<std::int64_t> split_permutation(std::uint64_t seed, std::int64_t count) {
    std::vector<std::int64_t> values = counting(count);
    shuffle(values, philox::key_of(seed, philox::Purpose::split), 0);
    return values;
}

Sampler::Sampler(const plan::Dataset& dataset, const plan::Training& training)
    : seed_(training.seed), shuffle_(training.shuffle), test_(counting(dataset.test_samples)) {
    if (dataset.validation_samples == 0) {
        train_ = counting(dataset.train_samples);
    } else {
        const std::vector<std::int64_t> all =
            split_permutation(seed_, dataset.train_samples + dataset.validation_samples);
        const auto middle = all.begin() + dataset.validation_samples;
        validation_.assign(all.begin(), middle);
        train_.assign(middle, all.end());
        std::sort(validation_.begin(), validation_.end());
        std::sort(train_.begin(), train_.end());
    }
    order_ = train_;
}

const std::vector<std::int64_t>& Sampler::epoch_order(std::int64_t epoch) {
    // From the rising order each time: the order of an epoch does not depend on the epochs before.
    std::copy(train_.begin(), train_.end(), order_.begin());
    if (shuffle_) {
        shuffle(order_, philox::key_of(seed_, philox::Purpose::shuffle), std::uint64_t(epoch));
    }
    return order_;
}

}  // namespace dtnn::runtime
