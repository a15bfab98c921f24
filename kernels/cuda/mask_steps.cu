#include "kernels/arguments/mask_steps.hpp"
#include "kernels/cuda/kernel.hpp"

namespace dtnn::kernels::cuda {

DTNN_CUDA_KERNEL(mask_steps_each, MaskStepsArguments) {
    launch.each(a.batch * a.steps * a.features, [=] DTNN_DEVICE(std::int64_t i) {
        const std::int64_t row = i / a.features, n = row / a.steps, t = row % a.steps;
        const std::int64_t length = a.length(n);
        a.dst[i] =
            t < length ? T(double(a.row(n, t, length)[i % a.features]) * a.factor(length)) : a.behind();
    });
}

}  // namespace dtnn::kernels::cuda
