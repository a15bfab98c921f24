#include "kernels/catalogue/predicates.hpp"
#include "kernels/layout.hpp"
#include "kernels/workspace/ctc.hpp"

namespace dtnn::kernels::predicates {

std::int64_t double_per_sample(const Problem& problem) {
    return class_rows(problem, problem.sources[0]).rows * 8;
}

std::int64_t ctc_scratch(const Problem& problem) {
    const auto [samples, room] = label_sequences(problem);
    return (samples + problem.threads * ctc_rows(room)) * 8;
}

std::int64_t ctc_backward_scratch(const Problem& problem) {
    const ClassRows rows = class_rows(problem, problem.sources[0]);
    const std::int64_t room = label_sequences(problem).room;
    return problem.threads * ctc_backward_rows(room, problem.integer("steps"), rows.classes) * 8;
}

std::int64_t label_error_scratch(const Problem& problem) {
    const auto [samples, room] = label_sequences(problem);
    return samples * 8 + problem.threads * label_changes(room);
}

}  // namespace dtnn::kernels::predicates
