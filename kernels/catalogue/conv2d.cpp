/// What the convolution and dense kernels refuse and need.

#include "kernels/conv2d.hpp"

#include "kernels/catalogue/predicates.hpp"
#include "kernels/conv_workspace.hpp"

namespace dtnn::kernels::predicates {
namespace {

std::int64_t element_bytes(const Problem& problem) {
    return problem.dtype == DType::f64 ? 8 : 4;
}

}  // namespace

Refused unless_channels_last(const Problem& problem) {
    if (channels_last(problem)) return std::nullopt;
    return "it needs images stored channels last and weights with the filters last";
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

}  // namespace dtnn::kernels::predicates
