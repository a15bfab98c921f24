#include "kernels/workspace/matmul.hpp"

#include "kernels/catalogue/predicates.hpp"

namespace dtnn::kernels::predicates {

std::int64_t matmul_scratch(const Problem& problem) {
    return problem.threads * element_bytes(problem) * kMatmulElements;
}

}  // namespace dtnn::kernels::predicates
