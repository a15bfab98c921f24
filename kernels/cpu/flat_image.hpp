#pragma once
/// Walks over a tensor as over one flat row of numbers in which every vector keeps to the same
/// channels: batch_norm_workspace.hpp says how. For batch norm over a batch, and
/// for group norm over a sample.

#include "kernels/cpu/simd.hpp"
#include "kernels/layout.hpp"
#include "kernels/workspace/batch_norm.hpp"

namespace dtnn::kernels::DTNN_ISA {

/// The flat image and its groups (batch_norm_workspace.hpp).
struct Flat {
    std::int64_t channels, rows;
    std::int64_t inner;  ///< neighbours of one channel
    std::int64_t period, total, groups;

    /// So many pixels of so many numbers.
    Flat(std::int64_t width, std::int64_t pixels, std::int64_t neighbours = 1)
        : channels(width),
          rows(pixels),
          inner(neighbours),
          period(batch_norm_period(channels * inner)),
          total(channels * rows),
          groups((total + period - 1) / period) {}

    /// All pixels of the batch.
    explicit Flat(const ImageLayout& image)
        : Flat(image.channels, image.pixels(), image.channels > 1 ? image.channel_stride : 1) {}

    /// use(p) for the positions of a channel.
    template <class Use>
    DTNN_INLINE void for_positions(std::int64_t c, const Use& use) const {
        if (inner == 1) {  // an image: half the time of the loop in a loop
            for (std::int64_t p = c; p < period; p += channels)
                use(p);
            return;
        }
        for (std::int64_t p = c * inner; p < period; p += channels * inner) {
            for (std::int64_t i = 0; i < inner; ++i)
                use(p + i);
        }
    }

    /// Groups that are worth a thread.
    std::int64_t grain() const { return period >= 8192 ? 1 : 8192 / period; }
    /// The end of the group before `group`.
    std::int64_t end_of(std::int64_t group) const {
        return group * period < total ? group * period : total;
    }
    std::int64_t length(std::int64_t group) const {
        const std::int64_t left = total - group * period;
        return left < period ? left : period;
    }
};

/// Adds the terms of kWidth positions from p on, over whole groups [from, to): the sums stay in
/// registers meanwhile.
template <class T, int kWidth, class Terms>
DTNN_INLINE void add_block(const Flat& flat, std::int64_t from, std::int64_t to, std::int64_t p,
                           double* first, double* second, Terms terms) {
    constexpr int kLanes = Simd<double>::kLanes;
    constexpr int kVectors = kWidth / kLanes;
    using D = Lanes<double, kLanes>;
    typename D::Vector a[kVectors], b[kVectors];
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
        a[v] = D::load(first + p + v * kLanes);
        b[v] = D::load(second + p + v * kLanes);
    }
    for (std::int64_t group = from; group < to; ++group) {
        const std::int64_t i = group * flat.period + p;
#pragma GCC unroll 16
        for (int v = 0; v < kVectors; ++v) {
            terms(Lanes<T, kLanes>{}, i + v * kLanes, p + v * kLanes, a[v], b[v]);
        }
    }
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
        D::store(first + p + v * kLanes, a[v]);
        D::store(second + p + v * kLanes, b[v]);
    }
}

/// Sums of two terms per channel over groups [begin, end). `terms(lanes, i, p, first, second)` adds
/// the terms of the elements from i on, at positions from p on; lanes of one are used for a group
/// that is not whole.
template <class T, class Terms>
DTNN_INLINE void add_terms(const Flat& flat, std::int64_t begin, std::int64_t end, double* first,
                           double* second, Terms terms) {
    // A chunk of groups stays in the first-level cache while the blocks of positions pass over it.
    // Blocks are as wide as registers allow: narrow ones step over cache lines faster than the
    // prefetcher follows.
    constexpr int kWidest = kVectorBytes == 64 ? 64 : 32;
    const std::int64_t chunk = flat.period >= 4096 ? 1 : 4096 / flat.period;
    const std::int64_t whole = flat.total / flat.period;
    const std::int64_t whole_end = end < whole ? end : whole;
    for (std::int64_t from = begin; from < whole_end; from += chunk) {
        const std::int64_t to = from + chunk < whole_end ? from + chunk : whole_end;
        std::int64_t p = 0;
        for (; p + kWidest <= flat.period; p += kWidest) {
            add_block<T, kWidest>(flat, from, to, p, first, second, terms);
        }
        for (; p < flat.period; p += 16)
            add_block<T, 16>(flat, from, to, p, first, second, terms);
    }
    if (end > whole) {
        for (std::int64_t p = 0; p < flat.length(whole); ++p) {
            using One = Lanes<double, 1>;
            auto a = One::load(first + p), b = One::load(second + p);
            terms(Lanes<T, 1>{}, whole * flat.period + p, p, a, b);
            One::store(first + p, a);
            One::store(second + p, b);
        }
    }
}

/// Calls body(lanes, i, p) for the elements of groups [begin, end), with native vectors where a
/// group is whole.
template <class T, class Body>
DTNN_INLINE void for_elements(const Flat& flat, std::int64_t begin, std::int64_t end, Body body) {
    using V = Lanes<T, Simd<T>::kLanes>;
    for (std::int64_t group = begin; group < end; ++group) {
        const std::int64_t base = group * flat.period, length = flat.length(group);
        std::int64_t p = 0;
        for (; p + V::kLanes <= length; p += V::kLanes)
            body(V{}, base + p, p);
        for (; p < length; ++p)
            body(Lanes<T, 1>{}, base + p, p);
    }
}

}  // namespace dtnn::kernels::DTNN_ISA
