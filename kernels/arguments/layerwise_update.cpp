#include "kernels/arguments/layerwise_update.hpp"

namespace dtnn::kernels {

bool is_adaptive(const Problem& problem) {
    if (!problem.attributes.contains("adaptive")) throw MissingAttribute(problem.op, "adaptive");
    return problem.flag("adaptive");
}

double lars_ratio(double trust_coefficient, double weights_norm, double divisor) {
    return weights_norm > 0 && divisor > 0 ? trust_coefficient * weights_norm / divisor : 1;
}

double lamb_ratio(double weights_norm, double change_norm) {
    return weights_norm > 0 && change_norm > 0 ? weights_norm / change_norm : 1;
}

}  // namespace dtnn::kernels
