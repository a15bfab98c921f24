#include "kernels/arguments/dropout.hpp"
#include "kernels/cuda/divider.hpp"
#include "kernels/cuda/kernel.hpp"
#include "kernels/philox.hpp"

namespace dtnn::kernels::cuda {
namespace {

template <class T>
DTNN_DEVICE philox::Block block_of(const DropoutApplyArguments<T>& a, std::uint64_t index) {
    return philox::block(a.key, a.epoch(), index);
}
template <class T>
DTNN_DEVICE void apply(const DropoutApplyArguments<T>& a, std::int64_t at, bool keep) {
    a.dst[at] = keep ? T(a.src[at] * a.scale) : T(0);
}

}  // namespace

DTNN_CUDA_KERNEL_OF_VALUES(dropout_apply_philox, DropoutApplyArguments) {
    // A thread has a block of the generator: four neighbours of the logical order, or fewer at the
    // ends.
    if (a.row_major) {
        launch.each(a.count / 4 + 2, [=] DTNN_DEVICE(std::int64_t i) {
            const std::uint64_t first = a.first_word(a.sample_numbers);
            const philox::Block words = block_of(a, first / 4 + std::uint64_t(i));
            for (int word = 0; word < 4; ++word) {
                const std::int64_t at = 4 * i + word - std::int64_t(first % 4);
                if (at >= 0 && at < a.count) apply(a, at, words[std::size_t(word)] >= a.threshold);
            }
        });
        return;
    }
    // So it is within a channel of a sample; neighbouring threads have neighbouring channels.
    const ImageLayout image = a.layout;
    const std::int64_t pixels = image.height * image.width;
    const Divider channels(image.channels), blocks(pixels / 4 + 2), width(image.width);
    launch.each(image.batch * blocks.by() * image.channels, [=] DTNN_DEVICE(std::int64_t i) {
        const std::int64_t rest = channels.quotient(i), n = blocks.quotient(rest);
        const std::int64_t c = i - rest * channels.by(), block = rest - n * blocks.by();
        const std::uint64_t first =
            a.first_word(a.sample_numbers) + std::uint64_t(n * a.sample_numbers + c * pixels);
        const std::int64_t begin = 4 * block - std::int64_t(first % 4);
        if (begin >= pixels) return;
        const philox::Block words = block_of(a, first / 4 + std::uint64_t(block));
        for (int word = 0; word < 4; ++word) {
            const std::int64_t pixel = begin + word;
            if (pixel >= 0 && pixel < pixels)
                apply(a, image.at(n, c, width.quotient(pixel), width.remainder(pixel)),
                      words[std::size_t(word)] >= a.threshold);
        }
    });
}

DTNN_CUDA_KERNEL_OF_VALUES(spatial_dropout2d_apply_philox, DropoutApplyArguments) {
    const ImageLayout image = a.layout;
    // A word serves a thread for a few pixels.
    constexpr std::int64_t kPixels = 8;
    const std::int64_t pixels = image.height * image.width;
    const Divider channels(image.channels), runs((pixels + kPixels - 1) / kPixels);
    const Divider width(image.width);
    launch.each(image.batch * runs.by() * image.channels, [=] DTNN_DEVICE(std::int64_t i) {
        const std::int64_t rest = channels.quotient(i), n = runs.quotient(rest);
        const std::int64_t c = i - rest * channels.by(), begin = (rest - n * runs.by()) * kPixels;
        const std::uint64_t word =
            a.first_word(image.channels) + std::uint64_t(n * image.channels + c);
        const bool keep = block_of(a, word / 4)[word % 4] >= a.threshold;
        const std::int64_t end = begin + kPixels < pixels ? begin + kPixels : pixels;
        for (std::int64_t pixel = begin; pixel < end; ++pixel)
            apply(a, image.at(n, c, width.quotient(pixel), width.remainder(pixel)), keep);
    });
}

}  // namespace dtnn::kernels::cuda
