#include "plan/dataset_types.hpp"

#include <algorithm>

namespace dtnn::plan {
namespace {

constexpr std::array<std::int64_t, 3> kGlyph = {1, 28, 28}, kColours = {3, 32, 32};

constexpr DatasetType kTypes[] = {
#define DATASET_TYPE(type, ...) {.name = #type, __VA_ARGS__},
#include "plan/dataset_types.def"
#undef DATASET_TYPE
};

/// Whether the field of the dataset's type says this; one that is not there says it.
bool says(const Dataset& dataset, const char* field, std::string_view word) {
    const auto found = dataset.attributes.find(field);
    if (found == dataset.attributes.end()) return true;
    const auto* text = std::get_if<std::string>(&found->second);
    return text != nullptr && *text == word;
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
           dataset.attributes.contains("category_columns") || !says(dataset, "missing", "refuse");
}

bool scales_targets(const Dataset& dataset) {
    return dataset.target().kind == LabelKind::values && !says(dataset, "target_scaling", "none");
}

}  // namespace dtnn::plan
