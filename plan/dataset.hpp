#pragma once
/// A plan's dataset: the arrays of its samples, and the columns of its tables.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/tensor/attributes.hpp"
#include "base/tensor/tensor_type.hpp"
#include "plan/enums.hpp"

namespace dtnn::plan {

/// One of a closed set (a loss, a metric, a schedule, a transform ...) with all its fields,
/// defaults filled in.
struct Component {
    std::string type;
    Attributes attributes;
    bool operator==(const Component&) const = default;
};

/// An array of each sample: of what the network reads, or of what it is to give.
struct Feature {
    std::string name;  ///< the model's for it, and that of the arrays in files; empty: the only one
    DType dtype = DType::f32;
    /// Of one sample, as the network sees it. Of images channels, height, width, after the
    /// transforms; of targets the places that have a label each: none for one a sample, [height,
    /// width] for one a pixel, [steps] for one a step, the most labels of a sample for a sequence.
    Dims dims;
    Axes axes;  ///< what its axes are; nobody else says whether it is an image
    /// As the source gives it, before transforms; a zero extent is one that differs from sample to
    /// sample. Of inputs; of a target that is a sequence the steps of the predictions.
    Dims stored_dims;
    LabelKind kind = LabelKind::values;
    /// Of classes: how many there are. Of a target of numbers: how many each place has.
    std::int64_t classes = 0;
    /// The classes' names, or those of the numbers: as many, or none, which are not known. Files
    /// that have names must have these. Of an input out of a table's columns: those of its
    /// features, which are looked for by them.
    std::vector<std::string> names;
    /// Of a target of numbers: as many of each, or none. The loss is of (target - mean) / deviation
    /// and of what the network gives, which times deviation plus mean is a prediction. Of an input
    /// of numbers that is no image: one for each feature, or none; the network reads (number -
    /// mean) / deviation.
    std::vector<double> mean, deviation;
    bool operator==(const Feature&) const = default;
};

/// An input that is an image.
inline Feature an_image() {
    Feature input;
    input.axes = image_axes();
    return input;
}

/// Gives the target a label for each place of the input: for each of its extents but its features'.
void label_places(const Feature& input, Feature& target);

/// A target of one class a sample.
inline Feature a_class() {
    Feature target;
    target.kind = LabelKind::classes;
    return target;
}

/// A column of tables that holds features, and the numbers of a sample that its texts become.
struct FeatureColumn {
    std::string name;        ///< in the header; empty: it has none there that tells it apart
    std::int64_t place = 0;  ///< of one without a name, from 1, in a table of training samples
    /// Whether a text is a category: one of `values`, in the order of their numbers, the empty one
    /// for what is missing. Else it is a number.
    bool category = false;
    std::vector<std::string> values;
    /// Of a category: a number for each value, 1 for the text's and 0 for the others; else the
    /// value's own, from 0.
    bool one_hot = false;
    bool filled = false;  ///< of numbers: what is missing becomes `fill`; else it is an error
    double fill = 0;
    bool indicator = false;  ///< of numbers: one more behind it, 1 where it is missing, else 0
    std::int64_t width() const {
        return category ? (one_hot ? std::int64_t(values.size()) : 1) : 1 + int(indicator);
    }
    bool operator==(const FeatureColumn&) const = default;
};

/// What the runtime must read. Fields beyond these are the dataset type's own, in `attributes`.
struct Dataset {
    std::string name;
    std::string type;  ///< digits, mnist, cifar10, synthetic ...
    /// What the network reads of a sample, at least one. The first may be an image, which
    /// transforms and augmentations change (has_image).
    std::vector<Feature> inputs = {an_image()};
    /// What it is to give for a sample: one.
    std::vector<Feature> targets = {a_class()};
    const Feature& input() const { return inputs.front(); }
    Feature& input() { return inputs.front(); }
    const Feature& target() const { return targets.front(); }
    Feature& target() { return targets.front(); }
    /// The label columns of tables by their names, in place of their numbers; empty: by numbers.
    std::vector<std::string> label_names;
    /// Likewise, those that are neither labels nor features.
    std::vector<std::string> ignored_names;
    /// Likewise, features that are categories.
    std::vector<std::string> category_names;
    /// Texts of tables that say that something is missing, as an empty one does.
    std::vector<std::string> missing_texts;
    /// All columns of features, where some are categories or what is missing is filled in.
    std::vector<FeatureColumn> columns;
    /// Samples that an epoch sees: after the validation split, then under- or over-sampled.
    std::int64_t train_samples = 0;
    std::int64_t validation_samples = 0;
    std::int64_t test_samples = 0;
    /// Training samples that the source has, validation included.
    std::int64_t source_train_samples = 0;
    /// The test split is the validation too: validation_samples = test_samples.
    bool test_as_validation = false;
    /// The validation samples are files of their own: the last of the source's training samples.
    bool validation_files = false;
    std::vector<Component> transforms;     ///< of every sample, in order
    std::vector<Component> augmentations;  ///< of training samples, in order, after the transforms
    Attributes attributes;
};

/// The fields of datasets that are lists of texts, which attributes cannot be.
struct DatasetTexts {
    const char* name;
    std::vector<std::string> Dataset::*member;
};
inline constexpr std::array kDatasetTexts = {
    DatasetTexts{"label_names", &Dataset::label_names},
    DatasetTexts{"ignored_names", &Dataset::ignored_names},
    DatasetTexts{"category_names", &Dataset::category_names},
    DatasetTexts{"missing_texts", &Dataset::missing_texts}};
/// The field of a list of texts that names the features of the input (Feature::names).
inline constexpr const char* kFeatureNames = "feature_names";
/// What that field says, if it is one of them and says something.
inline const std::vector<std::string>* texts_of(const Dataset& dataset, std::string_view field) {
    if (field == kFeatureNames && !dataset.input().names.empty()) return &dataset.input().names;
    for (const DatasetTexts& one : kDatasetTexts)
        if (one.name == field && !(dataset.*one.member).empty()) return &(dataset.*one.member);
    return nullptr;
}

}  // namespace dtnn::plan
