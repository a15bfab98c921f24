#pragma once
/// `dtnnc data`: what is in a dataset, what training sees of it, and whether it comes fast enough.

#include "tools/dtnnc/runtime_library.hpp"

namespace dtnn::tools {

/// Prints the report, writes the contact sheet and the spec that were asked for. Throws RunError.
int data(const DataCommand& command);

}  // namespace dtnn::tools
