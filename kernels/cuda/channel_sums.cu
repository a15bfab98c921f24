#include "kernels/arguments/resample.hpp"
#include "kernels/cuda/dense_channels.hpp"
#include "kernels/cuda/kernel.hpp"
#include "kernels/cuda/reduce.hpp"

namespace dtnn::kernels::cuda {

DTNN_CUDA_KERNEL_OF_VALUES(channel_sums_columns, ChannelSumsArguments) {
    const DenseChannels shape(a.src_view.extent, a.src_view.inner);
    reduce_columns<1>(
        launch, 1, a.src_view.lines(), a.src_view.extent, reinterpret_cast<Sums<1>*>(a.workspace),
        [=] DTNN_DEVICE(std::int64_t, std::int64_t pixel, std::int64_t c) {
            return Sums<1>{{double(a.src[shape.place(pixel, c)])}};
        },
        [=] DTNN_DEVICE(std::int64_t, std::int64_t c, const Sums<1>& sums) {
            a.dst[c] = Wide<T>(sums.of[0]);
        });
}

}  // namespace dtnn::kernels::cuda
