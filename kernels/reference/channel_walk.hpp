#pragma once
/// What the naive batch norm kernels share.

#include <cstdint>

#include "kernels/layout.hpp"

namespace dtnn::kernels::reference {

/// Calls visit(n, h, w) for all elements of a channel.
template <class Visit>
void for_channel(const ImageLayout& image, Visit visit) {
    for (std::int64_t n = 0; n < image.batch; ++n) {
        for (std::int64_t h = 0; h < image.height; ++h) {
            for (std::int64_t w = 0; w < image.width; ++w)
                visit(n, h, w);
        }
    }
}

inline bool bit(const std::uint8_t* mask, std::int64_t i) {
    return (mask[i / 8] >> (i % 8) & 1) != 0;
}

/// The normalised element, by the statistics that backward is given.
template <class A>
double normalised(const A& a, std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
    return (double(a.src[a.src_layout.at(n, c, h, w)]) - double(a.mean[c])) *
           double(a.inverse_deviation[c]);
}

/// The gradient that passes relu, of a backward kernel's arguments.
template <class A>
double passed(const A& a, std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
    const std::int64_t at = a.diff_dst_layout.at(n, c, h, w);
    bool passes = true;
    if (a.mask != nullptr) {
        passes = bit(a.mask, at);
    } else if (a.relu) {
        passes = normalised(a, n, c, h, w) * double(a.gamma[c]) + double(a.beta[c]) > 0;
    }
    return passes ? double(a.diff_dst[at]) : 0.0;
}

}  // namespace dtnn::kernels::reference
