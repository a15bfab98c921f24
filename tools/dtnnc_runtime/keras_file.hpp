#pragma once
/// The archives that Keras saves models in (.keras): a zip of JSON and HDF5.

#include "tools/dtnnc/runtime_library.hpp"

namespace dtnn::tools {

/// Throws runtime::RunError; see RuntimeLibrary.
int with_keras_file(const std::string& path, const UseKerasFile& use);

}  // namespace dtnn::tools
