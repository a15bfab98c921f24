#include "kernels/arguments/resample.hpp"
#include "kernels/cuda/kernel.hpp"
#include "kernels/cuda/reduce.hpp"

namespace dtnn::kernels::cuda {

template <class T>
void channel_sums_columns(const ChannelSumsArguments<T>& a, const Launch& launch) {
    const std::int64_t channels = a.src_layout.channels;
    const T* const src = a.src;
    Wide<T>* const dst = a.dst;
    reduce_columns<1>(
        launch, 1, a.src_layout.pixels(), channels, reinterpret_cast<Sums<1>*>(a.workspace),
        [=] DTNN_DEVICE(std::int64_t, std::int64_t pixel, std::int64_t c) {
            return Sums<1>{{double(src[pixel * channels + c])}};
        },
        [=] DTNN_DEVICE(std::int64_t, std::int64_t c, const Sums<1>& sums) {
            dst[c] = Wide<T>(sums.of[0]);
        });
}

DTNN_CUDA_KERNEL_OF_VALUES(channel_sums_columns, ChannelSumsArguments)

}  // namespace dtnn::kernels::cuda
