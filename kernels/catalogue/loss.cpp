#include "kernels/catalogue/predicates.hpp"

namespace dtnn::kernels::predicates {

std::int64_t double_per_sample(const Problem& problem) {
    return problem.sources[0].dims[0] * 8;
}

}  // namespace dtnn::kernels::predicates
