#pragma once
/// Pixels that belong to no class, and steps that a sample does not have: they do not count,
/// neither in a loss nor in a metric.

#include <cstdint>
#include <optional>

#include "plan/plan.hpp"
#include "plan/rules/lengths.hpp"

namespace dtnn::plan {

/// Their label in a batch.
inline constexpr std::int32_t kIgnoredLabel = -1;

/// The output of programs that train or evaluate, f64, that says how many labels of a batch count.
inline constexpr const char* kCountedLabels = "counted_labels";

/// The number that they have in masks and arrays; nothing: all pixels count.
inline std::optional<std::int64_t> ignored_value(const Dataset& dataset) {
    const auto found = dataset.attributes.find("ignored_value");
    if (found == dataset.attributes.end()) return std::nullopt;
    const auto* value = std::get_if<std::int64_t>(&found->second);
    return value == nullptr ? std::nullopt : std::optional(*value);
}

/// Whether some labels do not count: those of that number, and those of steps that samples of
/// several lengths do not have.
inline bool ignores_labels(const Dataset& dataset) {
    const Feature& target = dataset.target();
    return ignored_value(dataset).has_value() ||
           (!lengths_array(dataset).empty() && has_steps(dataset.input()) &&
            target.kind == LabelKind::classes && !target.dims.empty());
}

}  // namespace dtnn::plan
