#pragma once
/// Which parameters a layer has of another one.

#include <optional>
#include <string>
#include <unordered_map>

#include "compiler/frontend/expand/blocks.hpp"
#include "compiler/frontend/expand/expansion_scope.hpp"
#include "compiler/frontend/read/value_reader.hpp"
#include "compiler/frontend/specs.hpp"

namespace dtnn::compiler {

/// Whether the field says how a parameter begins that the layer has of another one.
bool initializes_shared(const LayerSpec& layer, std::string_view field);

class Sharing {
  public:
    Sharing(const ModelSpec& model, LayerNames& names, Diagnostics& diagnostics)
        : model_(model), names_(names), diagnostics_(diagnostics) {}

    /// Fills in `share` and `shared` of a layer that the model does not have yet: it names another
    /// one (`share`), or stands in a scope whose layers share. Reports names that lead to no layer,
    /// parameters that do not fit, a layer that names another one and has none of its, and in
    /// `written`, the fields of the layer's entry (null: none), initializers of parameters that are
    /// not its own. Where a shape is unknown nothing is said.
    void settle(const std::optional<LocatedText>& share, const SourceNode* written,
                const LayerScope& scope, LayerSpec& layer);

    /// The layers that those of a use of the block share with, which is named by an earlier use.
    SharedPrefix of_use(const Block& block, const LocatedText& share, const LayerScope& scope);
    void add_use(const std::string& path, const Block& block) { uses_.emplace(path, &block); }

  private:
    bool find(const std::optional<LocatedText>& share, const LayerScope& scope, LayerSpec& layer);

    const ModelSpec& model_;
    LayerNames& names_;
    Diagnostics& diagnostics_;
    std::unordered_map<std::string, const Block*> uses_;  ///< by path
};

}  // namespace dtnn::compiler
