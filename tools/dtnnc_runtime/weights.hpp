#pragma once
/// Files of weights, read as a plan's and written, for commands that change models' formats.

#include "tools/dtnnc/runtime_library.hpp"

namespace dtnn::tools {

/// Throw runtime::RunError; see RuntimeLibrary.
int with_weights(const plan::Plan& plan, const std::string& path, const UseWeights& use);
void write_weights(const std::string& path, const std::vector<StoredTensor>& tensors,
                   const std::map<std::string, std::string>& metadata);

}  // namespace dtnn::tools
