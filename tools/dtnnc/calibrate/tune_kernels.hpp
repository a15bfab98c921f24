#pragma once
/// `dtnnc tune` for the CPU: which kernels are fastest at the problems of a job, by measuring them
/// on this machine.

#include <string>

#include "tools/dtnnc/options.hpp"
#include "tools/dtnnc/plan_source.hpp"

namespace dtnn::tools {

struct TuneKernelsCommand {
    std::string source;  ///< a spec, or a plan
    std::string output;  ///< of a spec: the plan that the times lead to; empty: none is written
    bool again = false;  ///< measures what is known, too
    int calls = 11;      ///< of a kernel
    CompileCommand compile;
    CommonOptions common;
};

/// Measures every problem of the plan's steps that several kernels can do, adds the times to the
/// history of tuning, and prints them.
int tune_kernels(const TuneKernelsCommand& command);

}  // namespace dtnn::tools
