#include "runtime/data/sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/philox.hpp"
#include "plan/rules/lanes.hpp"
#include "plan/rules/validation_part.hpp"
#include "runtime/base/run_error.hpp"

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

Sampler::Sampler(const plan::Dataset& dataset, const plan::Training& training, std::int64_t lanes)
    : seed_(training.seed),
      shuffle_(training.shuffle),
      lanes_(!training.carry_state ? 0
             : lanes > 0           ? lanes
                                   : training.batch_size),
      source_samples_(source_train_samples(dataset)),
      validation_split_(dataset.test_as_validation ? Split::test : Split::train),
      test_(counting(dataset.test_samples)) {
    const std::int64_t kept = dataset.test_as_validation ? 0 : dataset.validation_samples;
    if (kept < 0 || kept >= source_samples_ || dataset.train_samples < 1) {
        throw RunError(Exit::mismatch,
                       fmt::format("the plan's dataset `{}` keeps {} of {} training samples for "
                                   "validation, and an epoch sees {}",
                                   dataset.name, kept, source_samples_, dataset.train_samples),
                       "compile the job again with the dtnnc of this version");
    }
    if (dataset.test_as_validation) {
        validation_ = test_;
        pool_ = counting(source_samples_);
    } else if (dataset.validation_files) {
        pool_ = counting(source_samples_ - kept);
        validation_.resize(std::size_t(kept));
        std::iota(validation_.begin(), validation_.end(), source_samples_ - kept);
    } else if (dataset.validation_samples == 0) {
        pool_ = counting(source_samples_);
    } else {
        const std::vector<std::int64_t> all = split_permutation(seed_, source_samples_);
        const std::int64_t first = plan::validation_part(source_samples_, training).first;
        if (first > source_samples_ - kept)
            throw RunError(Exit::mismatch,
                           fmt::format("the plan's fold {} of {} ends behind the samples of the "
                                       "dataset `{}`",
                                       training.fold, training.k_folds, dataset.name),
                           "compile the job again with the dtnnc of this version");
        const auto begin = all.begin() + first, end = begin + kept;
        validation_.assign(begin, end);
        pool_.assign(all.begin(), begin);
        pool_.insert(pool_.end(), end, all.end());
        std::sort(validation_.begin(), validation_.end());
        std::sort(pool_.begin(), pool_.end());
    }
    order_.resize(std::size_t(dataset.train_samples));
    if (lanes_ > 0 && order_.size() != pool_.size())
        throw RunError(Exit::mismatch,
                       fmt::format("the plan carries states over {} samples an epoch, and the "
                                   "dataset `{}` has {} to train on",
                                   order_.size(), dataset.name, pool_.size()),
                       "compile the job again with the dtnnc of this version");
    if (order_.size() % pool_.size() != 0) drawn_ = pool_;
}

const std::vector<std::int64_t>& Sampler::epoch_order(std::int64_t epoch) {
    if (lanes_ > 0) {
        const auto samples = std::int64_t(pool_.size());
        for (std::int64_t i = 0; i < samples; ++i)
            order_[std::size_t(i)] = pool_[std::size_t(plan::sample_of_lanes(i, samples, lanes_))];
        return order_;
    }
    // From the rising order each time: the order of an epoch does not depend on the epochs before.
    const std::size_t times = order_.size() / pool_.size(), missing = order_.size() % pool_.size();
    auto place = order_.begin();
    for (std::size_t occurrence = 0; occurrence < times; ++occurrence) {
        for (const std::int64_t index : pool_)
            *place++ = index + std::int64_t(occurrence) * source_samples_;
    }
    if (missing > 0) {
        std::copy(pool_.begin(), pool_.end(), drawn_.begin());
        shuffle(drawn_, philox::key_of(seed_, philox::Purpose::shuffle, 1), std::uint64_t(epoch));
        std::sort(drawn_.begin(), drawn_.begin() + std::ptrdiff_t(missing));
        for (std::size_t i = 0; i < missing; ++i)
            *place++ = drawn_[i] + std::int64_t(times) * source_samples_;
    }
    if (shuffle_) {
        shuffle(order_, philox::key_of(seed_, philox::Purpose::shuffle), std::uint64_t(epoch));
    }
    return order_;
}

// The words are compared here alone: `validation` is a split of the samplers only where it has
// samples of its own.
bool is_split(const std::string& word) {
    return word == "train" || word == "validation" || word == "test";
}

void require_split(const plan::Plan& plan, const std::string& word) {
    const plan::Dataset& dataset = plan.dataset;
    if (!is_split(word))
        throw RunError(Exit::usage, fmt::format("`{}` is no split of a dataset", word),
                       "name one of train, validation, test");
    const std::int64_t samples = word == "validation" ? dataset.validation_samples
                                 : word == "test"     ? dataset.test_samples
                                                      : dataset.train_samples;
    if (samples > 0) return;
    throw RunError(Exit::usage,
                   fmt::format("the plan's dataset `{}` has no {} samples", dataset.name, word),
                   word == "validation" ? "compile the job with training.validation_split, "
                                          "dataset.validation_folder or dataset.test_as_validation"
                                        : "name another split: train, validation, test");
}

SplitSamples samples_of(const Sampler& sampler, const std::string& word) {
    if (word == "train") return {Split::train, sampler.train()};
    if (word == "validation") return {sampler.validation_split(), sampler.validation()};
    return {Split::test, sampler.test()};
}

}  // namespace dtnn::runtime
