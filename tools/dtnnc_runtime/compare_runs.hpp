#pragma once
/// `dtnnc diff FOLDER`: the runs of a folder beside each other.

#include "tools/dtnnc/runtime_library.hpp"

namespace dtnn::tools {

/// Prints what the runs' plans differ in, and what came of that. Throws RunError.
int compare_runs(const CompareRunsCommand& command);

}  // namespace dtnn::tools
