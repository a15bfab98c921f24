#pragma once
/// Pixels that belong to no class and do not count: neither in a loss nor in a metric.

#include <cstdint>
#include <optional>

#include "plan/plan.hpp"

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

}  // namespace dtnn::plan
