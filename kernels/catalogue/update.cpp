#include "kernels/workspace/update.hpp"

#include "kernels/catalogue/predicates.hpp"

namespace dtnn::kernels::predicates {

/// Refuses updates that may be skipped. On the CPU none is: gradients have no loss scale.
Refused unless_always_updated(const Problem& problem) {
    if (problem.flag("skips")) return "it has no version that leaves weights as they are";
    return std::nullopt;
}

std::int64_t number_per_chunk(const Problem& problem) {
    return norm_chunks_of(problem.sources[0].elements()) * 8;
}

std::int64_t two_numbers_per_chunk(const Problem& problem) {
    return 2 * number_per_chunk(problem);
}

}  // namespace dtnn::kernels::predicates
