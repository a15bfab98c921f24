/// Refusals and needs of the depthwise convolution kernels.

#include "kernels/workspace/depthwise.hpp"

#include "kernels/catalogue/predicates.hpp"

namespace dtnn::kernels::predicates {

Refused unless_depthwise(const Problem& problem) {
    if (auto reason = unless_convolution_is_channels_last(problem)) return reason;
    const char* refusal = depthwise_refusal(conv_shape(problem));
    return refusal ? Refused(refusal) : std::nullopt;
}

std::int64_t depthwise_workspace(const Problem& problem) {
    return DepthwiseWorkspace(conv_shape(problem), element_bytes(problem), problem.threads,
                              problem.flag("statistics"))
        .bytes;
}

std::int64_t depthwise_outer_workspace(const Problem& problem) {
    return DepthwiseOuterWorkspace(conv_shape(problem), element_bytes(problem), problem.threads)
        .bytes;
}

}  // namespace dtnn::kernels::predicates
