#pragma once
/// Samples of fewer steps than there is room for: an array says how many each has.

#include <cstdint>
#include <optional>
#include <string>

#include "plan/plan.hpp"

namespace dtnn::plan {

/// The name of that array, which is the last of the inputs (Dataset::inputs); empty: all samples
/// have all steps.
inline std::string lengths_array(const Dataset& dataset) {
    const auto found = dataset.attributes.find("lengths");
    if (found == dataset.attributes.end()) return {};
    const auto* name = std::get_if<std::string>(&found->second);
    return name == nullptr || dataset.inputs.size() < 2 || dataset.inputs.back().name != *name
               ? std::string()
               : *name;
}

/// The place of that array among the inputs.
inline std::optional<std::size_t> lengths_input(const Dataset& dataset) {
    if (lengths_array(dataset).empty()) return std::nullopt;
    return dataset.inputs.size() - 1;
}

/// Whether an input has the steps that the array speaks of, which are its first axis.
inline bool has_steps(const Feature& input) {
    return !input.axes.empty() && input.axes.front() == AxisKind::step;
}

/// What says it, of samples of so many steps: an integer of 1 to as many.
inline Feature a_length(std::string name, std::int64_t steps) {
    Feature length;
    length.name = std::move(name);
    length.dims = length.stored_dims = {1};
    length.axes = {AxisKind::feature};
    length.kind = LabelKind::classes;
    length.classes = steps + 1;
    return length;
}

}  // namespace dtnn::plan
