/// Refusals and workspaces of the convolution and dense kernels.

#include "kernels/arguments/conv2d.hpp"

#include "kernels/catalogue.hpp"
#include "kernels/catalogue/predicates.hpp"
#include "kernels/packed_weights.hpp"
#include "kernels/workspace/conv.hpp"
#include "kernels/workspace/few_rows.hpp"

namespace dtnn::kernels::predicates {
namespace {

/// Calls visit with the workspace of padded_rows for what the problem makes.
template <class Visit>
auto of_rows(const Problem& problem, const Visit& visit) {
    const ConvShape s = conv_shape(problem);
    const std::int64_t bytes = element_bytes(problem);
    const int threads = problem.threads;
    switch (side_of(problem)) {
        case ProductSide::backward_data:
            return visit(
                RowsWorkspace(s, s.filters, s.channels, s.height, s.width, bytes, threads));
        case ProductSide::backward_weights:
            return visit(RowsOuterWorkspace(s, bytes, threads));
        case ProductSide::forward:
            break;
    }
    return visit(
        RowsWorkspace(s, s.channels, s.filters, s.out_height, s.out_width, bytes, threads));
}

constexpr const char* kPacked = "its weights are packed";

/// The block that "direct" reads the weights in.
std::int64_t block_of_direct(const Problem& problem) {
    const std::int64_t filters = product_shape(problem).filters;
    return gather_block(filters, element_bytes(problem), vector_bytes(problem)).columns();
}

}  // namespace

Refused unless_packed_for_another(const Problem& problem) {
    const std::int64_t block = packed_block(problem);
    if (block == 0 || block == block_of_direct(problem)) return std::nullopt;
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
    const ConvShape s = conv_shape(problem);
    if (side_of(problem) == ProductSide::backward_data &&
        (s.stride_height != 1 || s.stride_width != 1))
        return "it has only stride 1";
    const char* refusal = of_rows(problem, [](const auto& rows) { return rows.refusal; });
    return refusal ? Refused(refusal) : std::nullopt;
}

std::int64_t padded_rows_workspace(const Problem& problem) {
    return of_rows(problem, [](const auto& rows) { return rows.bytes; });
}

std::int64_t direct_workspace(const Problem& problem) {
    const ConvShape s = product_shape(problem);
    const std::int64_t bytes = element_bytes(problem);
    switch (side_of(problem)) {
        case ProductSide::backward_data:
            return GatherWorkspace(s, s.group_filters(), s.group_channels(), bytes, problem.threads,
                                   false)
                .bytes;
        case ProductSide::backward_weights:
            return OuterWorkspace(s, bytes, problem.threads).bytes;
        case ProductSide::forward:
            break;
    }
    return GatherWorkspace(s, s.group_channels(), s.group_filters(), bytes, problem.threads,
                           problem.flag("statistics"), packed_block(problem) > 0)
        .bytes;
}

namespace {

/// Below this the weights stay in the caches, where "direct" is as fast or faster.
constexpr std::int64_t kBlisWeightBytes = std::int64_t{8} << 20;
constexpr std::int64_t kFewRowsWeightBytes = std::int64_t{256} << 10;

}  // namespace

Refused blis_slower(const Problem& problem) {
    if (problem.isa >= Isa::avx512) return "with avx512 `direct` is mostly faster";
    const ConvShape s = dense_shape(problem);
    if (s.weight_elements() * element_bytes(problem) < kBlisWeightBytes) {
        return "it pays from 8 MiB of weights on";
    }
    if (s.batch < 16) return "it pays from 16 samples on";
    const bool forward = side_of(problem) == ProductSide::forward;
    const std::int64_t width = forward ? s.filters : s.channels;
    if ((width + kBlisSlab - 1) / kBlisSlab < problem.threads) {
        return "it pays from " + std::to_string(kBlisSlab) + (forward ? " units" : " inputs") +
               " a thread on";
    }
    return std::nullopt;
}

Refused unless_few_rows(const Problem& problem) {
    if (auto reason = unless_weights_are_plain(problem)) return reason;
    if (dense_shape(problem).batch <= kFewRows) return std::nullopt;
    return "it is for at most " + std::to_string(kFewRows) + " rows";
}

Refused few_rows_slower(const Problem& problem) {
    if (dense_shape(problem).weight_elements() * element_bytes(problem) >= kFewRowsWeightBytes)
        return std::nullopt;
    return "it pays from 256 KiB of weights on";
}

std::int64_t few_rows_workspace(const Problem& problem) {
    const ConvShape s = dense_shape(problem);
    return kFewRowsParts * s.batch * s.filters * element_bytes(problem);
}

std::int64_t dense_backward_data_blis_workspace(const Problem& problem) {
    if (!problem.flag("mask")) return 0;
    return problem.threads * blis_slab_bytes(dense_shape(problem), element_bytes(problem));
}

}  // namespace dtnn::kernels::predicates

namespace dtnn::kernels {

std::int64_t wanted_block(const KernelInfo& kernel, const Problem& problem) {
    const bool packs =
        side_of(problem) == ProductSide::forward && problem.integer("groups", 1) == 1;
    if (!packs || kernel.workspace != &predicates::direct_workspace || packed_block(problem) > 0)
        return 0;
    return predicates::block_of_direct(problem);
}

}  // namespace dtnn::kernels
