#include "kernels/workspace/attention.hpp"

#include "kernels/arguments/attention.hpp"
#include "kernels/catalogue/predicates.hpp"

namespace dtnn::kernels::predicates {

std::int64_t attention_scratch(const Problem& problem) {
    return problem.threads * element_bytes(problem) *
           attention_elements(AttentionSizes(problem).width);
}

std::int64_t attention_backward_scratch(const Problem& problem) {
    return problem.threads * element_bytes(problem) *
           attention_backward_elements(AttentionSizes(problem).width);
}

}  // namespace dtnn::kernels::predicates
