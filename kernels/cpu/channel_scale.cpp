#include "kernels/arguments/channel_scale.hpp"

#include <algorithm>

#include "kernels/cpu/simd.hpp"
#include "kernels/thread_team.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// Below this many elements waking the team costs more than it saves.
constexpr std::int64_t kScaleGrain = 4096;

std::int64_t scale_grain(std::int64_t elements_each) {
    return std::max<std::int64_t>(1, kScaleGrain / std::max<std::int64_t>(1, elements_each));
}

}  // namespace

/// Pixel by pixel; a sample's gate stays in the first-level cache.
DTNN_KERNEL(channel_scale_channels_last, ChannelScaleArguments) {
    const std::int64_t channels = a.src_layout.channels;
    const std::int64_t image = a.src_layout.height * a.src_layout.width;
    team.for_pieces(a.src_layout.pixels(), scale_grain(channels), [&](auto begin, auto end, int) {
        for (std::int64_t pixel = begin; pixel < end; ++pixel) {
            const T* const gate = a.gate + pixel / image * channels;
            const T* const src = a.src + pixel * channels;
            T* const dst = a.dst + pixel * channels;
            for_channels<T>(channels, [&](auto lanes, std::int64_t c) {
                using V = decltype(lanes);
                V::store(dst + c, V::load(src + c) * V::load(gate + c));
            });
        }
    });
}

/// A thread has whole samples, so a sum never depends on their number. A block of channels is
/// summed in registers over the image, in two halves of it.
DTNN_KERNEL(channel_scale_backward_gate_channels_last, ChannelScaleBackwardGateArguments) {
    const std::int64_t channels = a.src_layout.channels;
    const std::int64_t image = a.src_layout.height * a.src_layout.width;
    // Rounding of the short sums stays small, and the long ones are in double.
    constexpr std::int64_t kTogether = 256;
    team.for_pieces(
        a.src_layout.batch, scale_grain(channels * image), [&](auto begin, auto end, int) {
            for (std::int64_t n = begin; n < end; ++n) {
                const T* const src = a.src + n * image * channels;
                const T* const diff = a.diff_dst + n * image * channels;
                for_channels<T>(channels, [&](auto lanes, std::int64_t c) {
                    using V = decltype(lanes);
                    double total[V::kLanes] = {};
                    for (std::int64_t first = 0; first < image; first += kTogether) {
                        const std::int64_t last =
                            first + kTogether < image ? first + kTogether : image;
                        auto even = V::zero(), odd = V::zero();
                        std::int64_t at = first * channels + c;
                        for (std::int64_t pixel = first; pixel + 1 < last;
                             pixel += 2, at += 2 * channels) {
                            even += V::load(src + at) * V::load(diff + at);
                            odd += V::load(src + at + channels) * V::load(diff + at + channels);
                        }
                        if ((last - first) % 2 == 1) even += V::load(src + at) * V::load(diff + at);
                        const auto sum = even + odd;
                        for (int lane = 0; lane < V::kLanes; ++lane)
                            total[lane] += double(sum[lane]);
                    }
                    for (int lane = 0; lane < V::kLanes; ++lane)
                        a.diff_gate[n * channels + c + lane] = T(total[lane]);
                });
            }
        });
}

}  // namespace dtnn::kernels::DTNN_ISA
