#include <cmath>

#include "kernels/cuda/class_rows.hpp"
#include "kernels/cuda/kernel.hpp"

namespace dtnn::kernels::cuda {
namespace {

/// w q of arguments/loss.hpp, and D.
template <class T>
struct ClassShares {
    RowLabels<T> rows;
    const double* weights;
    double smoothing, samples;

    DTNN_DEVICE bool counts(std::int64_t n) const {
        return rows.targets != nullptr || rows.listed(n) >= 0;
    }
    /// 0 in rows that do not count.
    DTNN_DEVICE double at(std::int64_t n, std::int64_t c) const {
        if (!counts(n)) return 0;
        const double t = rows.targets != nullptr ? double(rows.targets[n * rows.classes + c])
                         : c == rows.labels[n]   ? 1.0
                                                 : 0.0;
        const double q = (1 - smoothing) * t + smoothing / double(rows.classes);
        return weights != nullptr ? weights[c] * q : q;
    }
    DTNN_DEVICE bool weighted() const { return rows.targets == nullptr && weights != nullptr; }
    /// The share of a row in the sum that is the divisor D, where D is a sum.
    DTNN_DEVICE double of_divisor(std::int64_t n) const {
        return weighted() && counts(n) ? weights[rows.labels[n]] : 0.0;
    }
    /// Infinity where D is 0, so that all is 0.
    DTNN_DEVICE double divisor(double sum) const {
        if (!weighted()) return samples;
        return sum != 0 ? sum : INFINITY;
    }
};

template <class T>
ClassShares<T> class_shares(const ClassLossArguments<T>& a, const Launch& launch) {
    return {row_labels(a), launch.constant(a.class_weights), a.smoothing, double(a.samples)};
}

/// dst = the sum of share * term(i) over the elements i whose share is not 0, by D.
template <class T, class Term>
void mean_of_shares(const ClassLossArguments<T>& a, const Launch& launch, const Term& term) {
    const ClassShares<T> shares = class_shares(a, launch);
    const std::int64_t classes = a.classes;
    T* const dst = a.dst;
    reduce_all<2>(
        launch, a.samples * classes, reinterpret_cast<Sums<2>*>(a.workspace),
        [=] DTNN_DEVICE(std::int64_t i) {
            const std::int64_t n = i / classes, c = i % classes;
            const double share = shares.at(n, c);
            return Sums<2>{{share != 0 ? share * term(i) : 0.0, c == 0 ? shares.of_divisor(n) : 0}};
        },
        [=] DTNN_DEVICE(const Sums<2>& total) {
            *dst = T(total.of[0] / shares.divisor(total.of[1]));
        });
}

/// D, or null where it is the number of samples.
template <class T>
const double* find_divisor(const ClassLossArguments<T>& a, const ClassShares<T>& shares,
                           const Launch& launch) {
    if (!shares.weighted()) return nullptr;
    auto* const divisor = reinterpret_cast<double*>(a.workspace);
    reduce_all<1>(
        launch, a.samples, reinterpret_cast<Sums<1>*>(divisor + 1),
        [=] DTNN_DEVICE(std::int64_t n) { return Sums<1>{{shares.of_divisor(n)}}; },
        [=] DTNN_DEVICE(const Sums<1>& sum) { *divisor = shares.divisor(sum.of[0]); });
    return divisor;
}

/// diff = slope(i, share) / D, 0 in rows that do not count.
template <class T, class Slope>
void gradient_of_shares(const ClassLossArguments<T>& a, const Launch& launch, const Slope& slope) {
    const ClassShares<T> shares = class_shares(a, launch);
    const double* const divisor = find_divisor(a, shares, launch);
    const std::int64_t classes = a.classes;
    T* const dst = a.dst;
    launch.each(a.samples * classes, [=] DTNN_DEVICE(std::int64_t i) {
        const double share = shares.at(i / classes, i % classes);
        const double d = divisor != nullptr ? *divisor : shares.samples;
        dst[i] = T(share != 0 ? slope(i, share) / d : 0.0);
    });
}

}  // namespace

DTNN_CUDA_KERNEL(categorical_cross_entropy_chunks, CategoricalCrossEntropyArguments) {
    const T* const src = a.src;
    const double epsilon = a.epsilon;
    mean_of_shares(a, launch, [=] DTNN_DEVICE(std::int64_t i) {
        const auto p = double(src[i]);
        return -std::log(p < epsilon ? epsilon : p);
    });
}

DTNN_CUDA_KERNEL(categorical_cross_entropy_backward_each, CategoricalCrossEntropyArguments) {
    const T* const src = a.src;
    const double epsilon = a.epsilon;
    gradient_of_shares(a, launch, [=] DTNN_DEVICE(std::int64_t i, double share) {
        const auto p = double(src[i]);
        return -share / (p < epsilon ? epsilon : p);
    });
}

DTNN_CUDA_KERNEL(negative_log_likelihood_chunks, ClassLossArguments) {
    const T* const src = a.src;
    mean_of_shares(a, launch, [=] DTNN_DEVICE(std::int64_t i) { return -double(src[i]); });
}

DTNN_CUDA_KERNEL(negative_log_likelihood_backward_each, ClassLossArguments) {
    gradient_of_shares(a, launch, [=] DTNN_DEVICE(std::int64_t, double share) { return -share; });
}

/// Sums of each row: of exponentials, of shares, and of shares times distances from the largest.
DTNN_CUDA_KERNEL(softmax_cross_entropy_rows, SoftmaxCrossEntropyArguments) {
    const ClassShares<T> shares = class_shares(a, launch);
    const std::int64_t classes = a.classes;
    auto* const of_row = reinterpret_cast<Sums<2>*>(a.workspace);
    const T* const src = a.src;
    T *const dst = a.dst, *const probabilities = a.probabilities;
    fold_rows<Largest, Sums<3>>(
        launch, a.samples, classes,
        [=] DTNN_DEVICE(std::int64_t n, std::int64_t c) {
            return Largest{double(src[n * classes + c])};
        },
        [=] DTNN_DEVICE(std::int64_t n, std::int64_t c, const Largest& largest) {
            const double distance = double(src[n * classes + c]) - largest.value;
            const double share = shares.at(n, c);
            return Sums<3>{{std::exp(distance), share, share != 0 ? -share * distance : 0.0}};
        },
        [=] DTNN_DEVICE(std::int64_t n, const Largest&, const Sums<3>& sums) {
            const double of_sum = sums.of[1] != 0 ? sums.of[1] * std::log(sums.of[0]) : 0.0;
            of_row[n] = Sums<2>{{of_sum + sums.of[2], shares.of_divisor(n)}};
        },
        [=] DTNN_DEVICE(std::int64_t n, std::int64_t c, const Largest& largest,
                        const Sums<3>& sums) {
            const std::int64_t i = n * classes + c;
            probabilities[i] = T(std::exp(double(src[i]) - largest.value) / sums.of[0]);
        });
    add_rows<2>(launch, a.samples, of_row, [=] DTNN_DEVICE(const Sums<2>& total) {
        *dst = T(total.of[0] / shares.divisor(total.of[1]));
    });
}

DTNN_CUDA_KERNEL(softmax_cross_entropy_backward_rows, ClassLossArguments) {
    const ClassShares<T> shares = class_shares(a, launch);
    const double* const divisor = find_divisor(a, shares, launch);
    const std::int64_t classes = a.classes;
    const T* const src = a.src;
    T* const dst = a.dst;
    sum_rows<1>(
        launch, a.samples, classes,
        [=] DTNN_DEVICE(std::int64_t n, std::int64_t c) { return Sums<1>{{shares.at(n, c)}}; },
        [=] DTNN_DEVICE(std::int64_t, Sums<1>&) {},
        [=] DTNN_DEVICE(std::int64_t n, std::int64_t c, const Sums<1>& all) {
            const std::int64_t i = n * classes + c;
            const double d = divisor != nullptr ? *divisor : shares.samples;
            const double slope = double(src[i]) * all.of[0] - shares.at(n, c);
            dst[i] = T(shares.counts(n) ? slope / d : 0.0);
        });
}

}  // namespace dtnn::kernels::cuda
