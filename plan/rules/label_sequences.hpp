#pragma once
/// Samples with a sequence of labels each, which a loss lays along the steps of their predictions
/// (kernels/arguments/ctc.hpp): between two labels, in front of the first and behind the last there
/// may be steps of the class `blank`, and between two equal ones there is such a step.

#include <cstdint>
#include <optional>
#include <span>

#include "plan/plan.hpp"
#include "plan/rules/ignored_labels.hpp"

namespace dtnn::plan {

/// The attribute of a dataset that is the loss's field of that name; the compiler writes it.
inline constexpr const char* kBlank = "blank";
/// The field of a dataset that says for how many labels of a sample its arrays have room.
inline constexpr const char* kMostLabels = "most_labels";
/// The number behind the labels of a sample, where `ignored_value` does not say it.
inline constexpr std::int64_t kUsualIgnoredValue = -1;

inline bool has_sequences(const Dataset& dataset) {
    return dataset.target().kind == LabelKind::sequence;
}

/// The class that is no label; nothing where no model is known yet.
inline std::optional<std::int64_t> blank_of(const Dataset& dataset) {
    const auto found = dataset.attributes.find(kBlank);
    if (!has_sequences(dataset) || found == dataset.attributes.end()) return std::nullopt;
    const auto* blank = std::get_if<std::int64_t>(&found->second);
    return blank == nullptr ? std::nullopt : std::optional(*blank);
}

/// The labels of a sample, of as many as there is room for.
inline std::span<const std::int32_t> labels_of(std::span<const std::int32_t> room) {
    std::size_t count = 0;
    while (count < room.size() && room[count] != kIgnoredLabel)
        ++count;
    return room.first(count);
}

/// The least steps that such labels take: one for each, and one more between two equal neighbours.
inline std::int64_t least_steps(std::span<const std::int32_t> labels) {
    std::int64_t steps = std::int64_t(labels.size());
    for (std::size_t i = 1; i < labels.size(); ++i)
        steps += labels[i] == labels[i - 1] ? 1 : 0;
    return steps;
}

}  // namespace dtnn::plan
