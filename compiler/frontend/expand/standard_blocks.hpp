#pragma once
/// Blocks that every model has, written in the language itself.

#include <string_view>

#include "compiler/frontend/yaml/source_tree.hpp"

namespace dtnn::compiler {

/// A map from names to declarations, as under `blocks:` of a model.
const SourceNode& standard_blocks();
/// Their text, for documentation and for diagnostics that point into it.
std::string_view standard_blocks_text();
/// The file that places of standard blocks name.
inline constexpr std::string_view kStandardBlocksFile = "(built in)";

}  // namespace dtnn::compiler
