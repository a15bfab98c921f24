#include "compiler/ops/elementwise/elementwise.hpp"

namespace dtnn::compiler {

/// Costs nothing: canonicalize lets readers read the source.
OpDef define_identity() {
    return elementwise_operator("identity", {}, ElementwiseForm{"x"})
        .doc("Its input as it is: a place for a name, or for an activation that a parameter names.")
        .layer("- identity")
        .keeps_numbers()
        .keeps_shifts()
        .does_nothing([](const Graph&, const Node&) { return true; });
}

}  // namespace dtnn::compiler
