#pragma once
/// A plan from what the user names: a spec, which is compiled, or a plan, which is read and
/// audited.

#include <optional>
#include <stdexcept>
#include <string>

#include "compiler/frontend/specs.hpp"
#include "compiler/support/diagnostics.hpp"
#include "plan/plan.hpp"
#include "tools/dtnnc/commands.hpp"

namespace dtnn::tools {

/// What of a command line loading specs takes.
compiler::LoadOptions load_options(const CommonOptions& options);

/// Options that change specs, given with a plan: UsageError.
void refuse_spec_options(const CommonOptions& options, const std::string& plan);

/// Compiles a spec. Nothing when `diagnostics` has errors. Throws UsageError for options that
/// cannot be carried out and InternalError for our bugs, after the graph was written aside.
std::optional<plan::Plan> compile_spec(const std::string& spec, const CompileCommand& command,
                                       const CommonOptions& common,
                                       compiler::Diagnostics& diagnostics);

/// A file that cannot be used as a plan: exit code 5.
class PlanError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Whether the file is a plan: it begins like one, or is called .json.
bool is_plan(const std::string& path);

/// Reads and audits; throws PlanError.
plan::Plan load_plan(const std::string& path);

}  // namespace dtnn::tools
