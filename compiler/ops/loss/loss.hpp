#pragma once
/// The parts that losses and metrics share. A loss is the root of differentiation: its gradient
/// rule takes the gradient of the loss as 1 and never reads diff(0), so the differentiator needs no
/// constant to start from.

#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

inline constexpr const char* kMetricIsFlat = "a metric: constant almost everywhere";

/// Fails unless operand 0 is [N,C] and operand 1 is i32 [N] or of operand 0's type: a class for
/// each row, or a share of each class.
bool expect_rows_and_labels(ShapeContext& c, const char* op);
/// Fails unless operand 0 is a list of labels, i32.
bool expect_labels(ShapeContext& c, const char* op);
/// Fails unless there are as many `class_weights` as classes; none are needed unless `needed`.
bool expect_class_weights(ShapeContext& c, const char* op, std::int64_t classes,
                          bool needed = false);
/// Empty when there are none.
std::vector<double> class_weights(const Attributes& attributes);
/// One scalar of operand 0's dtype.
void result_scalar(ShapeContext& c);
/// One scalar in f64: a sum over the batch.
void result_sum(ShapeContext& c);

/// The gradient rule of a loss over rows: the operator `backward` with the same attributes, over
/// predictions and labels.
std::function<void(GradientContext&)> gradient_by_rows(const char* backward, const char* diff);

/// Operations for each number of operand 0.
std::function<std::int64_t(const std::vector<Type>&, const std::vector<Type>&, const Attributes&)>
flops_per_number(std::int64_t count);

}  // namespace dtnn::compiler
