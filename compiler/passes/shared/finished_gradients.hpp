#pragma once
/// Gradients as an exchange between ranks takes them: in places of their own, in the order in which
/// backward finishes them.

#include <cstddef>
#include <vector>

#include "compiler/passes/shared/optimizer_graph.hpp"

namespace dtnn::compiler {

/// A gradient that may be overwritten, and where among the nodes it is finished.
struct FinishedGradient {
    Gradient gradient;
    std::size_t place = 0;
};

/// The gradients, by place. One that cannot be overwritten - of two parameters, read by another
/// node, an output, the new value of a state, or a view - is copied first. `r` has no readers of
/// them yet but those that need them as they are.
std::vector<FinishedGradient> in_places_of_their_own(Rewriter& r,
                                                     const std::vector<Gradient>& gradients,
                                                     const std::vector<GraphOutput>& outputs);

}  // namespace dtnn::compiler
