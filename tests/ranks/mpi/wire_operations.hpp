#pragma once
/// The checks of what every communicator must do of sums whose numbers travel in fewer bytes.

#include "runtime/comm/communicator.hpp"

namespace dtnn::runtime {

/// Called by all ranks at the same time. Throws std::runtime_error with what was found.
void check_wires(Communicator& communicator);

}  // namespace dtnn::runtime
