#pragma once
/// The workspace of elementwise expressions: numbers by channel, repeated as often as a stretch of
/// elements meets them, and sums by channel.

#include <algorithm>
#include <cstdint>

namespace dtnn::kernels {

/// Chunks that an expression's values take while it is worked out, at most: the lowest are used
/// first, and eight and more fit in the first-level cache. No expression whose stack is deeper is
/// taken.
inline constexpr int kExpressionSlots = 16;

/// Elements of a stretch. Sources of fewer numbers are repeated in the workspace until a stretch
/// that begins at any of them finds all of its own; where a channel has `stride` neighbours, each
/// number is there as often.
inline constexpr std::int64_t kTile = 1024;
inline constexpr std::size_t kMostTiledSources = 16;

constexpr std::int64_t tile_of(std::int64_t numbers, std::int64_t stride) {
    const std::int64_t places = numbers > 1 ? numbers * stride : numbers;
    if (places > 0 && places < kTile) return kTile + places;
    return places > numbers ? places : 0;
}

/// How sums by channel are cut: into stretches of `length` elements, whole rows of channels, each
/// with sums of its own. It follows from the shape alone, so the bits do not depend on threads.
struct ElementwiseSumsCut {
    std::int64_t length, stretches;
};

constexpr ElementwiseSumsCut cut_elementwise_sums(std::int64_t count, std::int64_t numbers) {
    constexpr std::int64_t kLeast = 16384, kMost = 64;
    const std::int64_t rows = count / std::max<std::int64_t>(numbers, 1);
    const std::int64_t wanted = std::clamp<std::int64_t>(count / kLeast, 1, kMost);
    const std::int64_t each = std::max<std::int64_t>((rows + wanted - 1) / wanted, 1);
    return {each * numbers, std::max<std::int64_t>((rows + each - 1) / each, 1)};
}

}  // namespace dtnn::kernels
