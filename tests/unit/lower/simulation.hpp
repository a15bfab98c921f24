#pragma once
/// Runs a program on memory that holds names of values instead of numbers, so that every read can
/// be checked to find what the graph says it reads. Shares nothing with the planner but the plan.

#include <string>
#include <vector>

#include "compiler/lower/emit_plan.hpp"

namespace dtnn::compiler {

/// Simulates two batches in a row, and says in words what went wrong; empty when every read found
/// its value.
std::vector<std::string> simulate(const LoweredProgram& lowered, const plan::Plan& plan,
                                  const plan::Program& program);

}  // namespace dtnn::compiler
