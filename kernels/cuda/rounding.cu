#include "kernels/arguments/rounding.hpp"
#include "kernels/cuda/kernel.hpp"

namespace dtnn::kernels::cuda {

DTNN_CUDA_KERNEL_OF_VALUES(cast_narrow_each, CastNarrowArguments) {
    launch.each(a.count, [=] DTNN_DEVICE(std::int64_t i) { a.dst[i] = T(a.src[i]); });
}

DTNN_CUDA_KERNEL_OF_VALUES(cast_wide_each, CastWideArguments) {
    launch.each(a.count, [=] DTNN_DEVICE(std::int64_t i) { a.dst[i] = Wide<T>(a.src[i]); });
}

}  // namespace dtnn::kernels::cuda
