#pragma once
/// What audit() does not know of a plan's exchanges: what a communicator can do, and which programs
/// ranks run side by side.

#include <optional>
#include <string>

#include "plan/plan.hpp"

namespace dtnn::runtime {

/// What keeps the exchanges of the plan from being run; nothing: nothing. They add up f32, f64 or
/// i64. Ranks with a whole batch, with a smaller one and with none run the training programs of
/// their batches in the same step, so these have the same exchanges, by name, size and order.
std::optional<std::string> collectives_mistake(const plan::Plan& plan);

}  // namespace dtnn::runtime
