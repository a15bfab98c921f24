#include "runtime/data/synthetic.hpp"

#include <algorithm>
#include <utility>

#include "kernels/philox.hpp"

namespace dtnn::runtime {
namespace {

namespace philox = kernels::philox;

/// What the streams of Purpose::data are for; Digits uses the first two likewise.
constexpr std::uint64_t kTrainStream = 0, kTestStream = 1, kPatternStream = 2;
constexpr std::int64_t kCells = 4;  ///< of the pattern, along each axis
constexpr float kContrast = 0.3f;

}  // namespace

Synthetic::Synthetic(plan::Dims shape, std::int64_t classes, std::uint64_t seed,
                     std::int64_t train_samples, std::int64_t test_samples)
    : shape_(std::move(shape)),
      classes_(classes),
      seed_(seed),
      train_samples_(train_samples),
      test_samples_(test_samples) {}

std::int32_t Synthetic::load(Split split, std::int64_t index, std::span<float> pixels) {
    const std::int64_t label = index % classes_;
    const std::uint64_t pattern_key = philox::key_of(seed_, philox::Purpose::data, kPatternStream);
    const std::uint64_t key = philox::key_of(seed_, philox::Purpose::data,
                                             split == Split::train ? kTrainStream : kTestStream);
    const std::int64_t height = shape_[1], width = shape_[2];
    std::size_t i = 0;
    philox::Block noise{};
    for (std::int64_t channel = 0; channel < shape_[0]; ++channel) {
        for (std::int64_t y = 0; y < height; ++y) {
            const std::int64_t row = y * kCells / height;
            // One block has the pattern of a row of cells.
            const philox::Block cells = philox::block(pattern_key, std::uint64_t(label),
                                                      std::uint64_t(channel * kCells + row));
            for (std::int64_t x = 0; x < width; ++x, ++i) {
                if (i % 4 == 0) noise = philox::block(key, std::uint64_t(index), i / 4);
                const float light = philox::uniform_float(cells[std::size_t(x * kCells / width)]);
                const float grain = philox::uniform_float(noise[i % 4]);
                pixels[i] = kContrast * light + (1.0f - kContrast) * grain;
            }
        }
    }
    return std::int32_t(label);
}

}  // namespace dtnn::runtime
