/// Products of two matrices of each sample, whose results are cut into tiles: a group of threads
/// has a tile, each thread some rows of it and some columns. What is summed over goes through the
/// group's memory, some of it at a time.

#include "kernels/arguments/matmul.hpp"
#include "kernels/cuda/kernel.hpp"

namespace dtnn::kernels::cuda {
namespace {

constexpr int kTileSide = 64;      ///< of a tile of the result, rows and columns
constexpr int kTileTogether = 16;  ///< of what is summed over, in one step
constexpr int kThreadSide = 4;     ///< rows and columns of a thread
constexpr int kThreadsAcross = kTileSide / kThreadSide;
constexpr int kThreadNumbers = kTileSide * kTileTogether / kThreads;  ///< of each matrix, of a step
static_assert(kThreadsAcross * kThreadsAcross == kThreads);

template <class T>
struct MatmulTile {
    MatmulArguments<T> a;
    std::int64_t down, across;  ///< tiles of a sample

    struct Own {
        std::int64_t n, row, column;  ///< where the tile begins
        T first[kThreadNumbers], second[kThreadNumbers];
        double sums[kThreadSide][kThreadSide];
    };
    struct Shared {
        T first[kTileTogether][kTileSide], second[kTileTogether][kTileSide];
    };

    DTNN_DEVICE std::int64_t steps() const {
        return a.summed > 0 ? (a.summed + kTileTogether - 1) / kTileTogether : 1;
    }
    DTNN_DEVICE void begin(std::int64_t group, int, Own& own) const {
        own.n = group / across / down;
        own.row = group / across % down * kTileSide;
        own.column = group % across * kTileSide;
        for (int i = 0; i < kThreadSide; ++i) {
            for (int j = 0; j < kThreadSide; ++j)
                own.sums[i][j] = 0;
        }
    }
    /// The place in a step of a thread's number `i`: neighbours in memory belong to neighbours
    /// among the threads. `along`: those of one row or column of the tile lie side by side.
    static DTNN_DEVICE int side_of(int thread, int i, bool along) {
        const int place = i * kThreads + thread;
        return along ? place / kTileTogether : place % kTileSide;
    }
    static DTNN_DEVICE int depth_of(int thread, int i, bool along) {
        const int place = i * kThreads + thread;
        return along ? place % kTileTogether : place / kTileSide;
    }
    DTNN_DEVICE void fetch(std::int64_t step, int thread, Own& own) const {
        for (int i = 0; i < kThreadNumbers; ++i) {
            const std::int64_t row = own.row + side_of(thread, i, !a.transpose_first);
            const std::int64_t k = step * kTileTogether + depth_of(thread, i, !a.transpose_first);
            own.first[i] =
                row < a.rows && k < a.summed ? a.first[a.first_layout.at(own.n, row, k)] : T(0);
        }
        for (int i = 0; i < kThreadNumbers; ++i) {
            const std::int64_t column = own.column + side_of(thread, i, a.transpose_second);
            const std::int64_t k = step * kTileTogether + depth_of(thread, i, a.transpose_second);
            own.second[i] = column < a.columns && k < a.summed
                                ? a.second[a.second_layout.at(own.n, k, column)]
                                : T(0);
        }
    }
    DTNN_DEVICE void put(int thread, const Own& own, Shared& shared) const {
        for (int i = 0; i < kThreadNumbers; ++i) {
            shared.first[depth_of(thread, i, !a.transpose_first)]
                        [side_of(thread, i, !a.transpose_first)] = own.first[i];
            shared.second[depth_of(thread, i, a.transpose_second)]
                         [side_of(thread, i, a.transpose_second)] = own.second[i];
        }
    }
    /// The terms of a step are added as they are, those sums in double.
    DTNN_DEVICE void add(int thread, const Shared& shared, Own& own) const {
        const int row = thread / kThreadsAcross * kThreadSide;
        const int column = thread % kThreadsAcross * kThreadSide;
        T terms[kThreadSide][kThreadSide] = {};
        for (int k = 0; k < kTileTogether; ++k) {
            for (int i = 0; i < kThreadSide; ++i) {
                for (int j = 0; j < kThreadSide; ++j)
                    terms[i][j] += shared.first[k][row + i] * shared.second[k][column + j];
            }
        }
        for (int i = 0; i < kThreadSide; ++i) {
            for (int j = 0; j < kThreadSide; ++j)
                own.sums[i][j] += double(terms[i][j]);
        }
    }
    DTNN_DEVICE void end(std::int64_t, int thread, const Own& own) const {
        for (int i = 0; i < kThreadSide; ++i) {
            const std::int64_t row = own.row + thread / kThreadsAcross * kThreadSide + i;
            for (int j = 0; j < kThreadSide; ++j) {
                const std::int64_t column = own.column + thread % kThreadsAcross * kThreadSide + j;
                if (row < a.rows && column < a.columns)
                    a.dst[(own.n * a.rows + row) * a.columns + column] =
                        T(a.scale * own.sums[i][j]);
            }
        }
    }
};

}  // namespace

DTNN_CUDA_KERNEL(matmul_tiles, MatmulArguments) {
    const std::int64_t down = (a.rows + kTileSide - 1) / kTileSide;
    const std::int64_t across = (a.columns + kTileSide - 1) / kTileSide;
    launch.steps(a.batch * down * across, MatmulTile<T>{a, down, across});
}

}  // namespace dtnn::kernels::cuda
