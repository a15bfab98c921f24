#include "kernels/catalogue/predicates.hpp"

namespace dtnn::kernels::predicates {

/// A row of the sequence for each thread.
std::int64_t row_of_thread(const Problem& problem) {
    return problem.threads * problem.sources[0].dims.back() * element_bytes(problem);
}

}  // namespace dtnn::kernels::predicates
