#pragma once
/// Fields that several types of datasets have.

#include <string_view>

#include "compiler/support/field_table.hpp"

namespace dtnn::compiler::dataset_fields {

inline constexpr std::string_view kOtherFiles =
    "the files there may be the same or others, and the network is trained on them";

inline constexpr std::string_view kWatched = "schedules watch other samples";

inline constexpr std::string_view kOtherShape = "the samples have another shape";

inline constexpr std::string_view kToldApart = "other labels are told apart";

inline constexpr std::string_view kImageCache =
    "memory for the images' names and, if all of them fit, their compressed files; others are read "
    "where they lie, which images in compressed archives cannot be";

Field train_samples(std::int64_t fallback);
Field test_samples(std::int64_t fallback, std::string_view doc = "test samples");
Field seed();
Field path(std::string_view doc);
/// What only the user knows, or the files say.
Field found(Field field);
Field found_train_samples();
Field found_test_samples();
Field found_validation_samples();
Field classes(std::string_view doc);
Field train_folder();
Field test_folder();
Field validation_folder();
/// Where files have no split of their own.
Field test_share();
Field image_shape();
/// What reading images may take.
Field cache(std::string_view doc);
Field most_pixels(std::int64_t fallback);
Field label_kind(std::string_view doc);
/// What has a class.
/// Of which kinds: those of places, and, where `sequences`, `sequence` too.
Field labels(std::string_view doc, bool sequences = false);
/// Of `labels: sequence`.
Field most_labels();
/// Targets that are numbers, brought to one size for the loss.
Field target_scaling();
Field target_mean();
Field target_deviation();
/// What says how many steps each sample has.
Field lengths();
/// Pixels that do not count.
Field ignored_value(std::int64_t least, std::int64_t most);

}  // namespace dtnn::compiler::dataset_fields
