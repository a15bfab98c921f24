#include "kernels/loss.hpp"

#include <cmath>

#include "kernels/cpu/simd.hpp"
#include "kernels/cpu/softmax_row.hpp"
#include "kernels/loss_workspace.hpp"
#include "kernels/thread_team.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// Rows that are worth a thread.
std::int64_t rows_grain(std::int64_t classes) {
    return classes >= 2048 ? 1 : 2048 / classes;
}

/// The mean over the samples of term(n). Every term has its own place and the caller adds them in
/// order, so that the result does not depend on the number of threads.
template <class T, class Term>
DTNN_INLINE void mean_of_rows(const ClassificationArguments<T>& a, ThreadTeam& team, Term term) {
    double* const terms = reinterpret_cast<double*>(a.workspace);
    team.for_ranges(a.samples, rows_grain(a.classes), [&](auto begin, auto end, int) {
        for (std::int64_t n = begin; n < end; ++n)
            terms[n] = term(n);
    });
    double sum = 0;
    for (std::int64_t n = 0; n < a.samples; ++n)
        sum += terms[n];
    *a.dst = T(sum / double(a.samples));
}

template <class T>
bool is_class(const ClassificationArguments<T>& a, std::int64_t n) {
    return a.labels[n] >= 0 && a.labels[n] < a.classes;
}

template <class T>
double probability(const ClassificationArguments<T>& a, std::int64_t n) {
    const double p = is_class(a, n) ? double(a.src[n * a.classes + a.labels[n]]) : 0.0;
    return p > a.epsilon ? p : a.epsilon;
}

}  // namespace

template <class T>
void categorical_cross_entropy_rows(const ClassificationArguments<T>& a, ThreadTeam& team) {
    mean_of_rows(a, team, [&](std::int64_t n) { return -std::log(probability(a, n)); });
}

template <class T>
void categorical_cross_entropy_backward_rows(const ClassificationArguments<T>& a,
                                             ThreadTeam& team) {
    team.for_ranges(a.samples, rows_grain(a.classes), [&](auto begin, auto end, int) {
        for (std::int64_t n = begin; n < end; ++n) {
            const double slope = -1 / (double(a.samples) * probability(a, n));
            T* const row = a.dst + n * a.classes;
            for (std::int64_t c = 0; c < a.classes; ++c)
                row[c] = 0;
            if (is_class(a, n)) row[a.labels[n]] = T(slope);
        }
    });
}

template <class T>
void softmax_cross_entropy_rows(const ClassificationArguments<T>& a, ThreadTeam& team) {
    mean_of_rows(a, team, [&](std::int64_t n) {
        const T* const logits = a.src + n * a.classes;
        const double logit = is_class(a, n) ? double(logits[a.labels[n]]) : 0.0;
        const SoftmaxSums sums = softmax_row(logits, a.probabilities + n * a.classes, a.classes);
        return is_class(a, n) ? std::log(sums.sum) - (logit - sums.largest) : 0.0;
    });
}

template <class T>
void softmax_cross_entropy_backward_rows(const ClassificationArguments<T>& a, ThreadTeam& team) {
    const double scale = 1 / double(a.samples);
    team.for_ranges(a.samples, rows_grain(a.classes), [&](auto begin, auto end, int) {
        for (std::int64_t n = begin; n < end; ++n) {
            const T* const p = a.src + n * a.classes;
            T* const row = a.dst + n * a.classes;
            const bool labelled = is_class(a, n);
            const double mine = labelled ? double(p[a.labels[n]]) : 0.0;
#pragma GCC ivdep
            for (std::int64_t c = 0; c < a.classes; ++c)
                row[c] = T(double(p[c]) * scale);
            if (labelled) row[a.labels[n]] = T((mine - 1) * scale);
        }
    });
}

template <class T>
void negative_log_likelihood_rows(const ClassificationArguments<T>& a, ThreadTeam& team) {
    mean_of_rows(a, team, [&](std::int64_t n) {
        return is_class(a, n) ? -double(a.src[n * a.classes + a.labels[n]]) : 0.0;
    });
}

