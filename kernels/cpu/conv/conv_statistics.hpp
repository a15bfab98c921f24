#pragma once
/// Statistics of results that convolutions sum (Conv2dArguments::statistics).

#include <cstdint>

namespace dtnn::kernels::DTNN_ISA {

/// Adds up what `members` threads have summed, always in the same order, and writes the origin,
/// which is the bias or zero. partial_of(member): [2, filters].
template <class T, class Partial>
void total_statistics(double* statistics, std::int64_t filters, const T* bias, int members,
                      Partial partial_of) {
    for (std::int64_t j = 0; j < 2 * filters; ++j) {
        double sum = 0;
        for (int member = 0; member < members; ++member)
            sum += partial_of(member)[j];
        statistics[j] = sum;
    }
    for (std::int64_t f = 0; f < filters; ++f)
        statistics[2 * filters + f] = bias ? double(bias[f]) : 0.0;
}

}  // namespace dtnn::kernels::DTNN_ISA
