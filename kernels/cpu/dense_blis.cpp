/// dense, dense_backward_data and dense_backward_weights as matrix products of BLIS, for large
/// layers.
///
/// The result is cut into slabs of kBlisSlab units (forward) or inputs (backward), whatever the
/// number of threads, and the team divides the slabs: each is one call of BLIS on one thread, so
/// results do not depend on the number of threads. Bias, relu and mask are applied to a slab while
/// it is in the caches; diff_bias is summed in double. Error bound: depth * epsilon * sum of
/// |products|.

#include <cstddef>
#include <cstdint>

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cpu/blis_product.hpp"
#include "kernels/cpu/product_ends.hpp"
#include "kernels/thread_team.hpp"
#include "kernels/workspace/conv.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// body(begin, end, member) for every slab of [0, width).
template <class Body>
void for_slabs(std::int64_t width, ThreadTeam& team, Body&& body) {
    const std::int64_t slabs = (width + kBlisSlab - 1) / kBlisSlab;
    team.for_pieces(slabs, 1, [&](std::int64_t first, std::int64_t last, int member) {
        for (std::int64_t slab = first; slab < last; ++slab) {
            const std::int64_t begin = slab * kBlisSlab;
            body(begin, begin + kBlisSlab < width ? begin + kBlisSlab : width, member);
        }
    });
}

}  // namespace

DTNN_KERNEL(dense_blis, DenseArguments) {
    const std::int64_t batch = a.shape.batch;
    const std::int64_t inputs = a.shape.channels;
    const std::int64_t units = a.shape.filters;
    for_slabs(units, team, [&](std::int64_t begin, std::int64_t end, int) {
        multiply<T>({batch,
                     end - begin,
                     inputs,
                     {a.src, inputs, 1},
                     {a.weights + begin, units, 1},
                     a.dst + begin,
                     units},
                    false);
        const T* bias = a.bias;
        const bool relu = a.relu;
        if (!bias && !relu) return;
        for (std::int64_t n = 0; n < batch; ++n) {
            T* row = a.dst + n * units;
#pragma GCC ivdep
            for (std::int64_t u = begin; u < end; ++u) {
                T value = row[u];
                if (bias) value += bias[u];
                row[u] = relu && value < T(0) ? T(0) : value;
            }
        }
    });
}

DTNN_KERNEL(dense_backward_data_blis, DenseBackwardDataArguments) {
    const std::int64_t batch = a.shape.batch;
    const std::int64_t inputs = a.shape.channels;
    const std::int64_t units = a.shape.filters;
    for_slabs(inputs, team, [&](std::int64_t begin, std::int64_t end, int member) {
        // diff_src may lie on the mask, so the product goes elsewhere first.
        T* product = a.diff_src + begin;
        std::int64_t stride = inputs;
        if (a.mask) {
            product = reinterpret_cast<T*>(
                a.workspace.data() + member * blis_slab_bytes(a.shape, std::int64_t{sizeof(T)}));
            stride = kBlisSlab;
        }
        multiply<T>({batch,
                     end - begin,
                     units,
                     {a.diff_dst, units, 1},
                     {a.weights + begin * units, 1, units},
                     product,
                     stride},
                    true);
        if (!a.mask) return;
        for (std::int64_t n = 0; n < batch; ++n) {
            const T* from = product + n * stride;
            const T* mask = a.mask + n * inputs + begin;
            T* to = a.diff_src + n * inputs + begin;
#pragma GCC ivdep
            for (std::int64_t i = 0; i < end - begin; ++i)
                to[i] = mask[i] > T(0) ? from[i] : T(0);
        }
    });
}

DTNN_KERNEL(dense_backward_weights_blis, DenseBackwardWeightsArguments) {
    const std::int64_t batch = a.shape.batch;
    const std::int64_t inputs = a.shape.channels;
    const std::int64_t units = a.shape.filters;
    for_slabs(inputs, team, [&](std::int64_t begin, std::int64_t end, int) {
        multiply<T>({end - begin,
                     units,
                     batch,
                     {a.src + begin, 1, inputs},
                     {a.diff_dst, units, 1},
                     a.diff_weights + begin * units,
                     units},
                    true);
    });
    if (a.diff_bias) sum_rows<T>(a.diff_dst, batch, units, a.diff_bias, team);
}

}  // namespace dtnn::kernels::DTNN_ISA
