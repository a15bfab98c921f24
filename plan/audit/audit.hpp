#pragma once
/// Re-checks what a run relies on, from the plan alone and with none of the planner's code. Run by
/// the compiler on what it made and by the runtime on what it is given, before anything is
/// allocated.

#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn::plan {

/// Says what is wrong, one sentence each with names and numbers; empty when the plan is sound.
/// Total: any plan that read_plan gave, or that was built by hand with valid indices, may be
/// audited. At most 64 findings are listed.
///
/// Memory: every buffer is aligned to 64 bytes and lies inside the arena; persistent buffers
/// overlap nothing; transient buffers of one program overlap only when their lives do not; tensors
/// lie inside their buffers, of their own program, aligned; a parameter has one persistent buffer
/// of its own, of its size, and a step's workspace is its alone. Totals: `parameters`, `optimizer`
/// and `inputs` are the bytes of the buffers of roles parameter, state and input, each rounded up
/// to 64; with `transient`, the rest of the arena, they add up to `arena`.
///
/// Steps: operands are alive; nothing is read before it was written, in this batch or in the
/// prologue (parameters, states and inputs have values from the start), nor after another tensor
/// took its bytes; destinations overlap no other operand, unless one takes the place of one source
/// exactly; what the prologue wrote and the steps use lives to the end and is written by no step;
/// outputs are written and alive at the end.
///
/// Exchanges between ranks: audit_collectives.hpp.
///
/// Names are unique among layers, parameters, programs, and, by program, steps, tensors and
/// buffers; batch sizes and sample counts agree with the programs that are there.
std::vector<std::string> audit(const Plan& plan);

}  // namespace dtnn::plan
