/// What the convolution and dense kernels refuse and need.

#include "kernels/arguments/conv2d.hpp"

#include "kernels/catalogue/predicates.hpp"
#include "kernels/workspace/conv.hpp"

namespace dtnn::kernels::predicates {
namespace {

RowsWorkspace rows_forward(const Problem& problem) {
    const ConvShape s = conv_shape(problem);
    return {s,
            s.channels,
            s.filters,
            s.out_height,
            s.out_width,
            element_bytes(problem),
            problem.threads};
}

RowsWorkspace rows_backward_data(const Problem& problem) {
    const ConvShape s = conv_shape(problem);
    return {s, s.filters, s.channels, s.height, s.width, element_bytes(problem), problem.threads};
}

}  // namespace

Refused unless_convolution_is_channels_last(const Problem& problem) {
    if (channels_last(problem)) return std::nullopt;
    return "it needs images stored channels last and weights with the filters last";
}

Refused unless_padded_rows_suit(const Problem& problem) {
    if (auto reason = unless_convolution_is_channels_last(problem)) return reason;
    const char* refusal = rows_forward(problem).refusal;
    return refusal ? Refused(refusal) : std::nullopt;
}

std::int64_t conv2d_padded_rows_workspace(const Problem& problem) {
    return rows_forward(problem).bytes;
}

Refused unless_padded_rows_suit_backward(const Problem& problem) {
    if (auto reason = unless_convolution_is_channels_last(problem)) return reason;
    const char* refusal = rows_backward_data(problem).refusal;
    return refusal ? Refused(refusal) : std::nullopt;
}

std::int64_t conv2d_backward_data_padded_rows_workspace(const Problem& problem) {
    return rows_backward_data(problem).bytes;
}

Refused unless_padded_rows_suit_weights(const Problem& problem) {
    if (auto reason = unless_convolution_is_channels_last(problem)) return reason;
    const char* refusal =
        RowsOuterWorkspace(conv_shape(problem), element_bytes(problem), problem.threads).refusal;
    return refusal ? Refused(refusal) : std::nullopt;
}

std::int64_t conv2d_backward_weights_padded_rows_workspace(const Problem& problem) {
    return RowsOuterWorkspace(conv_shape(problem), element_bytes(problem), problem.threads).bytes;
}

std::int64_t conv2d_direct_workspace(const Problem& problem) {
    const ConvShape s = conv_shape(problem);
    return GatherWorkspace(s, s.group_channels(), s.group_filters(), element_bytes(problem),
                           problem.threads, problem.flag("statistics"))
        .bytes;
}

std::int64_t conv2d_backward_data_direct_workspace(const Problem& problem) {
    const ConvShape s = conv_shape(problem);
    return GatherWorkspace(s, s.group_filters(), s.group_channels(), element_bytes(problem),
                           problem.threads, false)
        .bytes;
}

std::int64_t conv2d_backward_weights_direct_workspace(const Problem& problem) {
    return OuterWorkspace(conv_shape(problem), element_bytes(problem), problem.threads).bytes;
}

std::int64_t dense_direct_workspace(const Problem& problem) {
    const ConvShape s = dense_shape(problem);
    return GatherWorkspace(s, s.channels, s.filters, element_bytes(problem), problem.threads, false)
        .bytes;
}

std::int64_t dense_backward_data_direct_workspace(const Problem& problem) {
    const ConvShape s = dense_shape(problem);
    return GatherWorkspace(s, s.filters, s.channels, element_bytes(problem), problem.threads, false)
        .bytes;
}

std::int64_t dense_backward_weights_direct_workspace(const Problem& problem) {
    return OuterWorkspace(dense_shape(problem), element_bytes(problem), problem.threads).bytes;
}

namespace {

/// Below this the weights stay in the caches, where "direct" is as fast or faster.
constexpr std::int64_t kBlisWeightBytes = std::int64_t{8} << 20;

Refused unless_blis_pays(const Problem& problem, bool forward) {
    const ConvShape s = dense_shape(problem);
    if (s.weight_elements() * element_bytes(problem) < kBlisWeightBytes) {
        return "it pays from 8 MiB of weights on";
    }
    if (s.batch < 16) return "it pays from 16 samples on";
    const std::int64_t width = forward ? s.filters : s.channels;
    if ((width + kBlisSlab - 1) / kBlisSlab < problem.threads) {
        return "it has " + std::to_string(kBlisSlab) + (forward ? " units" : " inputs") +
               " a thread at least";
    }
    return std::nullopt;
}

}  // namespace

Refused unless_blis_pays_forward(const Problem& problem) {
    return unless_blis_pays(problem, true);
}

Refused unless_blis_pays_backward(const Problem& problem) {
    return unless_blis_pays(problem, false);
}

std::int64_t dense_backward_data_blis_workspace(const Problem& problem) {
    if (!problem.flag("mask")) return 0;
    return problem.threads * blis_slab_bytes(dense_shape(problem), element_bytes(problem));
}

}  // namespace dtnn::kernels::predicates
