#pragma once
/// `dtnnc tune`: the fastest engines of NVIDIA's libraries, by measuring them on this machine.

#include "tools/dtnnc/runtime_library.hpp"

namespace dtnn::tools {

/// Writes the plan with the engines that it found, and a table of them. Throws RunError.
int tune_engines(const TuneEnginesCommand& command);

}  // namespace dtnn::tools
