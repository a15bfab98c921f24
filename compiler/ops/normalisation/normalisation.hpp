#pragma once
/// The parts of layer_norm and group_norm that both share: normalisation within a sample, so the
/// same in training and inference, with one learned scale `gamma` and shift `beta` where `affine`
/// is true.

#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// The fields `epsilon` and `affine`.
Field epsilon_field();
Field affine_field();

using ParameterDims = Dims (*)(const Type& input, const Attributes&);
/// gamma (ones) and beta (zeros), there when the attribute `affine` is true.
using ParameterView = Type (*)(const Type& input, const Attributes&);
ParameterRule gamma_rule(ParameterDims dims, ParameterView view = nullptr);
ParameterRule beta_rule(ParameterDims dims, ParameterView view = nullptr);

/// Sets `epsilon` and `affine` when they are absent; fails unless operand 0 has a batch and
/// features and gamma and beta are there exactly when `affine` says so.
bool expect_normalisation(ShapeContext& c, const char* op);
/// The same for the backward operator: src, diff_dst, mean, inverse_deviation, [gamma].
bool expect_normalisation_backward(ShapeContext& c, const char* op, const Dims& statistics);
/// The results: operand 0's type and, with the attribute `statistics`, mean and inverse deviation.
void normalisation_results(ShapeContext& c, const Dims& statistics);
/// diff_src and, with gamma, diff_gamma and diff_beta stored like it.
void normalisation_backward_results(ShapeContext& c);

/// Emits `backward` on (src, diff, mean, inverse_deviation, [gamma]) with the attributes named.
void emit_normalisation_backward(GradientContext& g, const char* backward,
                                 std::initializer_list<const char*> attributes);

/// Sets `axis` when it is absent and, for values that are neither images nor rows, replaces it by
/// `axes`: the numbers of the logical axes over which layer_norm normalises together.
void settle_layer_norm_axes(ShapeContext& c);
/// The attribute of layer_norm whose mean is 0 and which has no beta: rms_norm.
inline constexpr const char* kUncentred = "uncentred";
/// Both of them, and checks what they read.
void settle_layer_norm(ShapeContext& c);
/// Their field `axis`.
Field layer_norm_axis_field();
/// layer_norm's parameters: a number for each place along the axes that are normalised together.
Dims layer_norm_parameter_dims(const Type& input, const Attributes& attributes);
/// Where these are several axes, the parameter has those of the input, with one place along the
/// others: a batch of one sample, stored as samples are.
Type layer_norm_parameter(const Type& input, const Attributes& attributes);
/// layer_norm's statistics: one for each place along the other axes.
Dims layer_norm_statistics(const Type& input, const Attributes& attributes);
/// Fails unless operand i is such a parameter.
bool expect_layer_norm_parameter(ShapeContext& c, const char* op, std::size_t i);

/// Fails unless `groups` divides operand 0's channels.
bool expect_groups(ShapeContext& c);
Dims group_norm_statistics(ShapeContext& c);

}  // namespace dtnn::compiler
