#include "kernels/cpu/simd.hpp"
#include "kernels/arguments/dropout.hpp"
#include "kernels/philox.hpp"
#include "kernels/thread_team.hpp"

namespace dtnn::kernels::DTNN_ISA {

/// The workspace holds 1 for every channel of every sample that is kept and 0 for the others; then
/// pixels are rows of channels.
template <class T>
void spatial_dropout2d_apply_pixels(const DropoutApplyArguments<T>& a, ThreadTeam& team) {
    const ImageLayout& image = a.layout;
    const std::int64_t channels = image.channels, pixels = image.height * image.width;
    const auto step = std::uint64_t(*a.step);
    T* const kept = reinterpret_cast<T*>(a.workspace);
    team.for_ranges(image.batch * channels, 1024, [&](auto begin, auto end, int) {
        for (std::int64_t i = begin; i < end; i += 4 - i % 4) {
            const philox::Block words = philox::block(a.key, step, std::uint64_t(i) / 4);
            for (std::int64_t j = i; j < i + 4 - i % 4 && j < end; ++j)
                kept[j] = words[std::size_t(j % 4)] >= a.threshold ? T(1) : T(0);
        }
    });
    const T scale = a.scale;
    const std::int64_t grain = channels >= 4096 ? 1 : 4096 / channels;
    team.for_ranges(image.batch * pixels, grain, [&](auto begin, auto end, int) {
        for (std::int64_t pixel = begin; pixel < end; ++pixel) {
            const T* const keep = kept + pixel / pixels * channels;
            const T* const src = a.src + pixel * channels;
            T* const dst = a.dst + pixel * channels;
            for_channels<T>(channels, [&](auto lanes, std::int64_t c) {
                using V = decltype(lanes);
                // What is dropped is 0 also when it was infinite.
                const auto value = V::load(src + c) * V::broadcast(scale);
                V::store(dst + c, V::load(keep + c) > V::zero() ? value : V::zero());
            });
        }
    });
}
DTNN_KERNEL(spatial_dropout2d_apply_pixels, DropoutApplyArguments)

}  // namespace dtnn::kernels::DTNN_ISA
