#pragma once
/// What audit() does not know of a plan's exchanges: what a communicator can do, and which programs
/// ranks run side by side.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "runtime/comm/communicator.hpp"

namespace dtnn::runtime {

/// What keeps the exchanges of the plan from being run; nothing: nothing. They add up f32, f64 or
/// i64. Ranks with a whole batch, with a smaller one and with none run the training programs of
/// their batches in the same step, so these have the same exchanges, by name, size and order.
std::optional<std::string> collectives_mistake(const plan::Plan& plan);

/// What the communicator does of the collective, bound to its stretch of memory.
std::unique_ptr<Exchange> bind_exchange(Communicator& communicator,
                                        const plan::Collective& collective, void* data);

/// Bytes of a stretch.
struct Gap {
    std::int64_t offset = 0;  ///< from the start of the stretch
    std::int64_t bytes = 0;
};
/// What a reduce_scatter exchanges between its operands and behind the last. It is to be zero: sums
/// over parts, and updates of them, see it. None of the other kinds.
std::vector<Gap> gaps_of(const plan::Program& program, const plan::Collective& collective);

}  // namespace dtnn::runtime
