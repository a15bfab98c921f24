#pragma once
/// Any spec as one document in which everything is said, with the origin of every value: what
/// `dtnnc resolve` prints.

#include <map>
#include <string>
#include <vector>

#include "compiler/frontend/specs.hpp"

namespace dtnn::compiler {

struct ResolvedSpec {
    SpecKind kind = SpecKind::job;
    std::string text;  ///< one YAML document of that kind; it resolves to itself
    /// Every value of the document. Paths are those of a job, as --set takes them:
    /// "training.epochs" of a training by itself too. Layers are by name.
    std::vector<plan::ResolvedValue> values;
    std::map<std::string, plan::Place> layers;  ///< by name, where their types are written
};

/// Reads, composes and checks a spec of any kind. Only meaningful when `diagnostics` has no errors.
ResolvedSpec resolve_spec(const std::string& path, const LoadOptions& options,
                          Diagnostics& diagnostics);

/// The document with one value a line, each with a comment: `# net.yaml:14`, `# default` or
/// `# command line`. Without its comments it is the same document, written otherwise.
std::string text_with_origins(const ResolvedSpec& spec);

/// "net.yaml:14", "default", "command line".
std::string origin_text(const plan::ResolvedValue& value);

/// What the settings of a model's own parameters are, in the order declared, after --set; for a job
/// or a model. Nothing that expressions make of them.
std::vector<plan::ResolvedValue> model_parameters(const std::string& path,
                                                  const LoadOptions& options);

}  // namespace dtnn::compiler
