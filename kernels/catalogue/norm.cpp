#include "kernels/workspace/norm.hpp"

#include "kernels/catalogue/predicates.hpp"
#include "kernels/layout.hpp"

namespace dtnn::kernels::predicates {
namespace {

std::int64_t element_size(const Problem& problem) {
    return problem.dtype == DType::f32 ? 4 : 8;
}

std::int64_t channels_of(const Problem& problem) {
    return problem.sources[0].dims[axis_of(problem).first];
}

}  // namespace

std::int64_t layer_norm_backward_scratch(const Problem& problem) {
    if (!problem.flag("affine")) return 0;
    return layer_norm_backward_bytes(problem.sources[4].elements(), problem.threads);
}

std::int64_t group_norm_scratch(const Problem& problem) {
    return problem.threads *
           group_norm_bytes_of_thread(channels_of(problem), element_size(problem));
}

std::int64_t group_norm_backward_scratch(const Problem& problem) {
    return group_norm_backward_bytes(problem.sources[0].dims[0], channels_of(problem),
                                     element_size(problem), problem.threads);
}

std::int64_t local_response_scratch(const Problem& problem) {
    return problem.threads * element_size(problem) *
           local_response_elements(channels_of(problem), problem.integer("size"));
}

/// One number for every channel of every sample.
std::int64_t number_per_channel_of_sample(const Problem& problem) {
    return problem.sources[0].dims[0] * channels_of(problem) * element_size(problem);
}

}  // namespace dtnn::kernels::predicates
