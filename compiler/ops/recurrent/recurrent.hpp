#pragma once
/// What recurrent layers share: each is a dense layer over all steps, whose rows have `parts` of
/// `units` numbers, and the cell, which goes from step to step (kernels/arguments/recurrent.hpp).

#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// The layer; `parts` of what its cell adds up, and whether the state has a bias of its own.
OpBuilder recurrent_layer(const char* name, std::int64_t parts, bool hidden_bias);

/// The cell over all steps, of `parts`, with gates of `kept` parts; 0: it keeps none.
OpBuilder recurrent_steps(const char* name, std::int64_t parts, std::int64_t kept);

/// Its gradient: diff_src, of `parts`, is like what the first source is but for the parts.
OpBuilder recurrent_steps_backward(const char* name, std::int64_t parts, std::int64_t first_parts);

/// The operands of the gradient, and behind them what of the states the node begins with it reads,
/// where it is given one.
ValueList with_state(GradientContext& g, ValueList operands, const char* state);

/// The gradient of the weights of the state: `diff` is that of the sums, of all steps.
void set_weights_gradient(GradientContext& g, ValueId diff);

}  // namespace dtnn::compiler
