#include "compiler/frontend/datasets/dataset_fields.hpp"

#include <array>

#include "compiler/support/field_rows.hpp"
#include "plan/dataset_choices.hpp"
#include "plan/rules/label_sequences.hpp"

namespace dtnn::compiler::dataset_fields {
namespace {

constexpr std::string_view kLabelled = "samples are labelled in another way";

constexpr std::string_view kScaled = "the loss is of targets that are scaled otherwise";

constexpr std::array<std::string_view, 3> kLabelKinds = {"classes", "multiple", "values"};

Field count(std::string_view name, std::int64_t fallback, std::string_view doc,
            FieldChange change) {
    return integer_field(name, fallback, between(1, 1'000'000'000).in("samples"), doc, change);
}

Field split_folder(std::string_view name, std::string_view doc, FieldChange change) {
    return text_field(name, kMayBeAbsent, doc, change);
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
    return integer_field("seed", 0, at_least(0), "seed of the made-up samples",
                         mathematics("other samples are generated"));
}

Field path(std::string_view doc) {
    return text_field("path", kMustBeGiven, doc, unread(kOtherFiles));
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
    return integer_field("classes", kMustBeGiven, between(1, 1'000'000), doc,
                         mathematics(kToldApart));
}

Field train_folder() {
    return split_folder("train_folder",
                        "the folder in `path` that has the training samples, `.` for `path` "
                        "itself: `train`, or, with `test_share`, `.`",
                        mathematics("the network is trained on other samples"));
}

Field test_folder() {
    return split_folder(
        "test_folder",
        "the folder in `path` that has the test samples: `test`; not with `test_share`",
        mathematics("the accuracy is measured on other samples"));
}

Field validation_folder() {
    return split_folder("validation_folder",
                        "the folder in `path` that has samples of validation, such as `val`; "
                        "without it, they are a part of the training samples (`validation_split`), "
                        "or those of the test (`test_as_validation`)",
                        mathematics(kWatched));
}

Field test_share() {
    return real_field("test_share", kMayBeAbsent, above(0).below(1),
                      "where the files have no test samples of their own: the share of the samples "
                      "that is kept for the test, by a permutation that is always the same",
                      mathematics("other samples are kept from training"));
}

Field image_shape() {
    return number_field(
        FieldType::integer_list, "shape", kMustBeGiven, between(0, 65536),
        "channels (1: gray, 3: colours; of arrays any number), height and width of the images as "
        "they are; height and width of zero: they differ, and a transform makes them one size",
        mathematics(kOtherShape));
}

Field cache(std::string_view doc) {
    return quantity_field("cache", std::int64_t{256} << 20, between(1 << 20, 1e15).in("bytes"), doc,
                          performance("the same samples come from memory or from files"));
}

Field most_pixels(std::int64_t fallback) {
    return integer_field(
        "most_pixels", fallback, between(1, 1 << 28).in("pixels"),
        "height times width of the largest image, where they differ: memory for one is booked for "
        "every worker, and larger ones are refused",
        performance("it is a limit that is checked, not a choice of the computation"));
}

Field label_kind(std::string_view doc) {
    return choice_field("label_kind", "classes", {kLabelKinds.begin(), kLabelKinds.end()}, doc,
                        mathematics(kLabelled));
}

Field target_scaling() {
    return choice_field("target_scaling", "none", words_of<plan::TargetScaling>(),
                        "label_kind values: `standard` trains on (target - mean) / deviation, by "
                        "the training samples; predictions and metrics are in the targets' own "
                        "units, the loss is not",
                        mathematics(kScaled));
}

Field target_mean() {
    return found(number_field(FieldType::real_list, "target_mean", kMayBeAbsent, Bounds{},
                              "target_scaling standard: the mean of each label column",
                              mathematics(kScaled)));
}

Field target_deviation() {
    return found(number_field(FieldType::real_list, "target_deviation", kMayBeAbsent, above(0),
                              "target_scaling standard: the standard deviation of each, by all "
                              "training samples (not n - 1)",
                              mathematics(kScaled)));
}

Field labels(std::string_view doc, bool sequences) {
    auto words = words_of<plan::LabelPlace>();
    if (!sequences) std::erase(words, std::string_view(plan::name_of(plan::LabelPlace::sequence)));
    return choice_field("labels", "sample", std::move(words), doc, mathematics(kLabelled));
}

Field most_labels() {
    return found(integer_field(plan::kMostLabels, kMustBeGiven, between(1, 1'000'000),
                               "labels: sequence: how many labels y_train has room for, which is "
                               "its second extent",
                               mathematics(kLabelled)));
}

Field lengths() {
    return text_field(
        "lengths", kMayBeAbsent,
        "npz: the array that says how many steps each sample has, of those that the model's inputs "
        "have room for: with `lengths: n` n_train and n_test, integers [N] of 1 to the number of "
        "steps. What is behind them is not read",
        mathematics("samples have other steps"));
}

Field ignored_value(std::int64_t least, std::int64_t most) {
    return integer_field(
        "ignored_value", kMayBeAbsent, between(double(least), double(most)),
        "the number of pixels that belong to no class, such as 255: they count neither in the loss "
        "nor in metrics, and what an augmentation fills in is one of them; of labels: sequence "
        "what "
        "stands behind the labels of a sample, -1 where it is not said",
        mathematics("other pixels count in the loss"));
}

}  // namespace dtnn::compiler::dataset_fields
