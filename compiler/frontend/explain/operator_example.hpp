#pragma once
/// An operator's example line, in a model in which it is sound, and what that comes to. Tests and
/// the reference pages use it.

#include <string>

#include "compiler/frontend/specs.hpp"
#include "compiler/ops/op.hpp"

namespace dtnn::compiler {

/// A model that has the operator's example as one of its layers, behind a trained layer, so that
/// training differentiates it.
std::string example_model(const OpDef& op);

struct OperatorExample {
    JobSpec job;
    Graph graph;    ///< of one sample
    LayerId layer;  ///< the example's
    NodeId node;
};

/// Compiles the example model; a mistake in it is our bug.
OperatorExample compile_example(const OpDef& op);

}  // namespace dtnn::compiler
