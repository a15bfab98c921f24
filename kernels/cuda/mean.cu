#include "kernels/arguments/mean.hpp"
#include "kernels/cuda/divider.hpp"
#include "kernels/cuda/kernel.hpp"
#include "kernels/cuda/reduce.hpp"

namespace dtnn::kernels::cuda {

DTNN_CUDA_KERNEL_OF_VALUES(mean_columns, MeanArguments) {
    const AxisView view = a.src_view;
    reduce_columns<1>(
        launch, view.outer, view.extent, view.inner, reinterpret_cast<Sums<1>*>(a.workspace),
        [=] DTNN_DEVICE(std::int64_t o, std::int64_t e, std::int64_t i) {
            return Sums<1>{{double(a.src[view.at(o, e, i)])}};
        },
        [=] DTNN_DEVICE(std::int64_t o, std::int64_t i, const Sums<1>& sums) {
            a.dst[o * view.inner + i] = T(sums.of[0] / double(view.extent));
        });
}

DTNN_CUDA_KERNEL_OF_VALUES(mean_backward_each, MeanBackwardArguments) {
    const AxisView view = a.diff_src_view;
    const Divider inner(view.inner), lines(view.inner * view.extent);
    launch.each(view.elements(), [=] DTNN_DEVICE(std::int64_t at) {
        const std::int64_t o = lines.quotient(at), i = at - inner.quotient(at) * view.inner;
        a.diff_src[at] = T(double(a.diff_dst[o * view.inner + i]) / double(view.extent));
    });
}

}  // namespace dtnn::kernels::cuda
