#pragma once
/// Precision, recall, F1 and intersection over union of counts of classes.

#include <cstdint>
#include <span>
#include <vector>

#include "plan/metrics.hpp"

namespace dtnn::runtime {

using plan::Averaging;

/// Numbers of a class where samples have any number of classes: true negatives, false positives,
/// false negatives, true positives.
inline constexpr std::int64_t kOutcomes = 4;

/// The rate of each class; 0 where the denominator is (scikit-learn's zero_division=0).
///
/// `counts` is the confusion matrix [classes, classes], labels by predictions, or with `multiple`
/// [classes, 4]. One number; per_class: one for each class. macro is the mean over the classes with
/// TP + FP + FN > 0 of a confusion matrix, over all classes of `multiple`, as in scikit-learn.
std::vector<double> rates(std::span<const std::int64_t> counts, std::int64_t classes, bool multiple,
                          plan::RateWeights rate, Averaging averaging);

}  // namespace dtnn::runtime
