#pragma once
/// The target of a plan: instruction set, threads, ranks.

#include <string>
#include <vector>

#include "compiler/driver/compile_job.hpp"

namespace dtnn::compiler {

bool is_isa(const std::string& name);
/// Names of all instruction sets; each can do what those before it can.
std::vector<std::string> isa_names();

/// The options say it first, then the job, then its machine, then the machine that compiles.
plan::Target decide_target(const JobSpec& job, const CompileOptions& options);

}  // namespace dtnn::compiler
