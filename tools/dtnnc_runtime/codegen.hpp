#pragma once
/// `dtnnc codegen`: the code that is generated for a plan's elementwise expressions.

#include "tools/dtnnc/runtime_library.hpp"

namespace dtnn::tools {

/// Prints the code, each loop below the expression and the steps that it is for. Throws RunError.
int codegen(const CodegenCommand& command);

}  // namespace dtnn::tools
