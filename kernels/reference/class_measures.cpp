#include <algorithm>
#include <cmath>

#include "kernels/arguments/loss.hpp"
#include "kernels/reference/class_rows.hpp"
#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {
template <class T>
void categorical_accuracy_reference(const AccuracyArguments<T>& a, ThreadTeam&) {
    *a.sum = 0;
    for (std::int64_t n = 0; n < a.samples; ++n) {
        const std::int64_t best = first_largest(a.src + n * a.classes, a.classes);
        if (best == label_of(a, n) && !std::isnan(a.src[n * a.classes + best])) *a.sum += 1;
    }
}

template <class T>
void top_k_accuracy_reference(const TopKAccuracyArguments<T>& a, ThreadTeam&) {
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

template <class T>
void class_pairs_reference(const ClassPairsArguments<T>& a, ThreadTeam&) {
    for (std::int64_t n = 0; n < a.samples; ++n) {
        a.pairs[2 * n] = std::int32_t(label_of(a, n));
        a.pairs[2 * n + 1] = std::int32_t(first_largest(a.src + n * a.classes, a.classes));
    }
}

template <class T>
void label_counts_reference(const LabelCountsArguments<T>& a, ThreadTeam&) {
    std::fill(a.counts, a.counts + 4 * a.classes, 0);
    for (std::int64_t n = 0; n < a.samples; ++n)
        for (std::int64_t c = 0; c < a.classes; ++c) {
            const bool predicted = a.src[n * a.classes + c] > T(a.threshold);
            const bool wanted = a.targets[n * a.classes + c] > T(0.5);
            ++a.counts[4 * c + (wanted ? 2 : 0) + (predicted ? 1 : 0)];
        }
}

template <class T>
void label_weights_reference(const LabelWeightsArguments<T>& a, ThreadTeam&) {
    *a.sum = 0;
    for (std::int64_t n = 0; n < a.samples; ++n)
        if (label_of(a, n) >= 0) *a.sum += a.class_weights[std::size_t(a.labels[n])];
}

template <class T>
void label_share_reference(const LabelShareArguments<T>& a, ThreadTeam&) {
    double sum = 0;
    for (std::int64_t n = 0; n < a.samples; ++n)
        if (label_of(a, n) >= 0) sum += a.class_weights[std::size_t(a.labels[n])];
    *a.share = T(double(*a.batch_weight) * sum / double(a.samples));
}

template <class T>
void one_hot_reference(const OneHotArguments<T>& a, ThreadTeam&) {
    for (std::int64_t n = 0; n < a.samples; ++n)
        for (std::int64_t c = 0; c < a.classes; ++c)
            a.dst[n * a.classes + c] = c == a.labels[n] ? T(1) : T(0);
}

template <class T>
void scale_classes_reference(const ScaleClassesArguments<T>& a, ThreadTeam&) {
    for (std::int64_t n = 0; n < a.samples; ++n)
        for (std::int64_t c = 0; c < a.classes; ++c)
            a.dst[n * a.classes + c] =
                T(double(a.src[n * a.classes + c]) * a.class_weights[std::size_t(c)]);
}

DTNN_REFERENCE(categorical_accuracy, AccuracyArguments)
DTNN_REFERENCE(top_k_accuracy, TopKAccuracyArguments)
DTNN_REFERENCE(class_pairs, ClassPairsArguments)
DTNN_REFERENCE(label_counts, LabelCountsArguments)
DTNN_REFERENCE(label_weights, LabelWeightsArguments)
DTNN_REFERENCE(label_share, LabelShareArguments)
DTNN_REFERENCE(one_hot, OneHotArguments)
DTNN_REFERENCE(scale_classes, ScaleClassesArguments)

}  // namespace dtnn::kernels::reference
