#include "runtime/data/sources/held_out.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/base/run_error.hpp"
#include "runtime/data/formats/content_hash.hpp"
#include "runtime/data/sampler.hpp"

namespace dtnn::runtime {

namespace {
constexpr std::uint64_t kSplitSeed = 0;  ///< the test samples of a dataset are always the same
}

HeldOut::HeldOut(std::unique_ptr<SampleSource> all, double share) : all_(std::move(all)) {
    const std::int64_t samples = all_->size(Split::train);
    if (samples == 0)
        throw RunError(Exit::failed, "there are no samples to keep a dataset.test_share of",
                       "name data that have samples");
    // The same rounding as of `validation_split`.
    const auto kept =
        std::max<std::int64_t>(1, std::int64_t(std::floor(double(samples) * share + 1e-7)));
    if (kept >= samples) {
        throw RunError(Exit::failed,
                       fmt::format("a dataset.test_share of {} keeps {} of {} samples for the test",
                                   share, kept, samples),
                       "give the dataset a smaller test_share, or more samples");
    }
    test_ = split_permutation(kSplitSeed, samples);
    train_.assign(test_.begin() + kept, test_.end());
    test_.resize(std::size_t(kept));
    test_.shrink_to_fit();
    std::sort(train_.begin(), train_.end());
    std::sort(test_.begin(), test_.end());
}

std::vector<plan::FeatureColumn> HeldOut::found_columns(
    std::span<const std::int64_t> samples) const {
    std::vector<std::int64_t> places;
    places.reserve(samples.size());
    for (const std::int64_t sample : samples)
        places.push_back(place(Split::train, sample));
    return all_->found_columns(places);
}

std::uint64_t HeldOut::content_hash() const {
    ContentHash hash;
    hash.add("held out").add(all_->content_hash()).add(std::uint64_t(test_.size()));
    return hash.value();
}

std::int64_t HeldOut::resident_bytes() const {
    return all_->resident_bytes() +
           std::int64_t((train_.capacity() + test_.capacity()) * sizeof(std::int64_t));
}

}  // namespace dtnn::runtime
