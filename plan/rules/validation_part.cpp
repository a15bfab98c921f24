#include "plan/rules/validation_part.hpp"

#include <algorithm>
#include <cmath>

namespace dtnn::plan {

std::int64_t share_of(std::int64_t samples, double share) {
    return std::int64_t(std::floor(double(samples) * share + 1e-7));
}

ValidationPart validation_part(std::int64_t samples, const Training& training) {
    const std::int64_t folds = training.k_folds;
    if (folds < 1 || samples < 0) return {0, share_of(samples, training.validation_split)};
    const std::int64_t fold = std::clamp<std::int64_t>(training.fold, 1, folds);
    const auto begin = [&](std::int64_t number) {
        return samples / folds * number + std::min(number, samples % folds);
    };
    return {begin(fold - 1), begin(fold) - begin(fold - 1)};
}

}  // namespace dtnn::plan
