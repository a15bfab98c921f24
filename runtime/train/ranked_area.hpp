#pragma once
/// The area under the ROC curve.

#include <cstdint>
#include <span>

#include "runtime/train/class_counts.hpp"

namespace dtnn::runtime {

/// Which scores [rows, classes] belong to a row's own class.
struct Answers {
    std::span<const std::int32_t> labels;        ///< a class for each row; or
    std::span<const std::uint8_t> of_each = {};  ///< [rows, classes], 1: yes
    std::int64_t classes = 1;

    std::int64_t rows() const;
    bool at(std::int64_t row, std::int64_t c) const;
};

/// The share of pairs (a score of a yes, one of a no) in which the yes has the greater score, ties
/// counting half: the area under the curve's trapezoids, exactly. macro: the mean over the classes
/// that have both; micro: of all (row, class) together. Not a number when there is no such pair, or
/// when a score that takes part is NaN.
double ranked_area(std::span<const float> scores, const Answers& answers, Averaging averaging);
double ranked_area(std::span<const double> scores, const Answers& answers, Averaging averaging);

}  // namespace dtnn::runtime
