#include "kernels/arguments/channel_scale.hpp"
#include "kernels/cuda/image.hpp"
#include "kernels/cuda/kernel.hpp"
#include "kernels/cuda/reduce.hpp"

namespace dtnn::kernels::cuda {

DTNN_CUDA_KERNEL_OF_VALUES(channel_scale_each, ChannelScaleArguments) {
    const ImageLayout from = a.src_layout, to = a.dst_layout;
    each_element(launch, from,
                 [=] DTNN_DEVICE(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
                     a.dst[to.at(n, c, h, w)] =
                         T(a.src[from.at(n, c, h, w)] * a.gate[n * from.channels + c]);
                 });
}

DTNN_CUDA_KERNEL_OF_VALUES(channel_scale_backward_gate_columns, ChannelScaleBackwardGateArguments) {
    const ImageLayout image = a.src_layout, of_diff = a.diff_dst_layout;
    const Divider width(image.width);
    reduce_columns<1>(
        launch, image.batch, image.height * image.width, image.channels,
        reinterpret_cast<Sums<1>*>(a.workspace),
        [=] DTNN_DEVICE(std::int64_t n, std::int64_t pixel, std::int64_t c) {
            const std::int64_t h = width.quotient(pixel), w = pixel - h * width.by();
            return Sums<1>{
                {double(a.src[image.at(n, c, h, w)]) * double(a.diff_dst[of_diff.at(n, c, h, w)])}};
        },
        [=] DTNN_DEVICE(std::int64_t n, std::int64_t c, const Sums<1>& sums) {
            a.diff_gate[n * image.channels + c] = T(sums.of[0]);
        });
}

}  // namespace dtnn::kernels::cuda
