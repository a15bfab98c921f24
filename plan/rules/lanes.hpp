#pragma once
/// The order in which samples come where batches carry a state on: lanes, as text is cut for
/// truncated backpropagation through time (Zaremba and others, 2014).
///
/// A pass over n samples has as many lanes as a step of all ranks has samples. Each is a stretch of
/// samples that follow one another, n / lanes of them, and one more in the first n % lanes. Step s
/// takes sample s of every lane, lane i as its sample i: so sample i of a step goes on where sample
/// i of the step before ended, on every rank (parallel.hpp), in the last and smaller step, too.

#include <algorithm>
#include <cstdint>

namespace dtnn::plan {

/// The sample at a position of such a pass, both from 0.
constexpr std::int64_t sample_of_lanes(std::int64_t position, std::int64_t samples,
                                       std::int64_t lanes) {
    const std::int64_t lane = position % lanes;
    return lane * (samples / lanes) + std::min(lane, samples % lanes) + position / lanes;
}

}  // namespace dtnn::plan
