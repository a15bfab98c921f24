#include "kernels/arguments/rounding.hpp"
#include "kernels/cuda/members.hpp"

namespace dtnn::kernels::cuda {

DTNN_CUDA_KERNEL_OF_VALUE_MEMBERS(cast_narrow_each, CastNarrowArguments) {
    each_of(on_device(a, launch), launch,
            [=] DTNN_DEVICE(const CastNarrowArguments<T>& m, std::int64_t i) {
                m.dst[i] = T(m.src[i]);
            });
}

DTNN_CUDA_KERNEL_OF_VALUES(cast_wide_each, CastWideArguments) {
    launch.each(a.count, [=] DTNN_DEVICE(std::int64_t i) { a.dst[i] = Wide<T>(a.src[i]); });
}

}  // namespace dtnn::kernels::cuda
