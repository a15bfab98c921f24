#include "kernels/arguments/resample.hpp"
#include "kernels/cuda/kernel.hpp"
#include "kernels/cuda/windows.hpp"

namespace dtnn::kernels::cuda {
namespace {

/// An axis of windows (windows.hpp) whose cells and weights are listed.
template <class T>
struct TapAxis {
    const std::int64_t *first, *source;
    const Wide<T>* weight;
    std::int64_t taps_of_result;

    std::int64_t typical() const { return taps_of_result; }
    DTNN_DEVICE std::int64_t begin(std::int64_t result) const { return first[result]; }
    DTNN_DEVICE std::int64_t end(std::int64_t result) const { return first[result + 1]; }
    DTNN_DEVICE std::int64_t cell(std::int64_t, std::int64_t tap) const { return source[tap]; }
};

template <class T>
TapAxis<T> tap_axis_of(const AxisTaps<T>& taps, const Launch& launch) {
    const auto count = std::int64_t(taps.source.size());
    return {launch.constant(taps.first), launch.constant(taps.source), launch.constant(taps.weight),
            (count + taps.results() - 1) / taps.results()};
}

template <class T>
void resample(const ResampleArguments<T>& a, const Launch& launch) {
    const TapAxis<T> rows = tap_axis_of(a.y, launch), columns = tap_axis_of(a.x, launch);
    const ImageLayout from = a.src_layout, to = a.dst_layout;
    const T* const src = a.src;
    T* const dst = a.dst;
    over_windows<1, double>(
        launch, to, rows, columns,
        [=] DTNN_DEVICE(double& sum, const WindowCell& at) {
            sum += double(rows.weight[at.i]) * double(columns.weight[at.j]) *
                   double(src[from.at(at.n, at.c, at.h, at.w)]);
        },
        [=] DTNN_DEVICE(double& sum, const double& more) { sum += more; },
        [=] DTNN_DEVICE(std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x,
                        const double& sum) { dst[to.at(n, c, y, x)] = T(sum); });
}

}  // namespace

#define DTNN_RESAMPLE(op)                                      \
    DTNN_CUDA_KERNEL_OF_VALUES(op##_taps, ResampleArguments) { \
        resample(a, launch);                                   \
    }
DTNN_RESAMPLE(zero_pad2d)
DTNN_RESAMPLE(zero_pad2d_backward)
DTNN_RESAMPLE(upsample2d)
DTNN_RESAMPLE(upsample2d_backward)
DTNN_RESAMPLE(adaptive_avg_pool2d)
DTNN_RESAMPLE(adaptive_avg_pool2d_backward)
#undef DTNN_RESAMPLE

DTNN_CUDA_KERNEL_OF_VALUES(adaptive_max_pool2d_taps, AdaptiveMaxArguments) {
    const TapAxis<T> rows = tap_axis_of(a.y, launch), columns = tap_axis_of(a.x, launch);
    const ImageLayout from = a.src_layout, to = a.dst_layout, of_indices = a.indices_layout;
    const T* const src = a.src;
    T* const dst = a.dst;
    std::int32_t* const indices = a.indices;
    over_windows<1, LargestInWindow<T>>(
        launch, to, rows, columns,
        [=] DTNN_DEVICE(LargestInWindow<T> & best, const WindowCell& at) {
            best.take(src[from.at(at.n, at.c, at.h, at.w)], int(at.h * from.width + at.w + 1));
        },
        [=] DTNN_DEVICE(LargestInWindow<T> & best, const LargestInWindow<T>& other) {
            best.take(other.value, other.found);
        },
        [=] DTNN_DEVICE(std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x,
                        const LargestInWindow<T>& best) {
            dst[to.at(n, c, y, x)] = best.value;
            if (indices != nullptr)
                indices[of_indices.at(n, c, y, x)] = std::int32_t(best.found - 1);
        });
}

DTNN_CUDA_KERNEL_OF_VALUES(adaptive_max_pool2d_backward_taps, AdaptiveMaxBackwardArguments) {
    const TapAxis<T> rows = tap_axis_of(a.y, launch), columns = tap_axis_of(a.x, launch);
    const ImageLayout from = a.diff_dst_layout, to = a.diff_src_layout;
    const ImageLayout of_indices = a.indices_layout;
    const T* const diff_dst = a.diff_dst;
    const std::int32_t* const indices = a.indices;
    T* const diff_src = a.diff_src;
    over_windows<1, double>(
        launch, to, rows, columns,
        [=] DTNN_DEVICE(double& sum, const WindowCell& at) {
            if (indices[of_indices.at(at.n, at.c, at.h, at.w)] == at.y * to.width + at.x)
                sum += double(diff_dst[from.at(at.n, at.c, at.h, at.w)]);
        },
        [=] DTNN_DEVICE(double& sum, const double& more) { sum += more; },
        [=] DTNN_DEVICE(std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x,
                        const double& sum) { diff_src[to.at(n, c, y, x)] = T(sum); });
}

}  // namespace dtnn::kernels::cuda
