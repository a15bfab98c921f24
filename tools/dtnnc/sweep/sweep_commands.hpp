#pragma once
/// Commands for every combination of the values that `--sweep` gives.

#include <string>
#include <vector>

#include "tools/dtnnc/options.hpp"
#include "tools/dtnnc/plan_source.hpp"

namespace dtnn::tools {

void declare_sweep(OptionList& list, std::vector<std::string>& sweeps);

/// For every combination of `sweeps` ("path=v1,v2"): compile writes a folder of plans with an
/// index.json, `output` or NAME-sweep, whole or not at all, and prints a table of them; summary
/// prints the table only. A mistake names the combinations that have it.
int compile_sweep(const std::string& spec, const std::string& output,
                  const std::vector<std::string>& sweeps, const CompileCommand& command,
                  const CommonOptions& options);
/// `quiet`: says nothing of specs in which all is well.
int check_sweep(const std::vector<std::string>& specs, const std::vector<std::string>& sweeps,
                bool quiet, const CommonOptions& options);
int summary_sweep(const std::string& spec, const std::vector<std::string>& sweeps,
                  const CommonOptions& options);

}  // namespace dtnn::tools
