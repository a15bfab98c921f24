#include "kernels/arguments/mean.hpp"

#include "kernels/cpu/lines.hpp"
#include "kernels/cpu/row_sums.hpp"

namespace dtnn::kernels::DTNN_ISA {

DTNN_KERNEL(mean_lines, MeanArguments) {
    const AxisView& view = a.src_view;
    const auto extent = double(view.extent);
    if (view.inner == 1) {
        for_rows(view, team, [&](std::int64_t row, std::int64_t at) {
            double sum[1] = {};
            row_sums<T>(view.extent, sum, [&](auto lanes, std::int64_t e, auto& sums) {
                using V = decltype(lanes);
                sums[0] += V::to_double(V::load(a.src + at + e));
            });
            a.dst[row] = T(sum[0] / extent);
        });
        return;
    }
    for_strips(view, team, [&](const Strip& strip) {
        alignas(64) double sums[kStripLines] = {};
        for_strip<T>(view, strip, [&](auto lanes, std::int64_t at, std::int64_t i) {
            using V = decltype(lanes);
            add_lanes(sums, i, V::to_double(V::load(a.src + at)));
        });
        for (std::int64_t i = 0; i < strip.width; ++i)
            a.dst[strip.first + i] = T(sums[i] / extent);
    });
}

DTNN_KERNEL(mean_backward_lines, MeanBackwardArguments) {
    const AxisView& view = a.diff_src_view;
    const auto extent = double(view.extent);
    if (view.inner == 1) {
        for_rows(view, team, [&](std::int64_t row, std::int64_t at) {
            const T share = T(double(a.diff_dst[row]) / extent);
            for (std::int64_t e = 0; e < view.extent; ++e)
                a.diff_src[at + e] = share;
        });
        return;
    }
    for_strips(view, team, [&](const Strip& strip) {
        alignas(64) T shares[kStripLines];
        for (std::int64_t i = 0; i < strip.width; ++i)
            shares[i] = T(double(a.diff_dst[strip.first + i]) / extent);
        for_strip<T>(view, strip, [&](auto lanes, std::int64_t at, std::int64_t i) {
            using V = decltype(lanes);
            V::store(a.diff_src + at, V::load(shares + i));
        });
    });
}

}  // namespace dtnn::kernels::DTNN_ISA
