/// The sums that metrics are made of, and labels as rows.

#include "kernels/cpu/class_rows.hpp"

namespace dtnn::kernels::DTNN_ISA {

DTNN_KERNEL(categorical_accuracy_rows, AccuracyArguments) {
    *a.sum = sum_of_rows(a, team, a.samples, a.classes, [&](std::int64_t n) {
        const T* const row = a.src + n * a.classes;
        const std::int64_t best = first_largest(row, a.classes);
        return best == label_of(a, n) && row[best] == row[best] ? 1.0 : 0.0;
    });
}

DTNN_KERNEL(top_k_accuracy_rows, TopKAccuracyArguments) {
    *a.sum = sum_of_rows(a, team, a.samples, a.classes, [&](std::int64_t n) {
        const std::int64_t label = label_of(a, n);
        if (label < 0) return 0.0;
        const T* const row = a.src + n * a.classes;
        const T mine = row[label];
        std::int64_t before = 0;
        for (std::int64_t c = 0; c < a.classes; ++c)
            before += row[c] > mine || (row[c] == mine && c < label) ? 1 : 0;
        return before < a.k && mine == mine ? 1.0 : 0.0;
    });
}

DTNN_KERNEL(class_pairs_rows, ClassPairsArguments) {
    team.for_pieces(a.samples, rows_grain(a.classes), [&](auto begin, auto end, int) {
        for (std::int64_t n = begin; n < end; ++n) {
            a.pairs[2 * n] = std::int32_t(label_of(a, n));
            a.pairs[2 * n + 1] = std::int32_t(first_largest(a.src + n * a.classes, a.classes));
        }
    });
}

DTNN_KERNEL(label_counts_rows, LabelCountsArguments) {
    constexpr std::int64_t kOutcomes = 4, kGrain = 64;
    const T threshold = T(a.threshold);
    team.for_pieces(a.classes, kGrain, [&](auto begin, auto end, int) {
        for (std::int64_t i = kOutcomes * begin; i < kOutcomes * end; ++i)
            a.counts[i] = 0;
        for (std::int64_t n = 0; n < a.samples; ++n)
            for (std::int64_t c = begin; c < end; ++c) {
                const int predicted = a.src[n * a.classes + c] > threshold ? 1 : 0;
                const int wanted = a.targets[n * a.classes + c] > T(0.5) ? 2 : 0;
                ++a.counts[kOutcomes * c + wanted + predicted];
            }
    });
}

DTNN_KERNEL(label_weights_rows, LabelWeightsArguments) {
    const double* const weights = a.class_weights.data();
    double sum = 0;
    for (std::int64_t n = 0; n < a.samples; ++n) {
        const std::int64_t label = label_of(a, n);
        if (label >= 0) sum += weights[label];
    }
    *a.sum = sum;
}

DTNN_KERNEL(one_hot_rows, OneHotArguments) {
    team.for_pieces(a.samples, rows_grain(a.classes), [&](auto begin, auto end, int) {
        for (std::int64_t n = begin; n < end; ++n) {
            T* const row = a.dst + n * a.classes;
            for (std::int64_t c = 0; c < a.classes; ++c)
                row[c] = 0;
            const std::int64_t label = label_of(a, n);
            if (label >= 0) row[label] = 1;
        }
    });
}

DTNN_KERNEL(scale_classes_rows, ScaleClassesArguments) {
    const double* const weights = a.class_weights.data();
    const double* const offsets = a.offsets.data();
    team.for_pieces(a.samples, rows_grain(a.classes), [&](auto begin, auto end, int) {
        for (std::int64_t n = begin; n < end; ++n)
            for (std::int64_t c = 0; c < a.classes; ++c)
                a.dst[n * a.classes + c] =
                    T(double(a.src[n * a.classes + c]) * weights[c] + offsets[c]);
    });
}

}  // namespace dtnn::kernels::DTNN_ISA
