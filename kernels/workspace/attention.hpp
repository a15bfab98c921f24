#pragma once
/// The workspace of attention; shared by the catalogue, which books it, and the kernels, which use
/// it. It does not grow with the steps.

#include <cstdint>

namespace dtnn::kernels {

/// Queries and keys of a block; backward takes more keys at a time, as it looks at the queries of a
/// block once for each block of keys.
inline constexpr std::int64_t kAttentionQueries = 64, kAttentionKeys = 64,
                              kAttentionKeysBackward = 128;

/// A row of a head's numbers, filled up to whole vectors.
constexpr std::int64_t padded_head(std::int64_t width) {
    constexpr std::int64_t kMostLanes = 16;
    return (width + kMostLanes - 1) / kMostLanes * kMostLanes;
}

/// Elements of a thread, in whole cache lines: queries, results, the keys across and the values of
/// a block; the scores; the running maximum and sum of each query.
constexpr std::int64_t attention_elements(std::int64_t width) {
    const std::int64_t row = padded_head(width);
    return row * 2 * (kAttentionQueries + kAttentionKeys) +
           kAttentionQueries * (kAttentionKeys + 2);
}

/// Of backward: queries and gradients of results, each as they are and across; the gradient of the
/// queries; those of keys and values; probabilities and gradients of scores; two numbers of a
/// query.
constexpr std::int64_t attention_backward_elements(std::int64_t width) {
    const std::int64_t row = padded_head(width);
    return row * (5 * kAttentionQueries + 2 * kAttentionKeysBackward) +
           kAttentionQueries * (2 * kAttentionKeysBackward + 2);
}

}  // namespace dtnn::kernels
