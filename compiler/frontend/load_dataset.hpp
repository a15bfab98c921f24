#pragma once
/// A dataset by itself, for what looks at data alone.

#include <optional>
#include <string>

#include "compiler/frontend/specs.hpp"

namespace dtnn::compiler {

/// Reads, composes and validates a dataset's spec. Nothing when the file is of another kind, and
/// nothing after a diagnostic.
std::optional<DatasetSpec> load_dataset(const std::string& path, const LoadOptions& options,
                                        Diagnostics& diagnostics);

}  // namespace dtnn::compiler
