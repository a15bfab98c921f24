#include "plan/rules/resident.hpp"

#include <algorithm>

#include "base/saturating.hpp"
#include "plan/dataset_types.hpp"

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

/// The memory of a class's name while a table is read.
constexpr std::int64_t kClassName = 512;
/// The path of a file below its dataset (PATH_MAX), and its entry in the index.
constexpr std::int64_t kFileEntry = 4096 + 64;

std::int64_t elements_of(const Dataset& dataset) {
    return element_count(dataset.input().stored_dims.empty() ? dataset.input().dims
                                                             : dataset.input().stored_dims);
}

/// Labels of a sample: a number for its class, or a double each; of pixels and of sequences what an
/// array has of them, up to 64 bits.
std::int64_t label_bytes(const Dataset& dataset) {
    if (dataset.target().kind == LabelKind::sequence)
        return saturating_product({element_count(dataset.target().dims), std::int64_t{8}});
    if (dataset.target().kind == LabelKind::classes && !dataset.target().dims.empty())
        return saturating_product({elements_of(dataset), std::int64_t{8}});
    return dataset.target().kind == LabelKind::classes
               ? std::int64_t(sizeof(std::int32_t))
               : saturating_product({dataset.target().classes, std::int64_t(sizeof(double))});
}

/// A table: its numbers and labels.
std::int64_t most_of_table(const Dataset& dataset, std::int64_t samples, DType numbers) {
    const std::int64_t sample = saturating_sum(
        {saturating_product({elements_of(dataset), size_of(numbers)}), label_bytes(dataset)});
    return saturating_sum({saturating_product({samples, sample}), encoding_bytes(dataset.columns),
                           saturating_product({dataset.target().classes, kClassName})});
}

/// Series: their lines once, whatever samples are cut out of them, and where the samples of a group
/// begin that has some: of training, of validation, of the test.
std::int64_t most_of_series(const Dataset& dataset, DType numbers) {
    const Dims& dims =
        dataset.input().stored_dims.empty() ? dataset.input().dims : dataset.input().stored_dims;
    if (dims.empty()) return 0;
    const std::int64_t lines =
        saturating_sum({integer(dataset, "rows"), integer(dataset, "test_rows")});
    const std::int64_t groups = lines / std::max<std::int64_t>(1, dims.front()) + 1;
    return saturating_sum({saturating_product({lines, dims.back(), size_of(numbers)}),
                           saturating_product({groups, 3 * kSeriesStretchBytes})});
}

/// Arrays that do not lie where they can be read: elements of 64 bits, and the labels, which come
/// as rows of 64 bits and are copied.
std::int64_t most_of_arrays(const Dataset& dataset, std::int64_t samples) {
    std::int64_t elements = elements_of(dataset);
    for (std::size_t i = 1; i < dataset.inputs.size(); ++i)
        elements = saturating_sum({elements, element_count(dataset.inputs[i].dims)});
    const std::int64_t sample =
        saturating_sum({saturating_product({elements, std::int64_t{8}}), label_bytes(dataset),
                        saturating_product({dataset.target().classes, std::int64_t{16}})});
    return saturating_sum({saturating_product({samples, sample}), std::int64_t{1} << 20});
}

/// Images' files, and their index. They are kept in pieces, which are not filled to the last byte.
std::int64_t most_of_images(const Dataset& dataset, std::int64_t samples) {
    const std::int64_t file = most_image_file(most_pixels(dataset));
    const std::int64_t sample = saturating_sum({file, file / 8, kFileEntry});
    return saturating_sum({saturating_product({samples, sample}), std::int64_t{2} << 20});
}

}  // namespace

std::int64_t kept_text_bytes(std::string_view text) {
    constexpr std::int64_t kNode = 96;  // of a map, with the string itself
    return std::int64_t(text.size()) + kNode;
}

std::int64_t encoding_bytes(const std::vector<FeatureColumn>& columns) {
    constexpr std::int64_t kCopies = 2;  // the columns' own, and what finds them
    std::int64_t bytes = 0;
    for (const FeatureColumn& column : columns) {
        bytes += std::int64_t(sizeof(FeatureColumn)) + kCopies * kept_text_bytes(column.name);
        for (const std::string& value : column.values)
            bytes += kCopies * kept_text_bytes(value);
    }
    return bytes;
}

bool resident_is_exact(const Dataset& dataset) {
    return !dataset.attributes.contains("cache");
}

std::int64_t resident_bytes(const Dataset& dataset, DType numbers) {
    const std::int64_t samples = all_samples(dataset);
    const DatasetType* type = find_dataset_type(dataset.type);
    if (type && type->form == DatasetForm::known)
        return samples *
                   (element_count({type->shape.begin(), type->shape.end()}) + type->label_bytes) +
               type->header_bytes;
    if (resident_is_exact(dataset)) return 0;
    if (is_series(dataset))
        return std::min(integer(dataset, "cache"), most_of_series(dataset, numbers));
    const auto kept = [&](std::int64_t count) {
        // An archive, or a folder, holds images or arrays.
        std::int64_t most =
            type && type->form == DatasetForm::table ? most_of_table(dataset, count, numbers)
            : type && type->form == DatasetForm::tokens
                ? saturating_product({count, kFileEntry})
                : std::max(most_of_images(dataset, count), most_of_arrays(dataset, count));
        // Each of them has a mask, which is an image too.
        if (type && type->masks) most = saturating_product({2, most});
        return std::min(integer(dataset, "cache"), most);
    };
    // Files of validation are kept by themselves.
    const std::int64_t held = dataset.validation_files ? dataset.validation_samples : 0;
    const std::int64_t files =
        held > 0 ? saturating_sum({kept(samples - held), kept(held)}) : kept(samples);
    // A list says which samples are the test's, where a share of them is.
    const std::int64_t lists =
        dataset.attributes.contains("test_share")
            ? saturating_product({samples, std::int64_t(sizeof(std::int64_t))})
            : 0;
    return saturating_sum({files, lists});
}

std::int64_t most_pixels(const Dataset& dataset) {
    const Dims& stored = dataset.input().stored_dims;
    if (!dataset.attributes.contains("most_pixels") || !has_image(dataset) || stored.empty())
        return 0;
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
    const std::int64_t each =
        saturating_sum({6, saturating_product({4, dataset.input().stored_dims[0]})});
    return saturating_sum({most_image_file(pixels), saturating_product({pixels, each})});
}

std::int64_t sample_bytes(const Plan& plan) {
    return saturating_sum({resident_bytes(plan.dataset, plan.target.dtype),
                           saturating_product({std::max(plan.target.data_workers, 1),
                                               decoding_bytes(plan.dataset)})});
}

std::int64_t certain_sample_bytes(const Plan& plan) {
    return resident_is_exact(plan.dataset) ? resident_bytes(plan.dataset, plan.target.dtype) : 0;
}

}  // namespace dtnn::plan
