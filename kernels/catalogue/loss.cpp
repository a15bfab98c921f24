#include "kernels/catalogue/predicates.hpp"
#include "kernels/layout.hpp"

namespace dtnn::kernels::predicates {

std::int64_t double_per_sample(const Problem& problem) {
    return class_rows(problem, problem.sources[0]).rows * 8;
}

}  // namespace dtnn::kernels::predicates
