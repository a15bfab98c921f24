#pragma once
/// What the writer of a spec may have meant where neither a kind nor a name of a spec is
/// understood.

#include <string>

#include "compiler/frontend/tables/tables.hpp"
#include "compiler/frontend/yaml/source_tree.hpp"

namespace dtnn::compiler {

/// The kinds of specs, for a message: "`model`, `dataset`, ...".
std::string kind_names();

/// What is said of a spec that does not say its kind: the one kind whose fields most of its keys
/// are, by our names or by others', or all kinds.
std::string help_without_kind(const SourceNode& spec);

/// What a name that is none of a spec of the kind may be meant for: a field of the kind with its
/// value, or data. Empty: nothing known.
std::string help_of_reference(const SourceNode& reference, const KindInfo& kind);

}  // namespace dtnn::compiler
