#pragma once
/// From a plan file to a plan that this machine can run, before the first allocation for it.

#include <string>
#include <string_view>

#include "plan/plan.hpp"

namespace dtnn::runtime {

struct LoadedPlan {
    plan::Plan plan;
    std::string text;      ///< the file's bytes
    std::string checksum;  ///< the plan's identity
};

/// Reads, verifies and audits, for a run of so many ranks. Anything wrong is a RunError with exit
/// code 5 that says what: the file, version, checksum, memory, machine, ranks, kernels, programs,
/// exchanges.
LoadedPlan load_plan(const std::string& path, int ranks = 1);

/// The same for a plan's text; `name` stands for the file in messages.
LoadedPlan load_plan_text(std::string text, const std::string& name, int ranks = 1);

/// A plan that is not to be run here: reads, verifies and audits it.
LoadedPlan read_plan_file(const std::string& path);
LoadedPlan read_plan_text(std::string text, const std::string& name);

/// Checks what audit() does not know: the machine, the kernels that are built in, and what the
/// training loop relies on. Throws RunError (exit 5).
void check_runnable(const plan::Plan& plan, const std::string& name, int ranks = 1);

}  // namespace dtnn::runtime
