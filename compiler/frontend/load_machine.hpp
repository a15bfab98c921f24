#pragma once
/// A machine by itself, for what foresees jobs on it.

#include <optional>
#include <string>

#include "compiler/frontend/specs.hpp"

namespace dtnn::compiler {

/// Reads, composes and validates a machine's spec: a file, or a name on the spec path. Nothing
/// after a diagnostic.
std::optional<MachineSpec> load_machine(const std::string& path, const LoadOptions& options,
                                        Diagnostics& diagnostics);

}  // namespace dtnn::compiler
