#pragma once
/// Where steps of a text come that is read piece by piece.

#include "kernels/arguments/arguments.hpp"

namespace dtnn::kernels {

/// Places of texts that have no other limit.
inline constexpr std::int64_t kMostPlaces = std::int64_t{1} << 40;

/// The place, or the nearest of 0 to `last`: what a run is given leads nowhere else.
DTNN_DEVICE inline std::int64_t place_within(std::int64_t place, std::int64_t last) {
    return place < 0 ? 0 : place < last ? place : last;
}

}  // namespace dtnn::kernels
