#pragma once
/// Parameters that no expression reads, which are misspelt more often than not wanted.

#include "compiler/frontend/yaml/source_tree.hpp"

namespace dtnn::compiler {

/// Reports the parameters of a sound model, and of its blocks, that nothing in it reads. A
/// parameter may be left unread where settings, or a model that extends the one that declares it,
/// bring layers, blocks, defaults or an input of their own, unless it is set itself.
void check_unused_parameters(const SourceNode& model, Diagnostics& diagnostics);

}  // namespace dtnn::compiler
