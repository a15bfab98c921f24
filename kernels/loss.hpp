#pragma once
/// Losses, their gradients, and the metric that goes with them. Matrices are [N,C], row-major. N
/// samples:
///
///     categorical_cross_entropy      loss = -1/N sum log(max(p[n, label], epsilon))
///       backward                     diff[n, c] = c == label ? -1 / (N max(p[n, label], epsilon))
///       : 0
///     softmax_cross_entropy          p = softmax(logits); loss = 1/N sum (log sum exp(logits - m)
///     - (logits[label] - m))
///       backward                     diff[n, c] = (p[n, c] - (c == label)) / N
///     negative_log_likelihood        loss = -1/N sum log_probabilities[n, label]
///       backward                     diff[n, c] = c == label ? -1 / N : 0
///     mean_squared_error             loss = 1/E sum (prediction - target)^2 over all E elements
///       backward                     diff = 2 (prediction - target) / E
///     categorical_accuracy           share of rows whose first largest prediction is the label
///     one_hot                        dst[n, c] = c == label
///
/// A label outside [0, C) belongs to no class: it adds log(epsilon) or nothing to a loss, and is
/// never right. diff may be probabilities or predictions.

#include "kernels/arguments.hpp"

namespace dtnn::kernels {

template <class T>
struct ClassificationArguments {
    std::int64_t samples = 0, classes = 0;
    double epsilon = 0;
    const T* src = nullptr;  ///< (log-)probabilities, logits, predictions; null for one_hot
    const std::int32_t* labels = nullptr;
    T* dst = nullptr;            ///< the loss, the accuracy, the gradient or the rows of one_hot
    T* probabilities = nullptr;  ///< softmax_cross_entropy's second result
    std::byte* workspace = nullptr;

    static ClassificationArguments bind(const Problem&, Sources, Destinations, Workspace);
};

template <class T>
struct MeanSquaredErrorArguments {
    std::int64_t count = 0;
    const T *predictions = nullptr, *targets = nullptr;
    T* dst = nullptr;  ///< the loss, or the gradient
    std::byte* workspace = nullptr;

    static MeanSquaredErrorArguments bind(const Problem&, Sources, Destinations, Workspace);
};

}  // namespace dtnn::kernels
