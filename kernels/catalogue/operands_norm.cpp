/// Normalisation, softmax, and their gradients.

#include "kernels/arguments/rank_moments.hpp"
#include "kernels/catalogue/operand_rule.hpp"

namespace dtnn::kernels::operands {
namespace {

/// The channels of a tensor of the plan's type; -1: it has none.
std::int64_t channels_of(Rule& rule, const TensorType& tensor) {
    rule.type(tensor, rule.problem().dtype);
    const AxisRange axis = axis_of(rule.problem());
    rule.require(channel_layout(tensor, axis).has_value(),
                 "an operand " + text_of(tensor.dims) + " has no channels");
    return rule.broken() ? -1 : tensor.dims[axis.first];
}

/// What an operand of batch norm is follows from its name, whichever operator it is of. `terms`:
/// how many numbers its epilogue may be an expression over; 0: it cannot be one.
void batch_norm_with(Rule& rule, int terms) {
    const Problem& p = rule.problem();
    const TensorType& src = rule.first_source();
    const std::int64_t channels = channels_of(rule, src);
    if (rule.broken()) return;
    for (const char* name : {"dst", "residual", "diff_dst", "diff_src", "diff_residual"})
        rule.shape(rule.operand(name), src.dims);
    for (const char* name :
         {"gamma", "beta", "running_mean", "running_variance", "inverse_deviation",
          "new_running_mean", "new_running_variance", "diff_gamma", "diff_beta"})
        rule.wide(rule.operand(name), channels);
    rule.elements(rule.operand("mean"), channels, DType::f64);
    rule.elements(rule.operand("sums"), 2 * channels + 1, DType::f64);
    rule.elements(rule.operand("moments"), RankMoments::elements(channels), DType::f64);
    rule.wide(rule.operand("batch_weight"), 1);
    const TensorType* statistics = rule.operand("statistics");
    const bool synchronised = p.flag("synchronised");
    rule.require(statistics != nullptr || !synchronised, "it has no sums of all ranks");
    rule.elements(statistics, synchronised ? RankMoments::elements(channels) : 3 * channels,
                  DType::f64);
    rule.elements(rule.operand("mask"), (src.elements() + 7) / 8, DType::u8);
    if (!has_written_epilogue(p)) return;
    rule.require(terms > 0, "its epilogue cannot be an expression");
    written_epilogue(rule, terms);
}

}  // namespace

void batch_norm(Rule& rule) {
    batch_norm_with(rule, 0);
}

void batch_norm_training(Rule& rule) {
    batch_norm_with(rule, 1);
}

void batch_norm_backward(Rule& rule) {
    batch_norm_with(rule, 2);
}

void fold_batch_norm(Rule& rule) {
    const Problem& p = rule.problem();
    const TensorType& weights = p.sources[0];
    const std::int64_t axis = p.integer("axis", 0);
    rule.require(axis >= 0 && axis < std::int64_t(weights.dims.size()),
                 "its weights have no axis " + std::to_string(axis));
    if (rule.broken()) return;
    const std::int64_t channels = weights.dims[std::size_t(axis)];
    rule.type(weights, p.dtype);
    rule.alike(rule.first_result(), weights);
    for (std::size_t i = 1; i < p.sources.size(); ++i)
        rule.wide(p.sources[i], channels);
    rule.elements(p.destinations[1], channels);
}

/// All operands are of one shape, with lines along the axis.
void softmax(Rule& rule) {
    for (const TensorType* tensor : rule.all())
        rule.shape(tensor, rule.first_source().dims);
    if (!rule.broken()) rule.lines(axis_of(rule.problem()), rule.all());
}

namespace {

/// `part` is `whole` without the axis.
void without_axis(Rule& rule, const TensorType& whole, const TensorType& part) {
    const AxisRange axis = axis_of(rule.problem());
    rule.type(whole, rule.problem().dtype);
    if (!rule.lines(axis, {&whole})) return;
    Dims wanted = whole.dims;
    wanted.erase(wanted.begin() + std::ptrdiff_t(axis.first));
    rule.shape(part, wanted);
    if (rule.broken()) return;
    const TensorType placed = with_axis(part, axis.first);
    rule.lines(axis, {&whole, &placed});
    rule.require(whole.dims[axis.first] > 0, "there is no mean of nothing");
}

}  // namespace

void mean(Rule& rule) {
    without_axis(rule, rule.first_source(), rule.first_result());
}

void mean_backward(Rule& rule) {
    without_axis(rule, rule.first_result(), rule.first_source());
}

}  // namespace dtnn::kernels::operands
