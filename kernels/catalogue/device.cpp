/// What our own kernels for devices refuse, and the memory that they need (kernels/cuda).

#include <algorithm>

#include "kernels/arguments/elementwise.hpp"
#include "kernels/catalogue/predicates.hpp"
#include "kernels/cuda/chunks.hpp"
#include "kernels/layout.hpp"

namespace dtnn::kernels::predicates {

/// Images lie N,H,W,C, and filters F,KH,KW,C/groups: what tensor cores are fed with.
Refused unless_images_and_filters_suit_device(const Problem& problem) {
    for (const auto* side : {&problem.sources, &problem.destinations}) {
        for (const TensorDesc& tensor : *side)
            if (tensor.dims.size() == 4 && !is_channels_last(tensor))
                return "an image or its filters are not stored channels last";
    }
    return std::nullopt;
}

/// The engines of cuDNN that need more are not chosen: as much as the largest operand, within
/// bounds.
std::int64_t cudnn_workspace(const Problem& problem) {
    constexpr std::int64_t kLeast = std::int64_t{1} << 20, kMost = std::int64_t{1} << 28;
    std::int64_t largest = 0;
    for (const auto* side : {&problem.sources, &problem.destinations})
        for (const TensorDesc& tensor : *side)
            largest = std::max(largest, tensor.bytes());
    return std::clamp(largest, kLeast, kMost);
}

/// What NVIDIA advises for cuBLAS on its newest devices: 32 MiB.
std::int64_t cublas_workspace(const Problem&) {
    return std::int64_t{32} << 20;
}

/// A thread keeps the stack of an expression in registers.
Refused unless_expression_fits_device(const Problem& problem) {
    return unless_expression_is_shallow(problem);
}

/// A double for each chunk of the first source.
std::int64_t device_sums(const Problem& problem) {
    return cuda::sum_chunks_of(problem.sources[0].elements()) * 8;
}

/// A few numbers of one step.
std::int64_t device_numbers(const Problem&) {
    return 64;
}

}  // namespace dtnn::kernels::predicates
