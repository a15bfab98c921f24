#pragma once
/// Precision, recall, F1 and intersection over union of counts of classes.

#include <cstdint>
#include <vector>

#include "plan/metrics.hpp"

namespace dtnn::runtime {

using plan::Averaging;

/// Counts of classes, class by class.
struct ClassCounts {
    plan::CountForm form = plan::CountForm::outcomes;
    std::int64_t classes = 0;
    std::vector<std::int64_t> numbers;

    ClassCounts(plan::CountForm form, std::int64_t classes);
    std::int64_t columns() const { return plan::count_columns(form, classes); }
    /// Another row, of samples that have one class each. What is no class does not count.
    void add(std::int64_t label, std::int64_t prediction);
};

/// The rate of each class; 0 where the denominator is (scikit-learn's zero_division=0). One number;
/// per_class: one for each class. macro is the mean over the classes with TP + FP + FN > 0 where
/// samples have one class each, else over all classes, as in scikit-learn.
std::vector<double> rates(const ClassCounts& counts, plan::RateWeights rate, Averaging averaging);

}  // namespace dtnn::runtime
