#pragma once
/// The facts of a plan's exchanges that audit() does not know: what a communicator can do, and
/// which programs ranks run side by side.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/device/device.hpp"

namespace dtnn::runtime {

/// Says what keeps the exchanges of the plan from being run; nothing: they can be. They add up f32,
/// f64 or i64. Ranks with a whole batch, with a smaller one and with none run the training programs
/// of their batches in the same step, so these have the same exchanges, by name, size and order.
std::optional<std::string> collectives_mistake(const plan::Plan& plan);

/// Binds the collective, which the device does, or else the communicator, to its memory in the
/// arena; null: there is none, and nothing is exchanged (NullRank).
std::unique_ptr<Exchange> bind_exchange(Device& device, Communicator& communicator,
                                        const plan::Plan& plan, const plan::Collective& collective,
                                        std::byte* arena);
std::unique_ptr<Exchange> bind_exchange(Communicator& communicator, const plan::Plan& plan,
                                        const plan::Collective& collective, std::byte* arena);

/// Bytes of a stretch.
struct Gap {
    std::int64_t offset = 0;  ///< from the start of the stretch
    std::int64_t bytes = 0;
};
/// The gaps between the operands and behind the last, which are exchanged, too, and are to be zero.
/// Sums over parts, and updates of them, see them; among numbers that travel in fewer bytes they
/// would have a part in the power of two of a block, or be the largest. None where neither is.
std::vector<Gap> gaps_of(const plan::Program& program, const plan::Collective& collective);

}  // namespace dtnn::runtime
