#include "plan/dataset_types.hpp"

#include <algorithm>

#include "plan/dataset_choices.hpp"

namespace dtnn::plan {
namespace {

constexpr std::array<std::int64_t, 3> kGlyph = {1, 28, 28}, kColours = {3, 32, 32};

constexpr DatasetType kTypes[] = {
#define DATASET_TYPE(type, ...) {.name = #type, __VA_ARGS__},
#include "plan/dataset_types.def"
#undef DATASET_TYPE
};

/// Whether the field of the dataset's type is there and says something else.
template <NamedEnum Enum>
bool says_other(const Dataset& dataset, const char* field, Enum than) {
    return dataset.attributes.contains(field) && choice<Enum>(dataset.attributes, field) != than;
}

}  // namespace

std::span<const DatasetType> dataset_types() {
    return kTypes;
}

const DatasetType* find_dataset_type(std::string_view name) {
    const auto* const found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                           [&](const auto& type) { return type.name == name; });
    return found == std::end(kTypes) ? nullptr : found;
}

bool holds_arrays(const Dataset& dataset) {
    const DatasetType* type = find_dataset_type(dataset.type);
    const auto path = dataset.attributes.find("path");
    if (type == nullptr || !type->arrays || path == dataset.attributes.end()) return false;
    const auto* text = std::get_if<std::string>(&path->second);
    return text != nullptr && text->ends_with(".npz");
}

bool encodes_columns(const Dataset& dataset) {
    return !dataset.columns.empty() || !dataset.category_names.empty() ||
           dataset.attributes.contains("category_columns") ||
           says_other(dataset, "missing", Fill::refuse);
}

bool is_series(const Dataset& dataset) {
    const DatasetType* type = find_dataset_type(dataset.type);
    return type != nullptr && type->form == DatasetForm::series;
}

bool scales_features(const Dataset& dataset) {
    return says_other(dataset, "feature_scaling", TargetScaling::none);
}

bool scales_targets(const Dataset& dataset) {
    return dataset.target().kind == LabelKind::values &&
           says_other(dataset, "target_scaling", TargetScaling::none);
}

}  // namespace dtnn::plan
