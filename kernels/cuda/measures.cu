#include <cmath>

#include "kernels/cuda/class_rows.hpp"
#include "kernels/cuda/kernel.hpp"

namespace dtnn::kernels::cuda {
namespace {

/// finish(row, label, first largest number of the row).
template <class T, class Finish>
void predict_rows(const LabelledRows<T>& a, const Launch& launch, const Finish& finish) {
    const RowLabels<T> labels = row_labels(a);
    const T* const src = a.src;
    const std::int64_t classes = a.classes;
    fold_rows<FirstLargest, FirstLargest>(
        launch, a.samples, classes,
        [=] DTNN_DEVICE(std::int64_t row, std::int64_t c) { return labels.term(row, c); },
        [=] DTNN_DEVICE(std::int64_t row, std::int64_t c, const FirstLargest&) {
            return FirstLargest::of(double(src[row * classes + c]), c, 0);
        },
        [=] DTNN_DEVICE(std::int64_t row, const FirstLargest& label, const FirstLargest& best) {
            finish(row, labels.of(row, label), best);
        },
        [=] DTNN_DEVICE(std::int64_t, std::int64_t, const FirstLargest&, const FirstLargest&) {});
}

/// finish(sum of the weights of the labels' classes).
template <class Arguments, class Finish>
void add_label_weights(const Arguments& a, const Launch& launch, const Finish& finish) {
    const auto labels = row_labels(a);
    const double* const weights = launch.constant(a.class_weights);
    reduce_all<1>(
        launch, a.samples, reinterpret_cast<Sums<1>*>(a.workspace),
        [=] DTNN_DEVICE(std::int64_t row) {
            const std::int64_t label = labels.listed(row);
            return Sums<1>{{label >= 0 ? weights[label] : 0.0}};
        },
        [=] DTNN_DEVICE(const Sums<1>& sum) { finish(sum.of[0]); });
}

}  // namespace

DTNN_CUDA_KERNEL(categorical_accuracy_rows, AccuracyArguments) {
    auto* const of_row = reinterpret_cast<Sums<1>*>(a.workspace);
    predict_rows(a, launch,
                 [=] DTNN_DEVICE(std::int64_t row, std::int64_t label, const FirstLargest& best) {
                     const bool right = best.place == label && best.value == best.value;
                     of_row[row] = Sums<1>{{right ? 1.0 : 0.0}};
                 });
    add_rows<1>(launch, a.samples, of_row,
                [=] DTNN_DEVICE(const Sums<1>& total) { *a.sum = total.of[0]; });
}

DTNN_CUDA_KERNEL(top_k_accuracy_rows, TopKAccuracyArguments) {
    const RowLabels<T> labels = row_labels(a);
    auto* const of_row = reinterpret_cast<Sums<1>*>(a.workspace);
    fold_rows<FirstLargest, Sums<1>>(
        launch, a.samples, a.classes,
        [=] DTNN_DEVICE(std::int64_t row, std::int64_t c) { return labels.term(row, c); },
        [=] DTNN_DEVICE(std::int64_t row, std::int64_t c, const FirstLargest& folded) {
            const std::int64_t label = labels.of(row, folded);
            if (label < 0) return Sums<1>::none();
            const T mine = a.src[row * a.classes + label], other = a.src[row * a.classes + c];
            return Sums<1>{{other > mine || (other == mine && c < label) ? 1.0 : 0.0}};
        },
        [=] DTNN_DEVICE(std::int64_t row, const FirstLargest& folded, const Sums<1>& before) {
            const std::int64_t label = labels.of(row, folded);
            const T mine = label < 0 ? T(0) : a.src[row * a.classes + label];
            const bool right = label >= 0 && mine == mine && before.of[0] < double(a.k);
            of_row[row] = Sums<1>{{right ? 1.0 : 0.0}};
        },
        [=] DTNN_DEVICE(std::int64_t, std::int64_t, const FirstLargest&, const Sums<1>&) {});
    add_rows<1>(launch, a.samples, of_row,
                [=] DTNN_DEVICE(const Sums<1>& total) { *a.sum = total.of[0]; });
}

DTNN_CUDA_KERNEL(class_pairs_rows, ClassPairsArguments) {
    predict_rows(a, launch,
                 [=] DTNN_DEVICE(std::int64_t row, std::int64_t label, const FirstLargest& best) {
                     a.pairs[2 * row] = std::int32_t(label);
                     a.pairs[2 * row + 1] = std::int32_t(best.place);
                 });
}

DTNN_CUDA_KERNEL(label_counts_columns, LabelCountsArguments) {
    const T threshold = T(a.threshold);
    // Whole numbers: double is exact.
    reduce_columns<4>(
        launch, 1, a.samples, a.classes, reinterpret_cast<Sums<4>*>(a.workspace),
        [=] DTNN_DEVICE(std::int64_t, std::int64_t row, std::int64_t c) {
            const std::int64_t i = row * a.classes + c;
            const bool predicted = a.src[i] > threshold, wanted = a.targets[i] > T(0.5);
            return Sums<4>{{!wanted && !predicted ? 1.0 : 0.0, !wanted && predicted ? 1.0 : 0.0,
                            wanted && !predicted ? 1.0 : 0.0, wanted && predicted ? 1.0 : 0.0}};
        },
        [=] DTNN_DEVICE(std::int64_t, std::int64_t c, const Sums<4>& sums) {
            for (int n = 0; n < 4; ++n)
                a.counts[4 * c + n] = std::int64_t(sums.of[n]);
        });
}

DTNN_CUDA_KERNEL(label_weights_chunks, LabelWeightsArguments) {
    double* const dst = a.sum;
    add_label_weights(a, launch, [=] DTNN_DEVICE(double sum) { *dst = sum; });
}

DTNN_CUDA_KERNEL(label_share_chunks, LabelShareArguments) {
    const T* const batch_weight = a.batch_weight;
    T* const share = a.share;
    const auto samples = double(a.samples);
    add_label_weights(a, launch, [=] DTNN_DEVICE(double sum) {
        *share = T(double(*batch_weight) * sum / samples);
    });
}

DTNN_CUDA_KERNEL(one_hot_each, OneHotArguments) {
    launch.each(a.samples * a.classes, [=] DTNN_DEVICE(std::int64_t i) {
        a.dst[i] = i % a.classes == a.labels[i / a.classes] ? T(1) : T(0);
    });
}

DTNN_CUDA_KERNEL(scale_classes_each, ScaleClassesArguments) {
    const T* const src = a.src;
    T* const dst = a.dst;
    const double* const weights = launch.constant(a.class_weights);
    const double* const offsets = launch.constant(a.offsets);
    const std::int64_t classes = a.classes;
    launch.each(a.samples * classes, [=] DTNN_DEVICE(std::int64_t i) {
        dst[i] = T(double(src[i]) * weights[i % classes] + offsets[i % classes]);
    });
}

}  // namespace dtnn::kernels::cuda
