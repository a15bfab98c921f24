#pragma once
/// The parts of the graph around the optimizer: gradients as the graph's outputs, states beside
/// parameters, inputs of one number.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/rewriting.hpp"

namespace dtnn::compiler {

/// A parameter of the graph under construction and its gradient.
struct Gradient {
    Parameter parameter;
    ValueId value;
};

/// The operator that makes of the sums of squares (plan::kSquareSum) the factor of all gradients,
/// and the name of that output; made by clip_gradients.
inline constexpr const char* kGradientScale = "gradient_scale";

/// The output that is the sum of the labels' weights (label_weights), where they have any; made by
/// attach_loss.
inline constexpr const char* kLossWeight = "loss_weight";

/// The output that is the batch's share of an update by these weights (label_share): backward
/// begins with it in place of batch_weight, it is added up as gradients are, and clip_gradients
/// divides by the sum. Made by differentiate, gone when the update is there.
inline constexpr const char* kBatchShare = "batch_share";

/// Whether a batch is one of several of an update: of other ranks, or accumulated.
bool shares_update(const PassContext& context);

/// The gradients among the old graph's outputs, in the order of the parameters; `others` gets the
/// outputs that are none.
std::vector<Gradient> gradients_of(Rewriter& r, std::vector<GraphOutput>& others);

/// The name of the output by which differentiate hands a parameter's gradient to attach_update.
std::string gradient_output(const std::string& parameter);

/// How gradients of so many bytes, in the order in which they are finished, are put into buckets:
/// for each bucket the index behind its last gradient. A bucket has at most `bucket_bytes`, or one
/// gradient. The last one, whose exchange nothing hides, has at most a quarter of that, unless one
/// bucket is enough for all.
std::vector<std::size_t> bucket_ends(std::span<const std::int64_t> bytes,
                                     std::int64_t bucket_bytes);

/// The parameter that holds the moving average of another.
Parameter average_of(const Parameter& parameter);

/// A value that persists beside a parameter, of its dims, layer and place: "w.velocity" for the
/// role "velocity". Zeros.
Parameter state_beside(const Parameter& parameter, const char* role, plan::ParameterKind kind);

/// Whether the loss is multiplied by a number before it is differentiated, so that gradients of 16
/// bits do not vanish; and the state that holds it, which is added when there is none.
bool scales_loss(const PassContext& context);
ValueId loss_scale(Rewriter& r, const PassContext& context);
/// The state that counts the updates since it changed.
ValueId loss_scale_updates(Rewriter& r);

bool has_parameter(const Graph& graph, const std::string& name);

/// The sum over all ranks of a value that is no gradient of parameters, by an exchange of its own
/// ("statistics", which the schedule keeps apart from the buckets).
ValueId all_reduced(Rewriter& r, ValueId value, const std::string& collective, Origin place = {});

/// The input of that role; added when there is none.
ValueId input_of(Rewriter& r, plan::InputRole role, const Type& type);

}  // namespace dtnn::compiler
