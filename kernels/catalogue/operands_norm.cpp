/// Normalisation, softmax, and their gradients.

#include "kernels/catalogue/operand_rule.hpp"

namespace dtnn::kernels::operands {
namespace {

void per_channel(Rule& rule, const std::vector<TensorDesc>& tensors, std::size_t begin,
                 std::size_t end, std::int64_t channels) {
    for (std::size_t i = begin; i < end; ++i)
        rule.wide(tensors[i], channels);
}

/// gamma, mean, inverse_deviation: sources 2 to 4 of every gradient of batch norm.
void forward_statistics(Rule& rule, std::int64_t channels) {
    const Problem& p = rule.problem();
    rule.wide(p.sources[2], channels);
    rule.elements(p.sources[3], channels, DType::f64);
    rule.wide(p.sources[4], channels);
}

/// The channels of a tensor of the plan's type; -1: it has none.
std::int64_t channels_of(Rule& rule, const TensorDesc& tensor) {
    rule.type(tensor, rule.problem().dtype);
    const AxisRange axis = axis_of(rule.problem());
    rule.require(channel_layout(tensor, axis).has_value(),
                 "an operand " + text_of(tensor.dims) + " has no channels");
    return rule.broken() ? -1 : tensor.dims[axis.first];
}

std::int64_t mask_bytes(const TensorDesc& tensor) {
    return (tensor.elements() + 7) / 8;
}

}  // namespace

void batch_norm_training(Rule& rule) {
    const Problem& p = rule.problem();
    const bool statistics = p.flag("statistics"), residual = p.flag("residual"),
               mask = p.flag("mask");
    if (!rule.counts(5u + statistics + residual, 5u + mask)) return;
    const TensorDesc& src = p.sources[0];
    const std::int64_t channels = channels_of(rule, src);
    if (rule.broken()) return;
    per_channel(rule, p.sources, 1, 5, channels);
    const bool synchronised = p.flag("synchronised");
    rule.require(statistics || !synchronised, "it has no sums of all ranks");
    if (statistics)
        rule.elements(p.sources[5], synchronised ? 2 * channels + 1 : 3 * channels, DType::f64);
    if (residual) rule.shape(p.sources[5u + statistics], src.dims);
    rule.shape(p.destinations[0], src.dims);
    rule.elements(p.destinations[1], channels, DType::f64);
    per_channel(rule, p.destinations, 2, 5, channels);
    if (mask) rule.elements(p.destinations[5], mask_bytes(src), DType::u8);
    if (has_written_epilogue(p)) written_epilogue(rule, 1);
}

void batch_norm_backward(Rule& rule) {
    const Problem& p = rule.problem();
    const bool mask = p.flag("mask"), residual = p.flag("residual");
    const bool written = has_written_epilogue(p);
    const bool beta = written || (p.text("epilogue", "none") == "relu" && !mask);
    if (!rule.counts(5u + beta + mask, 3u + residual)) return;
    if (written) written_epilogue(rule, 2);
    const TensorDesc& src = p.sources[0];
    const std::int64_t channels = channels_of(rule, src);
    if (rule.broken()) return;
    rule.shape(p.sources[1], src.dims);
    forward_statistics(rule, channels);
    if (beta) rule.wide(p.sources[5], channels);
    if (mask) rule.elements(p.sources[5], mask_bytes(src), DType::u8);
    rule.shape(p.destinations[0], src.dims);
    per_channel(rule, p.destinations, 1, 3, channels);
    if (residual) rule.shape(p.destinations[3], src.dims);
}

void batch_norm_sums(Rule& rule) {
    const Problem& p = rule.problem();
    const bool statistics = p.flag("statistics");
    if (!rule.counts(3u + statistics, 1)) return;
    const TensorDesc& src = p.sources[0];
    const std::int64_t channels = channels_of(rule, src);
    if (rule.broken()) return;
    rule.wide(p.sources[1], channels);
    rule.wide(p.sources[2], 1);
    if (statistics) rule.elements(p.sources[3], 3 * channels, DType::f64);
    rule.elements(p.destinations[0], 2 * channels + 1, DType::f64);
}

void batch_norm_backward_sums(Rule& rule) {
    const Problem& p = rule.problem();
    const bool mask = p.flag("mask");
    const bool beta = p.text("epilogue", "none") == "relu" && !mask;
    if (!rule.counts(6u + beta + mask, 3)) return;
    const TensorDesc& src = p.sources[0];
    const std::int64_t channels = channels_of(rule, src);
    if (rule.broken()) return;
    rule.shape(p.sources[1], src.dims);
    forward_statistics(rule, channels);
    rule.wide(p.sources[5], 1);
    if (beta) rule.wide(p.sources[6], channels);
    if (mask) rule.elements(p.sources[6], mask_bytes(src), DType::u8);
    rule.elements(p.destinations[0], 2 * channels + 1, DType::f64);
    per_channel(rule, p.destinations, 1, 3, channels);
}

void batch_norm_backward_apply(Rule& rule) {
    const Problem& p = rule.problem();
    const bool mask = p.flag("mask"), residual = p.flag("residual");
    const bool beta = p.text("epilogue", "none") == "relu" && !mask;
    if (!rule.counts(7u + beta + mask, 1u + residual)) return;
    const TensorDesc& src = p.sources[0];
    const std::int64_t channels = channels_of(rule, src);
    if (rule.broken()) return;
    rule.shape(p.sources[1], src.dims);
    forward_statistics(rule, channels);
    rule.elements(p.sources[5], 2 * channels + 1, DType::f64);
    rule.wide(p.sources[6], 1);
    if (beta) rule.wide(p.sources[7], channels);
    if (mask) rule.elements(p.sources[7], mask_bytes(src), DType::u8);
    rule.shape(p.destinations[0], src.dims);
    if (residual) rule.shape(p.destinations[1], src.dims);
}

void batch_norm_inference(Rule& rule) {
    const Problem& p = rule.problem();
    const bool residual = p.flag("residual");
    if (!rule.counts(5u + residual, 1)) return;
    const TensorDesc& src = p.sources[0];
    const std::int64_t channels = channels_of(rule, src);
    if (rule.broken()) return;
    per_channel(rule, p.sources, 1, 5, channels);
    if (residual) rule.shape(p.sources[5], src.dims);
    rule.shape(p.destinations[0], src.dims);
}

void fold_batch_norm(Rule& rule) {
    const Problem& p = rule.problem();
    const bool bias = p.flag("bias");
    if (!rule.counts(5u + bias, 2)) return;
    const TensorDesc& weights = p.sources[0];
    const std::int64_t axis = p.integer("axis", 0);
    rule.require(axis >= 0 && axis < std::int64_t(weights.dims.size()),
                 "its weights have no axis " + std::to_string(axis));
    if (rule.broken()) return;
    const std::int64_t channels = weights.dims[std::size_t(axis)];
    rule.shape(p.destinations[0], weights.dims);
    rule.type(weights, p.dtype);
    rule.same_place(p.destinations[0], weights);
    per_channel(rule, p.sources, 1, 5u + bias, channels);
    rule.elements(p.destinations[1], channels);
}

void softmax(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(1, 1)) return;
    rule.type(p.sources[0], p.dtype);
    rule.shape(p.destinations[0], p.sources[0].dims);
    if (!rule.broken()) rule.lines(axis_of(p), {&p.sources[0], &p.destinations[0]});
}

