#pragma once
/// Which layer reads which: the nested list of a model flattened in the order of the layer table.

#include <vector>

#include "compiler/frontend/specs.hpp"

namespace dtnn::compiler {

struct WiredLayer {
    const LayerSpec* spec = nullptr;
    std::vector<int> sources;  ///< indices into the list; -1: the model's input
};

/// Layers in order, those of branches before the layer that joins them; the last is the model's
/// output. Reports unknown, later and duplicate names, wrong numbers of operands, and layers that
/// nothing reads. A model that is not `complete` has lost layers to earlier diagnostics; what may
/// only follow from that is not reported.
std::vector<WiredLayer> wire_layers(const ModelSpec& model, bool complete,
                                    Diagnostics& diagnostics);

}  // namespace dtnn::compiler
