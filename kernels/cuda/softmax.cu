#include <cmath>

#include "kernels/arguments/softmax.hpp"
#include "kernels/cuda/kernel.hpp"
#include "kernels/cuda/rows.hpp"

namespace dtnn::kernels::cuda {

namespace {

/// dst = value(distance from the row's largest, sum of the distances' exponentials); `prepare`
/// changes that sum, once for a row.
template <class T, class Prepare, class Value>
void of_exponentials(const SoftmaxArguments<T>& a, const Launch& launch, const Prepare& prepare,
                     const Value& value) {
    const AxisView view = a.src_view;
    fold_rows<Largest, Sums<1>>(
        launch, view.lines(), view.extent,
        [=] DTNN_DEVICE(std::int64_t row, std::int64_t c) {
            return Largest{double(a.src[view.begin_of(row) + c * view.stride])};
        },
        [=] DTNN_DEVICE(std::int64_t row, std::int64_t c, const Largest& largest) {
            return Sums<1>{
                {std::exp(double(a.src[view.begin_of(row) + c * view.stride]) - largest.value)}};
        },
        [=] DTNN_DEVICE(std::int64_t, const Largest&, Sums<1>& sum) {
            sum.of[0] = prepare(sum.of[0]);
        },
        [=] DTNN_DEVICE(std::int64_t row, std::int64_t c, const Largest& largest,
                        const Sums<1>& sum) {
            const std::int64_t i = view.begin_of(row) + c * view.stride;
            a.dst[i] = T(value(double(a.src[i]) - largest.value, sum.of[0]));
        });
}

}  // namespace

DTNN_CUDA_KERNEL(softmax_rows, SoftmaxArguments) {
    of_exponentials(
        a, launch, [=] DTNN_DEVICE(double sum) { return sum; },
        [=] DTNN_DEVICE(double distance, double sum) { return std::exp(distance) / sum; });
}

DTNN_CUDA_KERNEL(log_softmax_rows, SoftmaxArguments) {
    of_exponentials(
        a, launch, [=] DTNN_DEVICE(double sum) { return std::log(sum); },
        [=] DTNN_DEVICE(double distance, double logarithm) { return distance - logarithm; });
}

DTNN_CUDA_KERNEL(softmax_backward_rows, SoftmaxBackwardArguments) {
    const AxisView view = a.kept_view;
    sum_rows<1>(
        launch, view.lines(), view.extent,
        [=] DTNN_DEVICE(std::int64_t row, std::int64_t c) {
            const std::int64_t i = view.begin_of(row) + c * view.stride;
            return Sums<1>{{double(a.kept[i]) * double(a.diff_dst[i])}};
        },
        [=] DTNN_DEVICE(std::int64_t, Sums<1>&) {},
        [=] DTNN_DEVICE(std::int64_t row, std::int64_t c, const Sums<1>& dot) {
            const std::int64_t i = view.begin_of(row) + c * view.stride;
            a.diff_src[i] = T(double(a.kept[i]) * (double(a.diff_dst[i]) - dot.of[0]));
        });
}

DTNN_CUDA_KERNEL(log_softmax_backward_rows, SoftmaxBackwardArguments) {
    const AxisView view = a.kept_view;
    sum_rows<1>(
        launch, view.lines(), view.extent,
        [=] DTNN_DEVICE(std::int64_t row, std::int64_t c) {
            return Sums<1>{{double(a.diff_dst[view.begin_of(row) + c * view.stride])}};
        },
        [=] DTNN_DEVICE(std::int64_t, Sums<1>&) {},
        [=] DTNN_DEVICE(std::int64_t row, std::int64_t c, const Sums<1>& sum) {
            const std::int64_t i = view.begin_of(row) + c * view.stride;
            a.diff_src[i] = T(double(a.diff_dst[i]) - std::exp(double(a.kept[i])) * sum.of[0]);
        });
}

}  // namespace dtnn::kernels::cuda
