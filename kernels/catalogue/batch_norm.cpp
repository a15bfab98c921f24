#include "kernels/workspace/batch_norm.hpp"

#include "kernels/catalogue/predicates.hpp"
#include "kernels/layout.hpp"

namespace dtnn::kernels::predicates {

std::int64_t batch_norm_scratch(const Problem& problem) {
    const AxisView view = views_of(axis_of(problem), problem.sources[0])[0];
    return batch_norm_workspace(view.extent * view.inner, problem.dtype == DType::f32 ? 4 : 8,
                                problem.threads);
}

/// The expression, if any, as elementwise takes it.
Refused unless_flat_batch_norm(const Problem& problem) {
    if (Refused refused = unless_channels_are_dense(problem)) return refused;
    return unless_epilogue_is_shallow(problem);
}

/// One scale per output channel, of which there are as many as gammas.
std::int64_t fold_batch_norm_scratch(const Problem& problem) {
    return problem.sources[1].elements() * 8;
}

}  // namespace dtnn::kernels::predicates
