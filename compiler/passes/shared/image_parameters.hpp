#pragma once
/// Parameters that are images: layer_norm's gamma and beta over a sample of [C,H,W].

#include "compiler/passes/shared/rewriting.hpp"

namespace dtnn::compiler {

/// For each parameter value [C,H,W] that only layer_norm reads, [1,C,H,W]; empty for the others. As
/// an image it is stored as the layout pass stores images, number beside number.
void add_image_parameters(const Graph& graph, const Uses& uses, std::vector<Dims>& dims);

}  // namespace dtnn::compiler
