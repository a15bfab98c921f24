#pragma once
/// The declarations of a model for its layers: parameters, defaults by type, blocks.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/frontend/expand/blocks.hpp"
#include "compiler/frontend/expand/layers.hpp"
#include "compiler/frontend/formula/environment.hpp"

namespace dtnn::compiler {

class ModelLanguage {
  public:
    /// Reads `parameters`, `defaults`, `blocks` and `operators` of a model (null: not given) and
    /// reports what is wrong with them. The trees must outlive the object.
    ModelLanguage(const SourceNode* parameters, const SourceNode* defaults,
                  const SourceNode* blocks, const SourceNode* operators, Diagnostics& diagnostics);

    const Environment& parameters() const { return parameters_; }
    const Blocks& blocks() const { return blocks_; }

    /// The fields of an entry: its own, then the defaults of its type for those it does not give.
    std::vector<const SourceEntry*> fields_of(const LayerEntry& entry) const;
    /// Fields that the defaults of a type probably mean by a name that is none, which was reported.
    const std::set<std::string, std::less<>>& misspelt_of(const std::string& type) const;

  private:
    void read_parameters(const SourceNode& map, Diagnostics& diagnostics);
    void read_defaults(const SourceNode& map, Diagnostics& diagnostics);

    Environment parameters_;
    Blocks blocks_;
    std::map<std::string, const SourceNode*, std::less<>> defaults_;
    std::map<std::string, std::set<std::string, std::less<>>, std::less<>> misspelt_;
};

/// The value of a plain scalar by its own look: an integer, a number, true or false, else text;
/// `Unknown` after a diagnostic. `what` begins the message: "`width` of parameters".
FormulaValue scalar_value(const SourceNode& node, const std::string& what,
                          Diagnostics& diagnostics);

}  // namespace dtnn::compiler
