/// What our own kernels for devices refuse, and the memory that they need (kernels/cuda).

#include <algorithm>

#include "kernels/arguments/elementwise.hpp"
#include "kernels/catalogue/predicates.hpp"
#include "kernels/cuda/chunks.hpp"
#include "kernels/layout.hpp"

namespace dtnn::kernels::predicates {

/// A thread keeps the stack of an expression in registers.
Refused unless_expression_fits_device(const Problem& problem) {
    return unless_expression_is_shallow(problem);
}

/// A double for each chunk of the first source.
std::int64_t device_sums(const Problem& problem) {
    return cuda::sum_chunks_of(problem.sources[0].elements()) * 8;
}

/// Two doubles for each chunk of the first source, behind a few numbers of one step.
std::int64_t device_sums_of_update(const Problem& problem) {
    return 2 * device_sums(problem) + device_numbers(problem);
}

/// A double for each chunk of each channel of each sample of the first source.
std::int64_t device_plane_sums(const Problem& problem) {
    const ImageLayout image = image_layout(problem.sources[0]);
    const std::int64_t chunks = cuda::plane_chunks_of(image.height * image.width);
    return chunks > 1 ? image.batch * image.channels * chunks * 8 : 0;
}

/// A few numbers of one step.
std::int64_t device_numbers(const Problem&) {
    return 64;
}

}  // namespace dtnn::kernels::predicates
