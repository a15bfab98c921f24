#pragma once
/// A plan's step as the kernels see it.

#include <string>

#include "kernels/problem.hpp"
#include "plan/plan.hpp"

namespace dtnn::runtime {

/// The problem of `step`: its operands' shapes, its attributes, the target's threads and
/// instruction set. The plan has been audited and its isa is known.
kernels::Problem problem_of(const plan::Plan& plan, const plan::Program& program,
                            const plan::Step& step);

/// "program `train`, step 41 `conv2/conv2d_backward_weights` (conv2d_backward_weights of layer
/// `conv2`, specs/models/lenet.yaml:9)": a step in a message. `number` counts from 0 over prologue
/// and steps.
std::string describe_step(const plan::Plan& plan, const plan::Program& program, int number,
                          const plan::Step& step);

}  // namespace dtnn::runtime
