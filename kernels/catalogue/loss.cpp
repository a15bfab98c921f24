#include "kernels/workspace/loss.hpp"

#include "kernels/catalogue/predicates.hpp"

namespace dtnn::kernels::predicates {

std::int64_t double_per_sample(const Problem& problem) {
    return problem.sources[0].dims[0] * 8;
}

std::int64_t double_per_chunk(const Problem& problem) {
    return elementwise_mean_chunks_of(problem.sources[0].elements()) * 8;
}

}  // namespace dtnn::kernels::predicates
