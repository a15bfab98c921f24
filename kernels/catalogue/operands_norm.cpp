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
    if (!rule.image_or_matrix(src)) return;
    per_channel(rule, p.sources, 1, 5, src.dims[1]);
    const bool synchronised = p.flag("synchronised");
    rule.require(statistics || !synchronised, "it has no sums of all ranks");
    if (statistics)
        rule.elements(p.sources[5], synchronised ? 2 * src.dims[1] + 1 : 3 * src.dims[1],
                      DType::f64);
    if (residual) rule.shape(p.sources[5u + statistics], src.dims);
    rule.shape(p.destinations[0], src.dims);
    rule.elements(p.destinations[1], src.dims[1], DType::f64);
    per_channel(rule, p.destinations, 2, 5, src.dims[1]);
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
    if (!rule.image_or_matrix(src)) return;
    rule.shape(p.sources[1], src.dims);
    forward_statistics(rule, src.dims[1]);
    if (beta) rule.wide(p.sources[5], src.dims[1]);
    if (mask) rule.elements(p.sources[5], mask_bytes(src), DType::u8);
    rule.shape(p.destinations[0], src.dims);
    per_channel(rule, p.destinations, 1, 3, src.dims[1]);
    if (residual) rule.shape(p.destinations[3], src.dims);
}

void batch_norm_sums(Rule& rule) {
    const Problem& p = rule.problem();
    const bool statistics = p.flag("statistics");
    if (!rule.counts(3u + statistics, 1)) return;
    const TensorDesc& src = p.sources[0];
    if (!rule.image_or_matrix(src)) return;
    rule.wide(p.sources[1], src.dims[1]);
    rule.wide(p.sources[2], 1);
    if (statistics) rule.elements(p.sources[3], 3 * src.dims[1], DType::f64);
    rule.elements(p.destinations[0], 2 * src.dims[1] + 1, DType::f64);
}

void batch_norm_backward_sums(Rule& rule) {
    const Problem& p = rule.problem();
    const bool mask = p.flag("mask");
    const bool beta = p.text("epilogue", "none") == "relu" && !mask;
    if (!rule.counts(6u + beta + mask, 3)) return;
    const TensorDesc& src = p.sources[0];
    if (!rule.image_or_matrix(src)) return;
    rule.shape(p.sources[1], src.dims);
    forward_statistics(rule, src.dims[1]);
    rule.wide(p.sources[5], 1);
    if (beta) rule.wide(p.sources[6], src.dims[1]);
    if (mask) rule.elements(p.sources[6], mask_bytes(src), DType::u8);
    rule.elements(p.destinations[0], 2 * src.dims[1] + 1, DType::f64);
    per_channel(rule, p.destinations, 1, 3, src.dims[1]);
}

void batch_norm_backward_apply(Rule& rule) {
    const Problem& p = rule.problem();
    const bool mask = p.flag("mask"), residual = p.flag("residual");
    const bool beta = p.text("epilogue", "none") == "relu" && !mask;
    if (!rule.counts(7u + beta + mask, 1u + residual)) return;
    const TensorDesc& src = p.sources[0];
    if (!rule.image_or_matrix(src)) return;
    rule.shape(p.sources[1], src.dims);
    forward_statistics(rule, src.dims[1]);
    rule.elements(p.sources[5], 2 * src.dims[1] + 1, DType::f64);
    rule.wide(p.sources[6], 1);
    if (beta) rule.wide(p.sources[7], src.dims[1]);
    if (mask) rule.elements(p.sources[7], mask_bytes(src), DType::u8);
    rule.shape(p.destinations[0], src.dims);
    if (residual) rule.shape(p.destinations[1], src.dims);
}

void batch_norm_inference(Rule& rule) {
    const Problem& p = rule.problem();
    const bool residual = p.flag("residual");
    if (!rule.counts(5u + residual, 1)) return;
    const TensorDesc& src = p.sources[0];
    if (!rule.image_or_matrix(src)) return;
    per_channel(rule, p.sources, 1, 5, src.dims[1]);
    if (residual) rule.shape(p.sources[5], src.dims);
    rule.shape(p.destinations[0], src.dims);
}

void fold_batch_norm(Rule& rule) {
    const Problem& p = rule.problem();
    const bool bias = p.flag("bias");
    if (!rule.counts(5u + bias, 2)) return;
    const TensorDesc& weights = p.sources[0];
    if (!rule.rank(weights, 2, 4)) return;
    const std::int64_t axis = p.integer("axis", weights.dims.size() == 2 ? 1 : 0);
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
    if (!rule.counts(1, 1) || !rule.image_or_matrix(p.sources[0])) return;
    rule.shape(p.destinations[0], p.sources[0].dims);
}

void softmax_backward(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(2, 1) || !rule.image_or_matrix(p.sources[0])) return;
    rule.shape(p.sources[1], p.sources[0].dims);
    rule.shape(p.destinations[0], p.sources[0].dims);
}

}  // namespace dtnn::kernels::operands
