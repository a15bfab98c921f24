#include "plan/rules/resident.hpp"

#include <algorithm>

#include "base/saturating.hpp"

namespace dtnn::plan {
namespace {

std::int64_t integer(const Dataset& dataset, const char* name) {
    const auto found = dataset.attributes.find(name);
    if (found == dataset.attributes.end()) return 0;
    const auto* value = std::get_if<std::int64_t>(&found->second);
    return value == nullptr ? 0 : *value;
}

std::int64_t all_samples(const Dataset& dataset) {
    const std::int64_t train =
        dataset.source_train_samples > 0
            ? dataset.source_train_samples
            : dataset.train_samples + (dataset.test_as_validation ? 0 : dataset.validation_samples);
    return train + dataset.test_samples;
}

}  // namespace

std::int64_t resident_bytes(const Dataset& dataset) {
    const std::int64_t samples = all_samples(dataset);
    constexpr std::int64_t kGlyph = 28 * 28, kColours = 3 * 32 * 32;
    // A byte for the label, or, of digits, whether the glyph is drawn.
    if (dataset.type == "digits") return samples * (kGlyph + 1);
    // Two headers of 16 bytes and two of 8.
    if (dataset.type == "mnist") return samples * (kGlyph + 1) + 2 * (16 + 8);
    if (dataset.type == "cifar10") return samples * (kColours + 1);
    if (dataset.type == "cifar100") return samples * (kColours + 2);
    return integer(dataset, "cache");
}

std::int64_t most_pixels(const Dataset& dataset) {
    const Dims& stored = dataset.stored_shape;
    if (!dataset.attributes.contains("most_pixels") || stored.size() != 3) return 0;
    const bool fixed = stored[1] > 0 && stored[2] > 0;
    return fixed ? saturating_product({stored[1], stored[2]}) : integer(dataset, "most_pixels");
}

std::int64_t most_image_file(std::int64_t pixels) {
    return saturating_sum({std::int64_t{1} << 20, saturating_product({8, pixels})});
}

std::int64_t decoding_bytes(const Dataset& dataset) {
    const std::int64_t pixels = most_pixels(dataset);
    if (pixels == 0) return 0;
    // Decoders write up to three channels of 16 bits, or four of 8.
    const std::int64_t each = saturating_sum({6, saturating_product({4, dataset.stored_shape[0]})});
    return saturating_sum({most_image_file(pixels), saturating_product({pixels, each})});
}

std::int64_t sample_bytes(const Plan& plan) {
    return saturating_sum(
        {resident_bytes(plan.dataset), saturating_product({std::max(plan.target.data_workers, 1),
                                                           decoding_bytes(plan.dataset)})});
}

}  // namespace dtnn::plan
