#pragma once
/// Rows of classes, as losses and measures read them.

#include "kernels/arguments/loss.hpp"
#include "kernels/cuda/rows.hpp"

namespace dtnn::kernels::cuda {

/// The aim of each row: a class, or targets, whose label is the first largest.
template <class T>
struct RowLabels {
    const T* targets;
    const std::int32_t* labels;
    std::int64_t classes;

    /// The class of a row without targets; -1 for what is none.
    DTNN_DEVICE std::int64_t listed(std::int64_t row) const {
        return labels[row] >= 0 && labels[row] < classes ? labels[row] : -1;
    }
    /// The term that of() folds.
    DTNN_DEVICE FirstLargest term(std::int64_t row, std::int64_t c) const {
        if (targets == nullptr) return FirstLargest::none();
        return FirstLargest::of(double(targets[row * classes + c]), c, 0);
    }
    DTNN_DEVICE std::int64_t of(std::int64_t row, const FirstLargest& folded) const {
        return targets != nullptr ? folded.place : listed(row);
    }
};

template <class T>
RowLabels<T> row_labels(const LabelledRows<T>& a) {
    return {a.targets, a.labels, a.classes};
}

/// finish(Sums<N>) of what `of_row` has for each row; sums of their chunks lie behind it.
template <int N, class Finish>
static void add_rows(const Launch& launch, std::int64_t rows, Sums<N>* of_row,
                     const Finish& finish) {
    reduce_all<N>(
        launch, rows, of_row + rows, [=] DTNN_DEVICE(std::int64_t row) { return of_row[row]; },
        finish);
}

}  // namespace dtnn::kernels::cuda
