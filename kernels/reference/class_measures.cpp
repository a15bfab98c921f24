#include <algorithm>
#include <cmath>

#include "kernels/arguments/loss.hpp"
#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {
namespace {

template <class T>
std::int64_t first_largest(const ClassificationArguments<T>& a, const T* matrix, std::int64_t n) {
    const T* const row = matrix + n * a.classes;
    std::int64_t best = 0;
    for (std::int64_t c = 1; c < a.classes; ++c)
        if (row[c] > row[best]) best = c;
    return best;
}

/// -1 for what is no class.
template <class T>
std::int64_t label_of(const ClassificationArguments<T>& a, std::int64_t n) {
    if (a.targets != nullptr) return first_largest(a, a.targets, n);
    return a.labels[n] >= 0 && a.labels[n] < a.classes ? a.labels[n] : -1;
}

}  // namespace

template <class T>
void categorical_accuracy_reference(const ClassificationArguments<T>& a, ThreadTeam&) {
    *a.sum = 0;
    for (std::int64_t n = 0; n < a.samples; ++n) {
        const std::int64_t best = first_largest(a, a.src, n);
        if (best == label_of(a, n) && !std::isnan(a.src[n * a.classes + best])) *a.sum += 1;
    }
}

template <class T>
void top_k_accuracy_reference(const ClassificationArguments<T>& a, ThreadTeam&) {
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
void class_pairs_reference(const ClassificationArguments<T>& a, ThreadTeam&) {
    for (std::int64_t n = 0; n < a.samples; ++n) {
        a.pairs[2 * n] = std::int32_t(label_of(a, n));
        a.pairs[2 * n + 1] = std::int32_t(first_largest(a, a.src, n));
    }
}

template <class T>
void label_counts_reference(const ClassificationArguments<T>& a, ThreadTeam&) {
    std::fill(a.counts, a.counts + 4 * a.classes, 0);
    for (std::int64_t n = 0; n < a.samples; ++n)
        for (std::int64_t c = 0; c < a.classes; ++c) {
            const bool predicted = a.src[n * a.classes + c] > T(a.threshold);
            const bool wanted = a.targets[n * a.classes + c] > T(0.5);
            ++a.counts[4 * c + (wanted ? 2 : 0) + (predicted ? 1 : 0)];
        }
}

template <class T>
void label_weights_reference(const ClassificationArguments<T>& a, ThreadTeam&) {
    *a.sum = 0;
    for (std::int64_t n = 0; n < a.samples; ++n)
        if (label_of(a, n) >= 0) *a.sum += a.class_weights[std::size_t(a.labels[n])];
}

template <class T>
void one_hot_reference(const ClassificationArguments<T>& a, ThreadTeam&) {
    for (std::int64_t n = 0; n < a.samples; ++n)
        for (std::int64_t c = 0; c < a.classes; ++c)
            a.dst[n * a.classes + c] = c == a.labels[n] ? T(1) : T(0);
}

template <class T>
void scale_classes_reference(const ClassificationArguments<T>& a, ThreadTeam&) {
    for (std::int64_t n = 0; n < a.samples; ++n)
        for (std::int64_t c = 0; c < a.classes; ++c)
            a.dst[n * a.classes + c] =
                T(double(a.src[n * a.classes + c]) * a.class_weights[std::size_t(c)]);
}

DTNN_REFERENCE(categorical_accuracy, ClassificationArguments)
DTNN_REFERENCE(top_k_accuracy, ClassificationArguments)
DTNN_REFERENCE(class_pairs, ClassificationArguments)
DTNN_REFERENCE(label_counts, ClassificationArguments)
DTNN_REFERENCE(label_weights, ClassificationArguments)
DTNN_REFERENCE(one_hot, ClassificationArguments)
DTNN_REFERENCE(scale_classes, ClassificationArguments)

}  // namespace dtnn::kernels::reference
