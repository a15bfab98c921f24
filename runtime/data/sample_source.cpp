#include "runtime/data/sample_source.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dtnn::runtime {

void SampleArray::set_image(const std::array<std::int64_t, 3>& extents, const std::uint8_t* bytes) {
    set_floats(extents);
    for (std::size_t i = 0; i < floats.size(); ++i)
        floats[i] = float(bytes[i]) / 255.0f;
}

void SampleSource::load_target(Split split, std::int64_t index, SampleArray& target) const {
    Sample sample;
    load(split, index, sample);
    target = std::move(sample.target());
}

std::string SampleSource::name_of(Split split, std::int64_t index) const {
    return fmt::format("{} sample {}", dtnn::name_of(split), index);
}

void add_image_shape(Dims& shape, const Dims& other) {
    if (shape.empty()) shape = other;
    if (other.empty()) return;
    shape[0] = std::max(shape[0], other[0]);
    if (!std::equal(shape.begin() + 1, shape.end(), other.begin() + 1, other.end()))
        std::fill(shape.begin() + 1, shape.end(), 0);
}

std::int64_t source_train_samples(const plan::Dataset& dataset) {
    if (dataset.source_train_samples > 0) return dataset.source_train_samples;
    return dataset.train_samples + (dataset.test_as_validation ? 0 : dataset.validation_samples);
}

std::vector<std::string> class_names_of(const SampleSource& source, const plan::Dataset& dataset,
                                        const std::vector<std::string>& trained) {
    if (dataset.target().kind == plan::LabelKind::input) return {};
    const auto fits = [&](const std::vector<std::string>& names) {
        return std::int64_t(names.size()) == dataset.target().classes;
    };
    std::vector<std::string> names = source.class_names();
    if (names.empty()) names = dataset.target().names;
    if (!fits(names)) names = trained;
    if (!fits(names)) names.clear();
    return names;
}

}  // namespace dtnn::runtime
