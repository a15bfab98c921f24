#include "kernels/arguments/channel_scale.hpp"

#include "kernels/reference/image_walk.hpp"
#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {

DTNN_REFERENCE(channel_scale, ChannelScaleArguments) {
    const ImageLayout& image = a.src_layout;
    for_each(image, [&](auto n, auto c, auto h, auto w) {
        a.dst[a.dst_layout.at(n, c, h, w)] =
            a.src[image.at(n, c, h, w)] * a.gate[n * image.channels + c];
    });
}

DTNN_REFERENCE(channel_scale_backward_gate, ChannelScaleBackwardGateArguments) {
    const ImageLayout& image = a.src_layout;
    for (std::int64_t n = 0; n < image.batch; ++n)
        for (std::int64_t c = 0; c < image.channels; ++c) {
            double sum = 0;
            for (std::int64_t h = 0; h < image.height; ++h)
                for (std::int64_t w = 0; w < image.width; ++w)
                    sum += double(a.src[image.at(n, c, h, w)]) *
                           double(a.diff_dst[a.diff_dst_layout.at(n, c, h, w)]);
            a.diff_gate[n * image.channels + c] = T(sum);
        }
}

}  // namespace dtnn::kernels::reference
