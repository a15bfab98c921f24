#pragma once
/// `dtnnc tokens`: text becomes tokens of a vocabulary; `dtnnc vocabulary` learns one.

#include "tools/dtnnc/runtime_library.hpp"

namespace dtnn::tools {

/// Writes the tokens, lowest byte first, and tells how many there are. Throws RunError.
int tokens(const TokensCommand& command);
/// Writes a tokenizer.json.
int vocabulary(const VocabularyCommand& command);

}  // namespace dtnn::tools