void softmax_backward(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(2, 1)) return;
    rule.type(p.sources[0], p.dtype);
    rule.shape(p.sources[1], p.sources[0].dims);
    rule.shape(p.destinations[0], p.sources[0].dims);
    if (!rule.broken()) rule.lines(axis_of(p), {&p.sources[0], &p.sources[1], &p.destinations[0]});
}

namespace {

/// `part` is `whole` without the axis.
void without_axis(Rule& rule, const TensorDesc& whole, const TensorDesc& part) {
    const AxisRange axis = axis_of(rule.problem());
    rule.type(whole, rule.problem().dtype);
    if (!rule.lines(axis, {&whole})) return;
    Dims wanted = whole.dims;
    wanted.erase(wanted.begin() + std::ptrdiff_t(axis.first));
    rule.shape(part, wanted);
    if (rule.broken()) return;
    const TensorDesc placed = with_axis(part, axis.first);
    rule.lines(axis, {&whole, &placed});
    rule.require(whole.dims[axis.first] > 0, "there is no mean of nothing");
}

}  // namespace

void mean(Rule& rule) {
    if (!rule.counts(1, 1)) return;
    without_axis(rule, rule.problem().sources[0], rule.problem().destinations[0]);
}

void mean_backward(Rule& rule) {
    if (!rule.counts(1, 1)) return;
    without_axis(rule, rule.problem().destinations[0], rule.problem().sources[0]);
}

}  // namespace dtnn::kernels::operands
