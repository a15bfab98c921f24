/// dense and dense_backward_data of a few rows, as of a text that is written: what takes time is to
/// read the weights, once and in the order in which they lie. Results do not depend on the number
/// of threads. Error bound: depth * epsilon * sum of |products|.

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cpu/gemm_tile.hpp"
#include "kernels/cpu/simd.hpp"
#include "kernels/thread_team.hpp"
#include "kernels/workspace/few_rows.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// sums[u] += the sum over kRows rows of x[k] * rows[k, u], for u below `columns`; rows begin `row`
/// numbers apart. `first`: what sums holds before is not read.
template <int kRows, class T>
DTNN_INLINE void add_rows(const T* x, const T* rows, std::int64_t row, std::int64_t columns,
                          bool first, T* sums) {
    for_channels<T>(columns, [&](auto lanes, std::int64_t u) {
        using V = decltype(lanes);
        auto sum = first ? V::zero() : V::load(sums + u);
        for (int k = 0; k < kRows; ++k)
            sum += V::broadcast(x[k]) * V::load(rows + k * row + u);
        V::store(sums + u, sum);
    });
}

/// The sum over `count` rows.
template <class T>
DTNN_INLINE void sum_rows(const T* x, const T* rows, std::int64_t row, std::int64_t count,
                          std::int64_t columns, T* sums) {
    std::int64_t k = 0;
    for (; k + 4 <= count; k += 4)
        add_rows<4>(x + k, rows + k * row, row, columns, k == 0, sums);
    for (; k < count; ++k)
        add_rows<1>(x + k, rows + k * row, row, columns, k == 0, sums);
}

/// The products of x with four rows.
template <class T>
DTNN_INLINE void four_dots(const T* x, const T* const* rows, std::int64_t count, T* results) {
    constexpr int L = kLanes<T>;
    Vector<T, L> sums[4] = {};
    std::int64_t u = 0;
    for (; u + L <= count; u += L) {
        const Vector<T, L> some = load<T, L>(x + u);
        for (int i = 0; i < 4; ++i)
            sums[i] += some * load<T, L>(rows[i] + u);
    }
    for (int i = 0; i < 4; ++i) {
        results[i] = 0;
        for (int lane = 0; lane < L; ++lane)
            results[i] += sums[i][lane];
        for (std::int64_t rest = u; rest < count; ++rest)
            results[i] += x[rest] * rows[i][rest];
    }
}

}  // namespace

DTNN_KERNEL(dense_few_rows, DenseArguments) {
    constexpr std::int64_t kColumns = 2048, kSlab = 256;
    const std::int64_t batch = a.shape.batch, inputs = a.shape.channels, units = a.shape.filters;
    const std::int64_t size = few_rows_part(inputs), parts = (inputs + size - 1) / size;
    T* const sums = reinterpret_cast<T*>(a.workspace.data());
    team.for_pieces(parts, 1, [&](auto begin, auto end, int) {
        for (std::int64_t part = begin; part < end; ++part) {
            const std::int64_t first = part * size;
            const std::int64_t count = first + size < inputs ? size : inputs - first;
            for (std::int64_t u = 0; u < units; u += kColumns) {
                const std::int64_t columns = u + kColumns < units ? kColumns : units - u;
                for (std::int64_t n = 0; n < batch; ++n)
                    sum_rows(a.src + n * inputs + first, a.weights + first * units + u, units,
                             count, columns, sums + (part * batch + n) * units + u);
            }
        }
    });
    team.for_pieces((units + kSlab - 1) / kSlab, 1, [&](auto begin, auto end, int) {
        const std::int64_t last = end * kSlab < units ? end * kSlab : units;
        for (std::int64_t n = 0; n < batch; ++n) {
            for (std::int64_t u = begin * kSlab; u < last; ++u) {
                T sum = a.bias != nullptr ? T(a.bias[u]) : T(0);
                for (std::int64_t part = 0; part < parts; ++part)
                    sum += sums[(part * batch + n) * units + u];
                a.dst[n * units + u] = a.relu && sum < T(0) ? T(0) : sum;
            }
        }
    });
}

DTNN_KERNEL(dense_backward_data_few_rows, DenseBackwardDataArguments) {
    const std::int64_t batch = a.shape.batch, inputs = a.shape.channels, units = a.shape.filters;
    team.for_pieces((inputs + 3) / 4, 16, [&](auto begin, auto end, int) {
        for (std::int64_t four = begin; four < end; ++four) {
            const std::int64_t c = four * 4, known = inputs - c < 4 ? inputs - c : 4;
            const T* rows[4];
            for (std::int64_t i = 0; i < 4; ++i)
                rows[i] = a.weights + (c + (i < known ? i : 0)) * units;
            for (std::int64_t n = 0; n < batch; ++n) {
                T results[4];
                four_dots(a.diff_dst + n * units, rows, units, results);
                for (std::int64_t i = 0; i < known; ++i) {
                    const std::int64_t at = n * inputs + c + i;
                    a.diff_src[at] = a.mask == nullptr || a.mask[at] > T(0) ? results[i] : T(0);
                }
            }
        }
    });
}

}  // namespace dtnn::kernels::DTNN_ISA
