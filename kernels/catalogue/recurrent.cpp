#include "kernels/workspace/recurrent.hpp"

#include "kernels/catalogue/predicates.hpp"

namespace dtnn::kernels::predicates {
namespace {

/// Of weights [units, columns].
std::int64_t forward_scratch(const Problem& problem, std::int64_t parts) {
    const std::int64_t units = problem.destinations[0].dims[2];
    return element_bytes(problem) * (recurrent_panels(units, parts * units) +
                                     problem.threads * recurrent_rows(parts, units));
}

std::int64_t backward_scratch(const Problem& problem, std::int64_t parts) {
    const std::int64_t units = problem.destinations[0].dims[2] / parts;
    return element_bytes(problem) * (recurrent_panels(parts * units, units) +
                                     problem.threads * recurrent_backward_rows(units));
}

}  // namespace

std::int64_t rnn_scratch(const Problem& problem) {
    return forward_scratch(problem, kRnnParts);
}
std::int64_t lstm_scratch(const Problem& problem) {
    return forward_scratch(problem, kLstmParts);
}
std::int64_t gru_scratch(const Problem& problem) {
    return forward_scratch(problem, kGruParts);
}
std::int64_t rnn_backward_scratch(const Problem& problem) {
    return backward_scratch(problem, kRnnParts);
}
std::int64_t lstm_backward_scratch(const Problem& problem) {
    return backward_scratch(problem, kLstmParts);
}
std::int64_t gru_backward_scratch(const Problem& problem) {
    return backward_scratch(problem, kGruParts);
}

}  // namespace dtnn::kernels::predicates
