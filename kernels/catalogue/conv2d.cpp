/// Refusals and workspaces of the convolution and dense kernels.

#include "kernels/arguments/conv2d.hpp"

#include "kernels/catalogue.hpp"
#include "kernels/catalogue/predicates.hpp"
#include "kernels/packed_weights.hpp"
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

constexpr const char* kPacked = "its weights are packed";

/// The block that "direct" reads the weights in.
std::int64_t block_of_direct(const Problem& problem, std::int64_t filters) {
    return gather_block(filters, element_bytes(problem), vector_bytes(problem)).columns();
}

/// The filters of a convolution, or the units of a dense layer.
std::int64_t filters_of(const Problem& problem) {
    const Dims& dims = problem.destinations[0].dims;
    return problem.op == "dense" ? dims.back() : dims[1];
}

}  // namespace

Refused unless_packed_for_another(const Problem& problem) {
    const std::int64_t block = packed_block(problem);
    if (block == 0 || block == block_of_direct(problem, filters_of(problem))) return std::nullopt;
    return "its weights are packed for another kernel";
}

Refused unless_weights_and_images_suit(const Problem& problem) {
    if (auto reason = unless_packed_for_another(problem)) return reason;
    if (auto reason = unless_epilogue_is_shallow(problem)) return reason;
    if (packed_block(problem) > 0 ? images_channels_last(problem) : channels_last(problem))
        return std::nullopt;
    return "it needs images stored channels last and weights with the filters last";
}

Refused unless_weights_are_plain(const Problem& problem) {
    if (has_written_epilogue(problem)) return "its end is an expression";
    return packed_block(problem) > 0 ? Refused(kPacked) : std::nullopt;
}

Refused unless_convolution_is_channels_last(const Problem& problem) {
    if (packed_block(problem) > 0) return kPacked;
    if (auto reason = unless_epilogue_is_shallow(problem)) return reason;
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
    const ConvShape s = conv_shape(problem);
    if (s.stride_height != 1 || s.stride_width != 1) return "it has only stride 1";
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
                           problem.threads, problem.flag("statistics"), packed_block(problem) > 0)
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
    return GatherWorkspace(s, s.channels, s.filters, element_bytes(problem), problem.threads, false,
                           packed_block(problem) > 0)
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

Refused blis_slower(const Problem& problem, bool forward) {
    if (problem.isa >= Isa::avx512) return "with avx512 `direct` is mostly faster";
    const ConvShape s = dense_shape(problem);
    if (s.weight_elements() * element_bytes(problem) < kBlisWeightBytes) {
        return "it pays from 8 MiB of weights on";
    }
    if (s.batch < 16) return "it pays from 16 samples on";
    const std::int64_t width = forward ? s.filters : s.channels;
    if ((width + kBlisSlab - 1) / kBlisSlab < problem.threads) {
        return "it pays from " + std::to_string(kBlisSlab) + (forward ? " units" : " inputs") +
               " a thread on";
    }
    return std::nullopt;
}

}  // namespace

Refused blis_slower_forward(const Problem& problem) {
    return blis_slower(problem, true);
}

Refused blis_slower_backward(const Problem& problem) {
    return blis_slower(problem, false);
}

std::int64_t dense_backward_data_blis_workspace(const Problem& problem) {
    if (!problem.flag("mask")) return 0;
    return problem.threads * blis_slab_bytes(dense_shape(problem), element_bytes(problem));
}

}  // namespace dtnn::kernels::predicates

namespace dtnn::kernels {

std::int64_t wanted_block(const KernelInfo& kernel, const Problem& problem) {
    const bool packs = kernel.workspace == &predicates::conv2d_direct_workspace ||
                       kernel.workspace == &predicates::dense_direct_workspace;
    if (!packs || packed_block(problem) > 0) return 0;
    if (problem.op == "conv2d" && problem.integer("groups") != 1) return 0;
    return predicates::block_of_direct(problem, predicates::filters_of(problem));
}

}  // namespace dtnn::kernels
