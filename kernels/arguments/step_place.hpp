#pragma once
/// Where steps of a text come that is read piece by piece, and how many steps a sample has.

#include "kernels/arguments/arguments.hpp"

namespace dtnn::kernels {

/// Places of texts that have no other limit.
inline constexpr std::int64_t kMostPlaces = std::int64_t{1} << 40;

/// The place, or the nearest of 0 to `last`: what a run is given leads nowhere else.
DTNN_DEVICE inline std::int64_t place_within(std::int64_t place, std::int64_t last) {
    return place < 0 ? 0 : place < last ? place : last;
}

/// The steps that sample n has, of so many as there is room for: as `lengths` says, or the nearest
/// of 1 to `steps`; all of them where it is null.
DTNN_DEVICE inline std::int64_t length_of(const std::int32_t* lengths, std::int64_t n,
                                          std::int64_t steps) {
    if (lengths == nullptr) return steps;
    const std::int64_t length = lengths[n];
    return length < 1 ? 1 : length < steps ? length : steps;
}

}  // namespace dtnn::kernels
