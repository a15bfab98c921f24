#pragma once
/// The part of the training samples that is kept for validation.

#include <cstdint>

#include "plan/plan.hpp"

namespace dtnn::plan {

/// A share of some samples, as it is always rounded: 0.29 of 100 samples are 29, though the product
/// is 28.999...
std::int64_t share_of(std::int64_t samples, double share);

/// Places in the permutation of the training samples (runtime/data/sampler.hpp).
struct ValidationPart {
    std::int64_t first = 0;
    std::int64_t count = 0;
};

/// Of `samples` training samples those that the training keeps: by `validation_split` the first of
/// them, by `k_folds` the fold that is chosen, 1 where none is. Folds are all of the samples, each
/// in one of them, and their sizes differ by one at most.
ValidationPart validation_part(std::int64_t samples, const Training& training);

}  // namespace dtnn::plan
