#pragma once
/// The labels of rows, for the losses and the measures of classes.

#include <cstdint>

#include "kernels/arguments/loss.hpp"

namespace dtnn::kernels::reference {

template <class T>
std::int64_t first_largest(const T* row, std::int64_t classes) {
    std::int64_t best = 0;
    for (std::int64_t c = 1; c < classes; ++c)
        if (row[c] > row[best]) best = c;
    return best;
}

/// -1 for what is no class; of targets the first largest.
template <class T>
std::int64_t label_of(const LabelledRows<T>& a, std::int64_t n) {
    if (a.targets != nullptr) return first_largest(a.targets + n * a.classes, a.classes);
    return a.labels[n] >= 0 && a.labels[n] < a.classes ? a.labels[n] : -1;
}

}  // namespace dtnn::kernels::reference
