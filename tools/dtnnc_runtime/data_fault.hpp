#pragma once
/// Looking into data, for specs that leave out what its files say.

#include <optional>

#include "compiler/frontend/specs.hpp"

namespace dtnn::tools {

/// Looks into a dataset's files with the runtime's readers, as compiler::FindData.
std::optional<compiler::DataFault> find_data(plan::Dataset& dataset);

}  // namespace dtnn::tools
