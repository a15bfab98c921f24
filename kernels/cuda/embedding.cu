#include "kernels/arguments/embedding.hpp"
#include "kernels/cuda/kernel.hpp"

namespace dtnn::kernels::cuda {
namespace {

struct EarlierReaders {
    int any[kThreads];
};

}  // namespace

DTNN_CUDA_KERNEL(embedding_each, EmbeddingArguments) {
    launch.each(a.rows * a.units, [=] DTNN_DEVICE(std::int64_t i) {
        const std::int64_t entry = a.indices[i / a.units];
        const bool known = entry >= 0 && entry < a.entries;
        a.dst[i] = known ? a.weights[entry * a.units + i % a.units] : T(0);
    });
}

/// The group of the first place that has read a row of the table adds up for all of them, in the
/// order of the places.
DTNN_CUDA_KERNEL(embedding_backward_readers, EmbeddingBackwardArguments) {
    launch.each(a.entries * a.units, [=] DTNN_DEVICE(std::int64_t i) { a.diff_weights[i] = T(0); });
    launch.groups<EarlierReaders>(
        a.rows,
        [=] DTNN_DEVICE(std::int64_t place, int thread, EarlierReaders& shared) {
            int any = 0;
            for (std::int64_t r = thread; r < place; r += kThreads)
                any |= a.indices[r] == a.indices[place] ? 1 : 0;
            shared.any[thread] = any;
        },
        [=] DTNN_DEVICE(std::int64_t place, int thread, EarlierReaders& shared) {
            const std::int64_t entry = a.indices[place];
            if (entry < 0 || entry >= a.entries) return;
            for (int other = 0; other < kThreads; ++other)
                if (shared.any[other] != 0) return;
            for (std::int64_t u = thread; u < a.units; u += kThreads) {
                double sum = 0;
                for (std::int64_t r = place; r < a.rows; ++r)
                    if (a.indices[r] == entry) sum += double(a.diff_dst[r * a.units + u]);
                a.diff_weights[entry * a.units + u] = T(sum);
            }
        });
}

}  // namespace dtnn::kernels::cuda
