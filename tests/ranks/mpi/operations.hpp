#pragma once
/// The checks of what every communicator must do, whatever its ranks are.

#include <string>

#include "runtime/comm/communicator.hpp"

namespace dtnn::runtime {

/// Called by all ranks at the same time. Throws std::runtime_error with what was found.
void check_operations(Communicator& communicator);

/// Throws std::runtime_error with `what` where something is not `good`.
void require(bool good, const std::string& what);

}  // namespace dtnn::runtime
