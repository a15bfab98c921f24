#pragma once
/// Which convolutions are done by tiles (conv2d_tiles.cu).

#include <cstdint>
#include <limits>

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cuda/conv_columns.hpp"

namespace dtnn::kernels::cuda {

/// A step works on so many channels of a tap.
inline constexpr std::int64_t kTileChannels = 16;
/// With more channels or filters cuDNN's engines are fast.
inline constexpr std::int64_t kMostTileChannels = 64;

inline bool suits_tiles(const ConvShape& s) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    const auto few = [](std::int64_t channels) {
        return channels > 0 && channels % kTileChannels == 0 && channels <= kMostTileChannels;
    };
    return s.groups == 1 && few(s.channels) && few(s.filters) && s.taps() > 0 && !is_pointwise(s) &&
           s.pixels() * s.channels <= kMost && s.out_pixels() * s.filters <= kMost;
}

/// Filters of a tile: the most of 64, 32 and 16 that are a divisor.
inline std::int64_t tile_filters(std::int64_t filters) {
    return filters % 64 == 0 ? 64 : filters % 32 == 0 ? 32 : 16;
}

/// A gradient of weights is summed over slices of the pixels, each by groups of threads of its own,
/// and then over the slices: so many weights a group, and so many groups, or few more.
inline constexpr std::int64_t kTileWeights = 4096, kTileGroups = 264;
/// The pixels of a step.
inline constexpr std::int64_t kTilePixels = 16;

struct TileSlices {
    std::int64_t tiles = 0;   ///< of the weights, each in all slices
    std::int64_t count = 0;   ///< slices
    std::int64_t pixels = 0;  ///< of each but the last, a multiple of kTilePixels
};

inline TileSlices tile_slices(const ConvShape& s) {
    const auto whole = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
    const std::int64_t filters = tile_filters(s.filters);
    const std::int64_t tiles =
        s.filters / filters * whole(s.taps() * s.channels, kTileWeights / filters);
    const std::int64_t steps = whole(s.out_pixels(), kTilePixels);
    if (steps == 0) return {tiles, 0, 0};
    const std::int64_t of_slice = whole(steps, whole(kTileGroups, tiles));
    return {tiles, whole(steps, of_slice), of_slice * kTilePixels};
}

/// Bytes of the slices' sums.
inline std::int64_t tile_bytes(const ConvShape& s) {
    return whole_steps(tile_slices(s).count * s.weight_elements() * std::int64_t(sizeof(float)));
}

}  // namespace dtnn::kernels::cuda
