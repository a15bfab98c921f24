#include "compiler/frontend/datasets/dataset_fields.hpp"

#include <array>

namespace dtnn::compiler::dataset_fields {
namespace {

constexpr std::string_view kLabelled = "samples are labelled in another way";

constexpr std::array<std::string_view, 3> kLabelKinds = {"classes", "multiple", "values"};

Field count(std::string_view name, std::int64_t fallback, std::string_view doc,
            FieldChange change) {
    return {.name = name,
            .type = FieldType::integer,
            .fallback = fallback,
            .doc = doc,
            .change = change,
            .minimum = 1,
            .maximum = 1'000'000'000,
            .unit = "samples"};
}

Field split_folder(std::string_view name, std::string_view doc, FieldChange change) {
    return {.name = name, .type = FieldType::text, .doc = doc, .change = change, .optional = true};
}

}  // namespace

Field train_samples(std::int64_t fallback) {
    return count("train_samples", fallback, "training samples, before the validation split",
                 mathematics("the network is trained on other samples"));
}

Field test_samples(std::int64_t fallback, std::string_view doc) {
    return count("test_samples", fallback, doc,
                 mathematics("the accuracy is measured on other samples"));
}

Field seed() {
    return {.name = "seed",
            .type = FieldType::integer,
            .fallback = std::int64_t{0},
            .doc = "seed of the made-up samples",
            .change = mathematics("other samples are generated"),
            .minimum = 0};
}

Field path(std::string_view doc) {
    return {.name = "path", .type = FieldType::text, .doc = doc, .change = unread(kOtherFiles)};
}

Field found(Field field) {
    field.fallback.reset();
    field.found = true;
    return field;
}

Field found_train_samples() {
    return found(train_samples(1));
}

Field found_test_samples() {
    return found(test_samples(1));
}

Field found_validation_samples() {
    return found(count("validation_samples", 1,
                       "samples of validation, where they have a folder or a table of their own",
                       mathematics(kWatched)));
}

Field classes(std::string_view doc) {
    return {.name = "classes",
            .type = FieldType::integer,
            .doc = doc,
            .change = mathematics(kToldApart),
            .minimum = 1,
            .maximum = 1'000'000};
}

Field train_folder() {
    return split_folder(
        "train_folder",
        "the folder in `path` that has the training samples, `.` for `path` itself: `train`, or, "
        "with `test_share`, `.`",
        mathematics("the network is trained on other samples"));
}

Field test_folder() {
    return split_folder(
        "test_folder",
        "the folder in `path` that has the test samples: `test`; not with `test_share`",
        mathematics("the accuracy is measured on other samples"));
}

Field validation_folder() {
    return split_folder(
        "validation_folder",
        "the folder in `path` that has samples of validation, such as `val`; without it, they are "
        "a part of the training samples (`validation_split`), or those of the test "
        "(`test_as_validation`)",
        mathematics(kWatched));
}

Field test_share() {
    return {.name = "test_share",
            .type = FieldType::real,
            .doc =
                "where the files have no test samples of their own: the share of the samples that "
                "is kept for the test, by a permutation that is always the same",
            .change = mathematics("other samples are kept from training"),
            .minimum = 0,
            .maximum = 1,
            .optional = true,
            .exclusive_minimum = true,
            .exclusive_maximum = true};
}

Field image_shape() {
    return {.name = "shape",
            .type = FieldType::integer_list,
            .doc =
                "channels (1: gray, 3: colours; of arrays any number), height and width of the "
                "images as they are; "
                "height and width of zero: they differ, and a transform makes them one size",
            .change = mathematics(kOtherShape),
            .minimum = 0,
            .maximum = 65536};
}

Field cache(std::string_view doc) {
    return {.name = "cache",
            .type = FieldType::quantity,
            .fallback = std::int64_t{256} << 20,
            .doc = doc,
            .change = performance("the same samples come from memory or from files"),
            .minimum = 1 << 20,
            .maximum = 1e15,
            .unit = "bytes"};
}

Field most_pixels(std::int64_t fallback) {
    return {.name = "most_pixels",
            .type = FieldType::integer,
            .fallback = fallback,
            .doc =
                "height times width of the largest image, where they differ: memory for one is "
                "booked for every worker, and larger ones are refused",
            .change = performance("it is a limit that is checked, not a choice of the computation"),
            .minimum = 1,
            .maximum = 1 << 28,
            .unit = "pixels"};
}

Field label_kind(std::string_view doc) {
    return {.name = "label_kind",
            .type = FieldType::choice,
            .fallback = std::string("classes"),
            .doc = doc,
            .change = mathematics(kLabelled),
            .choices = {kLabelKinds.begin(), kLabelKinds.end()}};
}

Field labels(std::string_view doc) {
    return {.name = "labels",
            .type = FieldType::choice,
            .fallback = std::string("sample"),
            .doc = doc,
            .change = mathematics(kLabelled),
            .choices = {"sample", "pixel"}};
}

Field ignored_value(std::int64_t least, std::int64_t most) {
    return {.name = "ignored_value",
            .type = FieldType::integer,
            .doc =
                "the number of pixels that belong to no class, such as 255: they count neither "
                "in the loss nor in metrics, and what an augmentation fills in is one of them",
            .change = mathematics("other pixels count in the loss"),
            .minimum = double(least),
            .maximum = double(most),
            .optional = true};
}

}  // namespace dtnn::compiler::dataset_fields
