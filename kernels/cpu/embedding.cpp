/// Rows of a table: copied forward, added up backward.

#include "kernels/arguments/embedding.hpp"

#include "kernels/cpu/simd.hpp"
#include "kernels/thread_team.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// Rows that are worth a thread.
std::int64_t embedding_grain(std::int64_t units) {
    return units >= 4096 ? 1 : 4096 / units;
}

}  // namespace

DTNN_KERNEL(embedding_rows, EmbeddingArguments) {
    const std::int64_t units = a.units;
    team.for_pieces(a.rows, embedding_grain(units), [&](auto begin, auto end, int) {
        for (std::int64_t r = begin; r < end; ++r) {
            const std::int64_t entry = a.indices[r];
            T* const row = a.dst + r * units;
            if (entry >= 0 && entry < a.entries)
                __builtin_memcpy(row, a.weights + entry * units, std::size_t(units) * sizeof(T));
            else
                __builtin_memset(row, 0, std::size_t(units) * sizeof(T));
        }
    });
}

/// A thread has some rows of the table to itself and looks for the places that have read them, so
/// that the order of a sum does not depend on threads.
DTNN_KERNEL(embedding_backward_rows, EmbeddingBackwardArguments) {
    const std::int64_t units = a.units;
    team.for_pieces(a.entries, embedding_grain(units), [&](auto begin, auto end, int) {
        __builtin_memset(a.diff_weights + begin * units, 0,
                         std::size_t((end - begin) * units) * sizeof(T));
        for (std::int64_t r = 0; r < a.rows; ++r) {
            const std::int64_t entry = a.indices[r];
            if (entry < begin || entry >= end) continue;
            T* const sum = a.diff_weights + entry * units;
            const T* const diff = a.diff_dst + r * units;
            for_channels<T>(units, [&](auto lanes, std::int64_t u) {
                using V = decltype(lanes);
                V::store(sum + u, V::load(sum + u) + V::load(diff + u));
            });
        }
    });
}

}  // namespace dtnn::kernels::DTNN_ISA
