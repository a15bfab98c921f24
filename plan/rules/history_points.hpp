#pragma once
/// The points of the loss's curve in a run's history.

#include <algorithm>
#include <cstdint>

#include "plan/plan.hpp"

namespace dtnn::plan {

/// The steps of one point, in an epoch of so many: what the training says, else as many as make
/// some fifty points. An epoch has kMostPoints at most: they are a line of the history, and part of
/// every checkpoint.
inline std::int64_t steps_of_point(const Training& training, std::int64_t steps) {
    constexpr std::int64_t kPoints = 50, kMostPoints = 10'000;
    const std::int64_t points = training.history_every > 0 ? kMostPoints : kPoints;
    return std::max({std::int64_t(1), training.history_every, (steps + points - 1) / points});
}

/// The points of such an epoch; the last one may be of fewer steps.
inline std::int64_t points_of_epoch(const Training& training, std::int64_t steps) {
    const std::int64_t each = steps_of_point(training, steps);
    return steps / each + (steps % each > 0 ? 1 : 0);
}

}  // namespace dtnn::plan
