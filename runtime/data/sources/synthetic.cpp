#include "runtime/data/sources/synthetic.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/philox.hpp"
#include "kernels/random_words.hpp"
#include "runtime/data/formats/content_hash.hpp"
#include "runtime/data/sources/source_type.hpp"

namespace dtnn::runtime {
namespace {

namespace philox = kernels::philox;

/// The streams of Purpose::data; Digits uses the first two likewise.
constexpr std::uint64_t kTrainStream = 0, kTestStream = 1, kPatternStream = 2;
constexpr std::uint64_t kTrainClassStream = 3, kTestClassStream = 4;
constexpr float kContrast = 0.3f;

}  // namespace

Synthetic::Synthetic(Dims shape, std::int64_t classes, Dims label_shape, std::uint64_t seed,
                     std::int64_t train_samples, std::int64_t test_samples, plan::LabelKind kind)
    : shape_(std::move(shape)),
      label_shape_(std::move(label_shape)),
      classes_(classes),
      seed_(seed),
      train_samples_(train_samples),
      test_samples_(test_samples),
      kind_(kind) {}

void Synthetic::load(Split split, std::int64_t index, Sample& sample) const {
    sample.input().set_floats(shape_);
    SampleArray& target = sample.target();
    target.dims = label_shape_;
    target.integers.resize(std::size_t(element_count(label_shape_)));
    std::vector<float>& pixels = sample.input().floats;
    std::vector<std::int32_t>& labels = target.integers;
    const std::uint64_t pattern_key = philox::key_of(seed_, philox::Purpose::data, kPatternStream);
    const std::uint64_t key = philox::key_of(seed_, philox::Purpose::data,
                                             split == Split::train ? kTrainStream : kTestStream);
    if (label_shape_.empty()) {
        labels[0] = std::int32_t(index % classes_);
        image(key, index, pixels, [&](std::int64_t channel, std::int64_t row) {
            // One block has the pattern of a row of cells.
            const philox::Block cells = philox::block(pattern_key, std::uint64_t(labels[0]),
                                                      std::uint64_t(channel * kCells + row));
            Lights lights{};
            for (std::size_t cell = 0; cell < lights.size(); ++cell)
                lights[cell] = philox::uniform_float(cells[cell]);
            return lights;
        });
        if (kind_ == plan::LabelKind::classes || kind_ == plan::LabelKind::input) return;
        target.doubles.assign(std::size_t(classes_), 0.0);
        target.doubles[std::size_t(labels[0])] = 1.0;
        return;
    }
    const std::int64_t height = shape_[1], width = shape_[2];
    const std::uint64_t class_key = philox::key_of(
        seed_, philox::Purpose::data, split == Split::train ? kTrainClassStream : kTestClassStream);
    const auto class_of = [&](std::int64_t row, std::int64_t cell) {
        const philox::Block drawn =
            philox::block(class_key, std::uint64_t(index), std::uint64_t(row));
        return std::int64_t(drawn[std::size_t(cell)] % std::uint64_t(classes_));
    };
    std::size_t at = 0;
    for (std::int64_t y = 0; y < height; ++y)
        for (std::int64_t x = 0; x < width; ++x)
            labels[at++] = std::int32_t(class_of(y * kCells / height, x * kCells / width));
    image(key, index, pixels, [&](std::int64_t channel, std::int64_t row) {
        Lights lights{};
        for (std::size_t cell = 0; cell < lights.size(); ++cell) {
            const std::int64_t label = class_of(row, std::int64_t(cell));
            lights[cell] = philox::uniform_float(
                philox::block(pattern_key, std::uint64_t(label), std::uint64_t(channel))[0]);
        }
        return lights;
    });
}

std::uint64_t Synthetic::content_hash() const {
    ContentHash hash;
    hash.add("synthetic").add(seed_).add(std::uint64_t(classes_));
    for (const Dims* dims : {&shape_, &label_shape_}) {
        hash.add(dims->size());
        for (const std::int64_t dim : *dims)
            hash.add(std::uint64_t(dim));
    }
    hash.add(std::uint64_t(train_samples_)).add(std::uint64_t(test_samples_));
    return hash.value();
}

template <class LightsOfRow>
void Synthetic::image(std::uint64_t key, std::int64_t index, std::span<float> pixels,
                      const LightsOfRow& lights_of_row) const {
    std::array<std::uint32_t, 1024> words;
    for (std::size_t first = 0; first < pixels.size(); first += words.size()) {
        const std::span<float> some =
            pixels.subspan(first, std::min(words.size(), pixels.size() - first));
        kernels::draw_words(key, std::uint64_t(index), first, std::span(words).first(some.size()));
        std::transform(
            words.begin(), words.begin() + std::ptrdiff_t(some.size()), some.begin(),
            [](std::uint32_t word) { return (1.0f - kContrast) * philox::uniform_float(word); });
    }
    const std::int64_t height = shape_[1], width = shape_[2];
    float* pixel = pixels.data();
    for (std::int64_t channel = 0; channel < shape_[0]; ++channel) {
        Lights lights{};
        std::int64_t lit = -1;  // the row of cells that the lights are of
        for (std::int64_t y = 0; y < height; ++y, pixel += width) {
            if (y * kCells / height != lit) {
                lit = y * kCells / height;
                lights = lights_of_row(channel, lit);
            }
            for (std::int64_t cell = 0; cell < kCells; ++cell) {
                // The columns x with x * kCells / width == cell.
                const std::int64_t end = ((cell + 1) * width + kCells - 1) / kCells;
                for (std::int64_t x = (cell * width + kCells - 1) / kCells; x < end; ++x)
                    pixel[x] += kContrast * lights[std::size_t(cell)];
            }
        }
    }
}

SourceType synthetic_source() {
    return {.open = [](const plan::Dataset& dataset, const Asked&) -> Source {
        return made_up_source(dataset);
    }};
}

}  // namespace dtnn::runtime
