#include <algorithm>
#include <cmath>

#include "kernels/arguments/loss.hpp"
#include "kernels/reference/class_rows.hpp"
#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {
DTNN_REFERENCE(categorical_accuracy, AccuracyArguments) {
    *a.sum = 0;
    for (std::int64_t n = 0; n < a.samples; ++n) {
        const std::int64_t best = first_largest(a.src + n * a.classes, a.classes);
        if (best == label_of(a, n) && !std::isnan(a.src[n * a.classes + best])) *a.sum += 1;
    }
}

DTNN_REFERENCE(top_k_accuracy, TopKAccuracyArguments) {
    *a.sum = 0;
    for (std::int64_t n = 0; n < a.samples; ++n) {
        const std::int64_t label = label_of(a, n);
        const T* const row = a.src + n * a.classes;
        if (label < 0 || std::isnan(row[label])) continue;
        std::int64_t before = 0;
        for (std::int64_t c = 0; c < a.classes; ++c)
            if (row[c] > row[label] || (row[c] == row[label] && c < label)) ++before;
        if (before < a.k) *a.sum += 1;
    }
}

DTNN_REFERENCE(class_pairs, ClassPairsArguments) {
    for (std::int64_t n = 0; n < a.samples; ++n) {
        a.pairs[2 * n] = std::int32_t(label_of(a, n));
        a.pairs[2 * n + 1] = std::int32_t(first_largest(a.src + n * a.classes, a.classes));
    }
}

DTNN_REFERENCE(label_counts, LabelCountsArguments) {
    std::fill(a.counts, a.counts + 4 * a.classes, 0);
    for (std::int64_t n = 0; n < a.samples; ++n)
        for (std::int64_t c = 0; c < a.classes; ++c) {
            const bool predicted = a.src[n * a.classes + c] > T(a.threshold);
            const bool wanted = a.targets[n * a.classes + c] > T(0.5);
            ++a.counts[4 * c + (wanted ? 2 : 0) + (predicted ? 1 : 0)];
        }
}

DTNN_REFERENCE(label_weights, LabelWeightsArguments) {
    *a.sum = 0;
    for (std::int64_t n = 0; n < a.samples; ++n)
        if (label_of(a, n) >= 0) *a.sum += a.class_weights[std::size_t(a.labels[n])];
}

DTNN_REFERENCE(label_share, LabelShareArguments) {
    double sum = 0;
    for (std::int64_t n = 0; n < a.samples; ++n)
        if (label_of(a, n) >= 0) sum += a.class_weights[std::size_t(a.labels[n])];
    *a.share = T(double(*a.batch_weight) * sum / double(a.samples));
}

DTNN_REFERENCE(one_hot, OneHotArguments) {
    for (std::int64_t n = 0; n < a.samples; ++n)
        for (std::int64_t c = 0; c < a.classes; ++c)
            a.dst[n * a.classes + c] = c == a.labels[n] ? T(1) : T(0);
}

DTNN_REFERENCE(scale_classes, ScaleClassesArguments) {
    for (std::int64_t n = 0; n < a.samples; ++n)
        for (std::int64_t c = 0; c < a.classes; ++c)
            a.dst[n * a.classes + c] =
                T(double(a.src[n * a.classes + c]) * a.class_weights[std::size_t(c)] +
                  a.offsets[std::size_t(c)]);
}

}  // namespace dtnn::kernels::reference
