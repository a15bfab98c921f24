#pragma once
/// The auditor's part about the steps of one program.

#include "plan/audit/findings.hpp"

namespace dtnn::plan {

/// Adds what is wrong with plan.programs[program]: its phase, the layers of its steps, names, where
/// its tensors lie, what its steps read and write and when, its inputs and outputs.
void audit_program(const Plan& plan, int program, Findings& findings);

}  // namespace dtnn::plan
