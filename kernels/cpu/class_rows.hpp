#pragma once
/// Rows of classes, as losses and measures read them.

#include "kernels/arguments/loss.hpp"
#include "kernels/cpu/simd.hpp"
#include "kernels/thread_team.hpp"

namespace dtnn::kernels::DTNN_ISA {

/// Rows that are worth a thread.
DTNN_INLINE std::int64_t rows_grain(std::int64_t classes) {
    return classes >= 2048 ? 1 : 2048 / (classes > 0 ? classes : 1);
}

template <class T>
DTNN_INLINE std::int64_t first_largest(const T* row, std::int64_t classes) {
    std::int64_t best = 0;
    for (std::int64_t c = 1; c < classes; ++c)
        best = row[c] > row[best] ? c : best;
    return best;
}

/// -1 for what is no class.
template <class T>
DTNN_INLINE std::int64_t label_of(const LabelledRows<T>& a, std::int64_t row) {
    if (a.targets) return first_largest(a.targets + row * a.classes, a.classes);
    const std::int64_t label = a.labels[row];
    return label >= 0 && label < a.classes ? label : -1;
}

/// The sum over the rows of term(row). Every term has its own place in the workspace and they are
/// added in order, so that the result does not depend on the number of threads.
template <class T, class Term>
DTNN_INLINE double sum_of_rows(const LabelledRows<T>& a, ThreadTeam& team, std::int64_t rows,
                               std::int64_t numbers, Term term) {
    double* const terms = reinterpret_cast<double*>(a.workspace);
    team.for_pieces(rows, rows_grain(numbers), [&](auto begin, auto end, int) {
        for (std::int64_t n = begin; n < end; ++n)
            terms[n] = term(n);
    });
    double sum = 0;
    for (std::int64_t n = 0; n < rows; ++n)
        sum += terms[n];
    return sum;
}

}  // namespace dtnn::kernels::DTNN_ISA
