#pragma once
/// The checks of what every communicator must do, whatever its ranks are.

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "runtime/comm/communicator.hpp"

namespace dtnn::runtime {

/// Called by all ranks at the same time. Throws std::runtime_error with what was found.
void check_operations(Communicator& communicator);

/// Throws std::runtime_error with the text where something is not `good`; of millions of numbers
/// that are, none is written.
template <class... Args>
void require(bool good, fmt::format_string<Args...> text, Args&&... args) {
    if (!good) throw std::runtime_error(fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace dtnn::runtime