template <class T>
void negative_log_likelihood_backward_rows(const ClassificationArguments<T>& a, ThreadTeam& team) {
    const T slope = T(-1 / double(a.samples));
    team.for_ranges(a.samples, rows_grain(a.classes), [&](auto begin, auto end, int) {
        for (std::int64_t n = begin; n < end; ++n) {
            T* const row = a.dst + n * a.classes;
            for (std::int64_t c = 0; c < a.classes; ++c)
                row[c] = 0;
            if (is_class(a, n)) row[a.labels[n]] = slope;
        }
    });
}

template <class T>
void categorical_accuracy_rows(const ClassificationArguments<T>& a, ThreadTeam& team) {
    mean_of_rows(a, team, [&](std::int64_t n) {
        const T* const row = a.src + n * a.classes;
        std::int64_t best = 0;
        for (std::int64_t c = 1; c < a.classes; ++c)
            best = row[c] > row[best] ? c : best;
        return best == a.labels[n] ? 1.0 : 0.0;
    });
}

template <class T>
void one_hot_rows(const ClassificationArguments<T>& a, ThreadTeam& team) {
    team.for_ranges(a.samples, rows_grain(a.classes), [&](auto begin, auto end, int) {
        for (std::int64_t n = begin; n < end; ++n) {
            T* const row = a.dst + n * a.classes;
            for (std::int64_t c = 0; c < a.classes; ++c)
                row[c] = 0;
            if (is_class(a, n)) row[a.labels[n]] = 1;
        }
    });
}

template <class T>
void mean_squared_error_chunks(const MeanSquaredErrorArguments<T>& a, ThreadTeam& team) {
    double* const sums = reinterpret_cast<double*>(a.workspace);
    const std::int64_t chunks = mean_squared_error_chunks_of(a.count);
    team.for_ranges(chunks, 1, [&](auto begin, auto end, int) {
        for (std::int64_t chunk = begin; chunk < end; ++chunk) {
            const std::int64_t first = chunk * kMeanSquaredErrorChunk;
            const std::int64_t last =
                a.count < first + kMeanSquaredErrorChunk ? a.count : first + kMeanSquaredErrorChunk;
            double sum = 0;
#pragma omp simd reduction(+ : sum)
            for (std::int64_t i = first; i < last; ++i) {
                const double error = double(a.predictions[i]) - double(a.targets[i]);
                sum += error * error;
            }
            sums[chunk] = sum;
        }
    });
    double total = 0;
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
        total += sums[chunk];
    *a.dst = T(total / double(a.count));
}

template <class T>
void mean_squared_error_backward_chunks(const MeanSquaredErrorArguments<T>& a, ThreadTeam& team) {
    const T scale = T(2 / double(a.count));
    team.for_ranges(a.count, kMeanSquaredErrorChunk, [&](auto begin, auto end, int) {
#pragma GCC ivdep
        for (std::int64_t i = begin; i < end; ++i) {
            a.dst[i] = (a.predictions[i] - a.targets[i]) * scale;
        }
    });
}

DTNN_KERNEL(categorical_cross_entropy_rows, ClassificationArguments)
DTNN_KERNEL(categorical_cross_entropy_backward_rows, ClassificationArguments)
DTNN_KERNEL(softmax_cross_entropy_rows, ClassificationArguments)
DTNN_KERNEL(softmax_cross_entropy_backward_rows, ClassificationArguments)
DTNN_KERNEL(negative_log_likelihood_rows, ClassificationArguments)
DTNN_KERNEL(negative_log_likelihood_backward_rows, ClassificationArguments)
DTNN_KERNEL(categorical_accuracy_rows, ClassificationArguments)
DTNN_KERNEL(one_hot_rows, ClassificationArguments)
DTNN_KERNEL(mean_squared_error_chunks, MeanSquaredErrorArguments)
DTNN_KERNEL(mean_squared_error_backward_chunks, MeanSquaredErrorArguments)

}  // namespace dtnn::kernels::DTNN_ISA
