#include "kernels/loss.hpp"

#include <cmath>

#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {
namespace {

template <class T>
bool is_class(const ClassificationArguments<T>& a, std::int64_t n) {
    return a.labels[n] >= 0 && a.labels[n] < a.classes;
}

/// The probability of a sample's class, at least epsilon.
template <class T>
double probability(const ClassificationArguments<T>& a, std::int64_t n) {
    const double p = is_class(a, n) ? double(a.src[n * a.classes + a.labels[n]]) : 0.0;
    return p > a.epsilon ? p : a.epsilon;
}

}  // namespace

template <class T>
void categorical_cross_entropy_reference(const ClassificationArguments<T>& a, ThreadTeam&) {
    double sum = 0;
    for (std::int64_t n = 0; n < a.samples; ++n)
        sum -= std::log(probability(a, n));
    *a.dst = T(sum / double(a.samples));
}

template <class T>
void categorical_cross_entropy_backward_reference(const ClassificationArguments<T>& a,
                                                  ThreadTeam&) {
    for (std::int64_t n = 0; n < a.samples; ++n) {
        const double slope = -1 / (double(a.samples) * probability(a, n));
        for (std::int64_t c = 0; c < a.classes; ++c) {
            a.dst[n * a.classes + c] = c == a.labels[n] ? T(slope) : T(0);
        }
    }
}

template <class T>
void softmax_cross_entropy_reference(const ClassificationArguments<T>& a, ThreadTeam&) {
    double loss = 0;
    for (std::int64_t n = 0; n < a.samples; ++n) {
        const T* const logits = a.src + n * a.classes;
        T largest = logits[0];
        for (std::int64_t c = 1; c < a.classes; ++c) {
            if (logits[c] > largest) largest = logits[c];
        }
        double sum = 0;
        for (std::int64_t c = 0; c < a.classes; ++c) {
            sum += std::exp(double(logits[c]) - double(largest));
        }
        if (is_class(a, n)) {
            loss += std::log(sum) - (double(logits[a.labels[n]]) - double(largest));
        }
        for (std::int64_t c = 0; c < a.classes; ++c) {
            a.probabilities[n * a.classes + c] =
                T(std::exp(double(logits[c]) - double(largest)) / sum);
        }
    }
    *a.dst = T(loss / double(a.samples));
}

template <class T>
void softmax_cross_entropy_backward_reference(const ClassificationArguments<T>& a, ThreadTeam&) {
    for (std::int64_t n = 0; n < a.samples; ++n) {
        for (std::int64_t c = 0; c < a.classes; ++c) {
            const std::int64_t at = n * a.classes + c;
            a.dst[at] = T((double(a.src[at]) - (c == a.labels[n] ? 1.0 : 0.0)) / double(a.samples));
        }
    }
}

template <class T>
void negative_log_likelihood_reference(const ClassificationArguments<T>& a, ThreadTeam&) {
    double sum = 0;
    for (std::int64_t n = 0; n < a.samples; ++n) {
        if (is_class(a, n)) sum -= double(a.src[n * a.classes + a.labels[n]]);
    }
    *a.dst = T(sum / double(a.samples));
}

template <class T>
void negative_log_likelihood_backward_reference(const ClassificationArguments<T>& a, ThreadTeam&) {
    for (std::int64_t n = 0; n < a.samples; ++n) {
        for (std::int64_t c = 0; c < a.classes; ++c)
            a.dst[n * a.classes + c] = c == a.labels[n] ? T(-1 / double(a.samples)) : T(0);
    }
}

template <class T>
void categorical_accuracy_reference(const ClassificationArguments<T>& a, ThreadTeam&) {
    std::int64_t right = 0;
    for (std::int64_t n = 0; n < a.samples; ++n) {
        std::int64_t best = 0;
        for (std::int64_t c = 1; c < a.classes; ++c) {
            if (a.src[n * a.classes + c] > a.src[n * a.classes + best]) best = c;
        }
        if (best == a.labels[n]) ++right;
    }
    *a.dst = T(double(right) / double(a.samples));
}

template <class T>
void one_hot_reference(const ClassificationArguments<T>& a, ThreadTeam&) {
    for (std::int64_t n = 0; n < a.samples; ++n) {
        for (std::int64_t c = 0; c < a.classes; ++c) {
            a.dst[n * a.classes + c] = c == a.labels[n] ? T(1) : T(0);
        }
    }
}

template <class T>
void mean_squared_error_reference(const MeanSquaredErrorArguments<T>& a, ThreadTeam&) {
    double sum = 0;
    for (std::int64_t i = 0; i < a.count; ++i) {
        const double error = double(a.predictions[i]) - double(a.targets[i]);
        sum += error * error;
    }
    *a.dst = T(sum / double(a.count));
}

template <class T>
void mean_squared_error_backward_reference(const MeanSquaredErrorArguments<T>& a, ThreadTeam&) {
    for (std::int64_t i = 0; i < a.count; ++i) {
        a.dst[i] = T(2 * (double(a.predictions[i]) - double(a.targets[i])) / double(a.count));
    }
}

DTNN_REFERENCE(categorical_cross_entropy, ClassificationArguments)
DTNN_REFERENCE(categorical_cross_entropy_backward, ClassificationArguments)
DTNN_REFERENCE(softmax_cross_entropy, ClassificationArguments)
DTNN_REFERENCE(softmax_cross_entropy_backward, ClassificationArguments)
DTNN_REFERENCE(negative_log_likelihood, ClassificationArguments)
DTNN_REFERENCE(negative_log_likelihood_backward, ClassificationArguments)
DTNN_REFERENCE(categorical_accuracy, ClassificationArguments)
DTNN_REFERENCE(one_hot, ClassificationArguments)
DTNN_REFERENCE(mean_squared_error, MeanSquaredErrorArguments)
DTNN_REFERENCE(mean_squared_error_backward, MeanSquaredErrorArguments)

}  // namespace dtnn::kernels::reference
