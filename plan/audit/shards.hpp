#pragma once
/// The auditor's part about parameters that ranks update in parts.

#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn::plan {

/// Bytes that a tensor stands for: one by rank all parts, as many as Target::ranks.
std::int64_t stretch_bytes(const Plan& plan, const Tensor& tensor);

/// Says what is wrong with the plan's shards; empty: nothing. Checked: they and the optimizer fit
/// together; every parameter that is updated is in one of them, and every state of a part belongs
/// to one; the stretch of a shard's parameters is as many equal aligned parts as there are ranks,
/// without overlap; and of each program that updates: the gradients of a shard are added up into
/// parts at the offsets and in the order of its parameters, the own part is updated by one step
/// with the shard's states between that exchange and the one that gathers the parts, and nothing
/// else touches tensors of parts. The plan has been read by read_plan, so its indices are sound.
std::vector<std::string> audit_shards(const Plan& plan);

}  // namespace dtnn::plan
