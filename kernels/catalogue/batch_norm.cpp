#include "kernels/workspace/batch_norm.hpp"

#include "kernels/catalogue/predicates.hpp"

namespace dtnn::kernels::predicates {

std::int64_t batch_norm_scratch(const Problem& problem) {
    return batch_norm_workspace(problem.sources[0].dims[1], problem.dtype == DType::f32 ? 4 : 8,
                                problem.threads);
}

/// The expression, if any, as elementwise takes it.
Refused unless_flat_batch_norm(const Problem& problem) {
    if (Refused refused = unless_stored_channels_last(problem)) return refused;
    return unless_epilogue_is_shallow(problem);
}

Refused unless_device_batch_norm(const Problem& problem) {
    if (Refused refused = unless_stored_channels_last(problem)) return refused;
    if (has_written_epilogue(problem)) return "its end is an expression";
    return std::nullopt;
}

/// One scale per output channel, of which there are as many as gammas.
std::int64_t fold_batch_norm_scratch(const Problem& problem) {
    return problem.sources[1].elements() * 8;
}

}  // namespace dtnn::kernels::predicates
