#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// With average_decay, evaluation and prediction read the moving averages of the weights:
///
///     %y = conv2d(%x, @w)   ->   %y = conv2d(%x, @w.average)
///
/// Reads averages of trainable parameters only: frozen ones, and the moving statistics of batch
/// norm, have no average and are read as they are. After layout, which decides how a parameter is
/// stored by how it is read; before hoist_invariant, so that what depends on averages only runs
/// once per pass over the data. Must not fire without average_decay.
std::optional<Graph> read_averages(const Graph& graph, PassContext& context);

/// The parameter that holds the moving average of another.
Parameter average_of(const Parameter& parameter);

}  // namespace dtnn::compiler
