#include "kernels/arguments/loss.hpp"

#include <cmath>

#include "kernels/cpu/class_rows.hpp"
#include "kernels/cpu/softmax_row.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// The weight of a row: w q of each class. Plain rows have a label and nothing else.
template <class T>
struct Shares {
    const ClassLossArguments<T>& a;
    const double* weights;
    double of_label, of_all;
    bool plain;
    double divisor;

    DTNN_INLINE explicit Shares(const ClassLossArguments<T>& arguments)
        : a(arguments),
          weights(a.class_weights.empty() ? nullptr : a.class_weights.data()),
          of_label(1 - a.smoothing),
          of_all(a.smoothing / double(a.classes > 0 ? a.classes : 1)),
          plain(a.labels && a.smoothing == 0 && !weights),
          divisor(double(a.samples)) {
        if (!weights || !a.labels) return;
        divisor = 0;
        for (std::int64_t n = 0; n < a.samples; ++n) {
            const std::int64_t label = label_of(a, n);
            if (label >= 0) divisor += weights[label];
        }
    }
    /// 0 when nothing counts.
    DTNN_INLINE double scale() const { return divisor != 0 ? 1 / divisor : 0; }
    DTNN_INLINE bool counts(std::int64_t row) const { return a.targets || label_of(a, row) >= 0; }
    DTNN_INLINE double of(std::int64_t row, std::int64_t c) const {
        const double t =
            a.targets ? double(a.targets[row * a.classes + c]) : (a.labels[row] == c ? 1.0 : 0.0);
        return (weights ? weights[c] : 1.0) * (of_label * t + of_all);
    }
    /// The sum of share * term(c) over those classes of a row that have a share.
    template <class Term>
    DTNN_INLINE double sum(std::int64_t row, Term term) const {
        double result = 0;
        for (std::int64_t c = 0; c < a.classes; ++c) {
            const double share = of(row, c);
            if (share != 0) result += share * term(c);
        }
        return result;
    }
};

/// loss = sum over rows and classes of share * term(row, c) / D.
template <class T, class Term>
DTNN_INLINE void loss_of_classes(const ClassLossArguments<T>& a, ThreadTeam& team, Term term) {
    const Shares<T> shares(a);
    const double sum = sum_of_rows(a, team, a.samples, a.classes, [&](std::int64_t n) {
        if (!shares.counts(n)) return 0.0;
        if (shares.plain) return term(n, std::int64_t(a.labels[n]));
        return shares.sum(n, [&](std::int64_t c) { return term(n, c); });
    });
    *a.dst = T(sum * shares.scale());
}

/// diff = share * slope(row, c) / D.
template <class T, class Slope>
DTNN_INLINE void gradient_of_classes(const ClassLossArguments<T>& a, ThreadTeam& team,
                                     Slope slope) {
    const Shares<T> shares(a);
    const double scale = shares.scale();
    team.for_pieces(a.samples, rows_grain(a.classes), [&](auto begin, auto end, int) {
        for (std::int64_t n = begin; n < end; ++n) {
            T* const row = a.dst + n * a.classes;
            if (shares.plain || !shares.counts(n)) {
                const std::int64_t label = label_of(a, n);
                const double mine = label >= 0 ? slope(n, label) * scale : 0.0;
                for (std::int64_t c = 0; c < a.classes; ++c)
                    row[c] = 0;
                if (label >= 0) row[label] = T(mine);
                continue;
            }
            for (std::int64_t c = 0; c < a.classes; ++c) {
                const double share = shares.of(n, c);
                row[c] = share != 0 ? T(share * slope(n, c) * scale) : T(0);
            }
        }
    });
}

template <class T>
DTNN_INLINE double probability(const CategoricalCrossEntropyArguments<T>& a, std::int64_t n,
                               std::int64_t c) {
    const double p = double(a.src[n * a.classes + c]);
    return p < a.epsilon ? a.epsilon : p;
}

}  // namespace

DTNN_KERNEL(categorical_cross_entropy_rows, CategoricalCrossEntropyArguments) {
    loss_of_classes(
        a, team, [&](std::int64_t n, std::int64_t c) { return -std::log(probability(a, n, c)); });
}

DTNN_KERNEL(categorical_cross_entropy_backward_rows, CategoricalCrossEntropyArguments) {
    gradient_of_classes(a, team,
                        [&](std::int64_t n, std::int64_t c) { return -1 / probability(a, n, c); });
}

DTNN_KERNEL(softmax_cross_entropy_rows, SoftmaxCrossEntropyArguments) {
    const Shares<T> shares(a);
    // The probabilities may overwrite the logits: what these add is taken first.
    const double sum = sum_of_rows(a, team, a.samples, a.classes, [&](std::int64_t n) {
        const T* const logits = a.src + n * a.classes;
        T* const result = a.probabilities + n * a.classes;
        const bool counts = shares.counts(n);
        if (shares.plain) {
            const double logit = counts ? double(logits[a.labels[n]]) : 0.0;
            const SoftmaxSums sums = softmax_row(logits, result, a.classes);
            return counts ? std::log(sums.sum) - (logit - sums.largest) : 0.0;
        }
        const double largest = double(logits[first_largest(logits, a.classes)]);
        double all = 0, terms = 0;
        for (std::int64_t c = 0; c < a.classes && counts; ++c) {
            const double share = shares.of(n, c);
            if (share != 0) terms += share * (double(logits[c]) - largest);
            all += share;
        }
        const SoftmaxSums sums = softmax_row(logits, result, a.classes);
        return counts ? all * std::log(sums.sum) - terms : 0.0;
    });
    *a.dst = T(sum * shares.scale());
}

DTNN_KERNEL(softmax_cross_entropy_backward_rows, ClassLossArguments) {
    const Shares<T> shares(a);
    const double scale = shares.scale();
    team.for_pieces(a.samples, rows_grain(a.classes), [&](auto begin, auto end, int) {
        for (std::int64_t n = begin; n < end; ++n) {
            const T* const p = a.src + n * a.classes;
            T* const row = a.dst + n * a.classes;
            if (!shares.counts(n)) {
                for (std::int64_t c = 0; c < a.classes; ++c)
                    row[c] = 0;
            } else if (shares.plain) {
                const double mine = double(p[a.labels[n]]);
#pragma GCC ivdep
                for (std::int64_t c = 0; c < a.classes; ++c)
                    row[c] = T(double(p[c]) * scale);
                row[a.labels[n]] = T((mine - 1) * scale);
            } else {
                const double all = shares.sum(n, [](std::int64_t) { return 1.0; });
                for (std::int64_t c = 0; c < a.classes; ++c)
                    row[c] = T((double(p[c]) * all - shares.of(n, c)) * scale);
            }
        }
    });
}

DTNN_KERNEL(negative_log_likelihood_rows, ClassLossArguments) {
    loss_of_classes(
        a, team, [&](std::int64_t n, std::int64_t c) { return -double(a.src[n * a.classes + c]); });
}

DTNN_KERNEL(negative_log_likelihood_backward_rows, ClassLossArguments) {
    gradient_of_classes(a, team, [](std::int64_t, std::int64_t) { return -1.0; });
}

}  // namespace dtnn::kernels::DTNN_ISA
