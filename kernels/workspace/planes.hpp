#pragma once
/// How the "planes" kernels divide their workspace (see conv.hpp).

#include <cstdint>

#include "kernels/workspace/conv.hpp"

namespace dtnn::kernels {

/// The "planes" kernels, for stride 1 and few channels on both sides. A thread copies a band of
/// image rows into a plane for each channel, where rows follow each other with no more between them
/// than the padding of one side. For a tap, the pixels that all results of the band meet are then
/// one run of a plane: vectors lie along the pixels, and every lane is a result however few
/// channels there are.
struct PlanesWorkspace {
    static constexpr std::int64_t kBandBytes = 24 * 1024;  ///< of planes and results
    static constexpr std::int64_t kMostDepth = 16;         ///< channels that are summed over

    const char* refusal = nullptr;  ///< why the shape does not suit, and then nothing else is set
    std::int64_t columns = 0;       ///< elements from one row of a plane to the next
    std::int64_t band = 0;          ///< output rows of a band, the last of an image perhaps fewer
    std::int64_t source = 0;        ///< elements of a plane, slack included
    std::int64_t results = 0, statistics = 0, bytes_per_thread = 0;  ///< of a thread: planes first
    std::int64_t weights = 0, bias = 0, bytes = 0;                   ///< behind all threads'

    /// A cell sums over `depth` numbers and produces `width`; the image that is gathered from is
    /// `source_width` wide, the result `out_height` by `out_width`, whose first cell meets
    /// `pad_left` columns of padding.
    PlanesWorkspace(const ConvShape& shape, std::int64_t depth, std::int64_t width,
                    std::int64_t source_width, std::int64_t out_height, std::int64_t out_width,
                    std::int64_t pad_left, std::int64_t element_bytes, int threads);

    static PlanesWorkspace forward(const ConvShape& s, std::int64_t element_bytes, int threads) {
        return {s,           s.channels, s.filters,     s.width, s.out_height,
                s.out_width, s.pad_left, element_bytes, threads};
    }
    static PlanesWorkspace backward(const ConvShape& s, std::int64_t element_bytes, int threads) {
        return {s,
                s.filters,
                s.channels,
                s.out_width,
                s.height,
                s.width,
                s.kernel_width - 1 - s.pad_left,
                element_bytes,
                threads};
    }
};

/// The same for the gradient of the weights: a thread's planes of the source and of diff_dst, with
/// rows of the same length, and a vector of sums for every weight and every filter's bias, [C, KH,
/// KW, F, lanes] and [F, lanes].
struct PlanesOuterWorkspace {
    static constexpr std::int64_t kVectorBytes = 64;  ///< the widest there is, as much for a sum

    const char* refusal = nullptr;
    std::int64_t columns = 0, band = 0, source = 0;
    std::int64_t gradient = 0;                       ///< elements of a plane of diff_dst
    std::int64_t gradients = 0, sums = 0, bias = 0;  ///< within a thread's
    std::int64_t bytes_per_thread = 0, bytes = 0;

    PlanesOuterWorkspace(const ConvShape& shape, std::int64_t element_bytes, int threads);
};

}  // namespace dtnn::kernels
