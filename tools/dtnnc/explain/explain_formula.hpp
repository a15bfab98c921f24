#pragma once
/// `dtnnc explain FILE#NAME`: what an operator that a spec declares computes, its derivatives and
/// what backward keeps.

#include <optional>

#include "tools/dtnnc/explain/explain_topics.hpp"
#include "tools/dtnnc/options.hpp"

namespace dtnn::tools {

/// Explains the operator NAME of the model, or of a job's model, in FILE; its loss, where that is a
/// formula, is called loss. Nothing after diagnostics, or with the reason in `mistake`.
std::optional<Topic> explain_formula(const std::string& file, const std::string& name,
                                     const CommonOptions& options,
                                     compiler::Diagnostics& diagnostics, std::string& mistake);

}  // namespace dtnn::tools
