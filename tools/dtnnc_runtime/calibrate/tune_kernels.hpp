#pragma once
/// `dtnnc tune` for the CPU: which kernels are fastest at the problems of a job, by measuring them
/// on this machine.

#include "tools/dtnnc/runtime_library.hpp"

namespace dtnn::tools {

/// Measures every problem of the plan's steps that several kernels can do, adds the times to the
/// history of tuning, and prints them. Throws
/// RunError.
int tune_kernels(const TuneKernelsCommand& command);

}  // namespace dtnn::tools
