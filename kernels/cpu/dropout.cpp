#include "kernels/arguments/dropout.hpp"

#include "kernels/cpu/philox_blocks.hpp"
#include "kernels/cpu/simd.hpp"
#include "kernels/thread_team.hpp"

namespace dtnn::kernels::DTNN_ISA {

DTNN_KERNEL(dropout_apply_philox, DropoutApplyArguments) {
    const Numbers numbers{a.key, a.epoch(), a.first_word(a.sample_numbers)};
    // A word is below 2^32, so the threshold fits when it is less by one; zero keeps everything,
    // 2^32 nothing.
    const bool all = a.threshold == 0;
    const auto above = std::uint32_t(a.threshold - 1);
    const T scale = a.scale;
    if (a.row_major) {
        team.for_pieces(a.count, 32 * kWords, [&](auto begin, auto end, int) {
            for_words(numbers, begin, end, [&](const std::uint32_t* words, auto i, auto last) {
#pragma GCC ivdep
                for (std::int64_t j = 0; j < last - i; ++j) {
                    const T scaled = a.src[i + j] * scale;
                    a.dst[i + j] = all || words[j] > above ? scaled : T(0);
                }
            });
        });
        return;
    }
    // Numbers follow the logical order, memory does not: one channel of one sample is a run of
    // numbers and a column of the image.
    const ImageLayout& image = a.layout;
    const std::int64_t pixels = image.height * image.width;
    team.for_pieces(image.batch * image.channels, 1, [&](auto begin, auto end, int) {
        for (std::int64_t plane = begin; plane < end; ++plane) {
            const std::int64_t base = plane / image.channels * image.batch_stride +
                                      plane % image.channels * image.channel_stride;
            std::int64_t h = 0, w = 0;
            for_words(numbers, plane * pixels, (plane + 1) * pixels,
                      [&](const std::uint32_t* words, auto i, auto last) {
                          for (std::int64_t j = 0; j < last - i; ++j) {
                              const std::int64_t at =
                                  base + h * image.row_stride + w * image.column_stride;
                              a.dst[at] = all || words[j] > above ? a.src[at] * scale : T(0);
                              if (++w == image.width) w = 0, ++h;
                          }
                      });
        }
    });
}

/// The workspace holds 1 for every channel of every sample that is kept and 0 for the others; then
/// pixels are rows of channels.
DTNN_KERNEL(spatial_dropout2d_apply_pixels, DropoutApplyArguments) {
    const ImageLayout& image = a.layout;
    const std::int64_t channels = image.channels, pixels = image.height * image.width;
    const Numbers numbers{a.key, a.epoch(), a.first_word(channels)};
    T* const kept = reinterpret_cast<T*>(a.workspace);
    team.for_pieces(image.batch * channels, 1024, [&](auto begin, auto end, int) {
        for_words(numbers, begin, end, [&](const std::uint32_t* words, auto i, auto last) {
            for (std::int64_t j = 0; j < last - i; ++j)
                kept[i + j] = words[j] >= a.threshold ? T(1) : T(0);
        });
    });
    const T scale = a.scale;
    const std::int64_t grain = channels >= 4096 ? 1 : 4096 / channels;
    team.for_pieces(image.batch * pixels, grain, [&](auto begin, auto end, int) {
        for (std::int64_t pixel = begin; pixel < end; ++pixel) {
            const T* const keep = kept + pixel / pixels * channels;
            const T* const src = a.src + pixel * channels;
            T* const dst = a.dst + pixel * channels;
            for_channels<T>(channels, [&](auto lanes, std::int64_t c) {
                using V = decltype(lanes);
                // A dropped number is 0 also when it was infinite.
                const auto value = V::load(src + c) * V::broadcast(scale);
                V::store(dst + c, V::load(keep + c) > V::zero() ? value : V::zero());
            });
        }
    });
}

}  // namespace dtnn::kernels::DTNN_ISA
