#pragma once
/// Whether a plan's programs can be run: their kernels are there and can do the steps, and what the
/// runtime writes to inputs and reads from outputs has the types and shapes that it relies on.

#include <string>

#include "plan/plan.hpp"
#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {

inline constexpr const char* kRecompile = "compile the job again with the dtnnc of this version";

/// That the plan of this name cannot be run, and what can be done.
RunError refused_plan(const std::string& name, const std::string& fact,
                      const std::string& help = kRecompile);

/// Throws what refused_plan says. `name` is the plan's.
void check_program(const plan::Plan& plan, const plan::Program& program, const std::string& name);

}  // namespace dtnn::runtime
