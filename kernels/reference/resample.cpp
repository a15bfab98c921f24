#include "kernels/arguments/resample.hpp"

#include <cmath>
#include <cstddef>

#include "kernels/reference/axis_walk.hpp"
#include "kernels/reference/image_walk.hpp"
#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {
namespace {

/// Calls visit(source row, source column, weight) for what result (h, w) is made of.
template <class T, class Visit>
void for_taps(const AxisTaps<T>& y, const AxisTaps<T>& x, std::int64_t h, std::int64_t w,
              Visit visit) {
    const auto row = std::size_t(h), column = std::size_t(w);
    for (auto i = std::size_t(y.first[row]); i < std::size_t(y.first[row + 1]); ++i) {
        for (auto j = std::size_t(x.first[column]); j < std::size_t(x.first[column + 1]); ++j)
            visit(y.source[i], x.source[j], double(y.weight[i]) * double(x.weight[j]));
    }
}

template <class T>
void resample(const ResampleArguments<T>& a) {
    for_each(a.dst_layout, [&](auto n, auto c, auto h, auto w) {
        double sum = 0;
        for_taps(a.y, a.x, h, w, [&](auto i, auto j, double weight) {
            sum += weight * double(a.src[a.src_layout.at(n, c, i, j)]);
        });
        a.dst[a.dst_layout.at(n, c, h, w)] = T(sum);
    });
}

}  // namespace

#define DTNN_RESAMPLE(op)                   \
    DTNN_REFERENCE(op, ResampleArguments) { \
        resample(a);                        \
    }
DTNN_RESAMPLE(zero_pad2d)
DTNN_RESAMPLE(zero_pad2d_backward)
DTNN_RESAMPLE(upsample2d)
DTNN_RESAMPLE(upsample2d_backward)
DTNN_RESAMPLE(adaptive_avg_pool2d)
DTNN_RESAMPLE(adaptive_avg_pool2d_backward)
#undef DTNN_RESAMPLE

DTNN_REFERENCE(adaptive_max_pool2d, AdaptiveMaxArguments) {
    for_each(a.dst_layout, [&](auto n, auto c, auto h, auto w) {
        T best = 0;
        std::int64_t index = -1;
        for_taps(a.y, a.x, h, w, [&](auto i, auto j, double) {
            const T value = a.src[a.src_layout.at(n, c, i, j)];
            if (index >= 0 && value <= best) return;
            if (index >= 0 && std::isnan(best) && !std::isnan(value)) return;
            best = value;
            index = i * a.src_layout.width + j;
        });
        a.dst[a.dst_layout.at(n, c, h, w)] = best;
        if (a.indices) a.indices[a.indices_layout.at(n, c, h, w)] = std::int32_t(index);
    });
}

DTNN_REFERENCE(adaptive_max_pool2d_backward, AdaptiveMaxBackwardArguments) {
    for_each(a.diff_src_layout, [&](auto n, auto c, auto h, auto w) {
        double sum = 0;
        for_taps(a.y, a.x, h, w, [&](auto i, auto j, double) {
            if (a.indices[a.indices_layout.at(n, c, i, j)] == h * a.diff_src_layout.width + w)
                sum += double(a.diff_dst[a.diff_dst_layout.at(n, c, i, j)]);
        });
        a.diff_src[a.diff_src_layout.at(n, c, h, w)] = T(sum);
    });
}

DTNN_REFERENCE(channel_sums, ChannelSumsArguments) {
    const AxisView& view = a.src_view;
    for (std::int64_t c = 0; c < view.extent; ++c) {
        double sum = 0;
        for_lines(view, [&](auto o, auto i) { sum += double(a.src[view.at(o, c, i)]); });
        a.dst[c] = T(sum);
    }
}

}  // namespace dtnn::kernels::reference
