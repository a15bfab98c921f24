#include "kernels/arguments/rounding.hpp"
#include "kernels/cuda/kernel.hpp"

namespace dtnn::kernels::cuda {

template <class T>
void cast_narrow_each(const CastNarrowArguments<T>& a, const Launch& launch) {
    launch.each(a.count, [=] DTNN_DEVICE(std::int64_t i) { a.dst[i] = T(a.src[i]); });
}

template <class T>
void cast_wide_each(const CastWideArguments<T>& a, const Launch& launch) {
    launch.each(a.count, [=] DTNN_DEVICE(std::int64_t i) { a.dst[i] = Wide<T>(a.src[i]); });
}

DTNN_CUDA_KERNEL_OF_VALUES(cast_narrow_each, CastNarrowArguments)
DTNN_CUDA_KERNEL_OF_VALUES(cast_wide_each, CastWideArguments)

}  // namespace dtnn::kernels::cuda
