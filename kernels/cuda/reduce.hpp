#pragma once
/// Sums whose order is fixed: the same bits in every run and on every device.

#include "kernels/cuda/chunks.hpp"
#include "kernels/cuda/launch.hpp"

namespace dtnn::kernels::cuda {

/// N sums that travel together.
template <int N>
struct Sums {
    double of[N];

    static DTNN_DEVICE Sums none() { return {}; }
    DTNN_DEVICE void merge(const Sums& more) {
        for (int n = 0; n < N; ++n)
            of[n] += more.of[n];
    }
};

template <int N>
struct SharedSums {
    Sums<N> by_thread[kThreads];
};

inline constexpr int kSumLanes = 16;  ///< kThreads is a multiple of it

/// For each group: finish(group, Sums<N>) of the sums over k = 0 .. length - 1 of term(group, k),
/// a Sums<N>. A thread adds every kThreads-th term, then 16 threads add 16 threads each, then one
/// adds those. `length` of a group may be read by a function of the group.
template <int N, class Length, class Term, class Finish>
static void reduce(const Launch& launch, std::int64_t groups, const Length& length,
                   const Term& term, const Finish& finish) {
    using Shared = SharedSums<N>;
    launch.template groups<Shared>(
        groups,
        [=] DTNN_DEVICE(std::int64_t group, int thread, Shared& shared) {
            Sums<N> sums = {};
            const std::int64_t end = length(group);
            for (std::int64_t k = thread; k < end; k += kThreads)
                sums.merge(term(group, k));
            shared.by_thread[thread] = sums;
        },
        [=] DTNN_DEVICE(std::int64_t, int thread, Shared& shared) {
            if (thread % kSumLanes != 0) return;
            Sums<N>& sums = shared.by_thread[thread];
            for (int other = 1; other < kSumLanes; ++other)
                sums.merge(shared.by_thread[thread + other]);
        },
        [=] DTNN_DEVICE(std::int64_t group, int thread, Shared& shared) {
            if (thread != 0) return;
            Sums<N> sums = shared.by_thread[0];
            for (int other = kSumLanes; other < kThreads; other += kSumLanes)
                sums.merge(shared.by_thread[other]);
            finish(group, sums);
        });
}

/// finish(Sums<N>) of the sums over i = 0 .. count - 1 of term(i), by way of the sums of chunks,
/// which `of_chunks` (sum_chunks_of(count) Sums<N>) holds.
template <int N, class Term, class Finish>
static void reduce_all(const Launch& launch, std::int64_t count, Sums<N>* of_chunks,
                       const Term& term, const Finish& finish) {
    const std::int64_t chunks = sum_chunks_of(count);
    if (chunks <= 1) {
        reduce<N>(
            launch, 1, [=] DTNN_DEVICE(std::int64_t) { return count; },
            [=] DTNN_DEVICE(std::int64_t, std::int64_t k) { return term(k); },
            [=] DTNN_DEVICE(std::int64_t, const Sums<N>& sums) { finish(sums); });
        return;
    }
    reduce<N>(
        launch, chunks,
        [=] DTNN_DEVICE(std::int64_t chunk) {
            const std::int64_t left = count - chunk * kSumChunk;
            return left < kSumChunk ? left : kSumChunk;
        },
        [=] DTNN_DEVICE(std::int64_t chunk, std::int64_t k) { return term(chunk * kSumChunk + k); },
        [=] DTNN_DEVICE(std::int64_t chunk, const Sums<N>& sums) { of_chunks[chunk] = sums; });
    reduce<N>(
        launch, 1, [=] DTNN_DEVICE(std::int64_t) { return chunks; },
        [=] DTNN_DEVICE(std::int64_t, std::int64_t k) { return of_chunks[k]; },
        [=] DTNN_DEVICE(std::int64_t, const Sums<N>& sums) { finish(sums); });
}

/// One launch of reduce_columns: finish(set, chunk, column, Sums<N>) of the sums over the rows of
/// each chunk. Neighbouring threads have neighbouring columns.
template <int N, class Term, class Finish>
static void reduce_chunks_of_columns(const Launch& launch, const ColumnCut& cut, const Term& term,
                                     const Finish& finish) {
    using Shared = SharedSums<N>;
    const int width = int(cut.width), height = kThreads / width;
    const std::int64_t blocks = cut.blocks();
    launch.template groups<Shared>(
        cut.sets * cut.chunks * blocks,
        [=] DTNN_DEVICE(std::int64_t group, int thread, Shared& shared) {
            const std::int64_t column = group % blocks * width + thread % width;
            const std::int64_t set = group / blocks / cut.chunks;
            const std::int64_t begin = group / blocks % cut.chunks * cut.chunk;
            const std::int64_t end = begin + cut.chunk < cut.rows ? begin + cut.chunk : cut.rows;
            Sums<N> sums = {};
            if (column < cut.columns)
                for (std::int64_t row = begin + thread / width; row < end; row += height)
                    sums.merge(term(set, row, column));
            shared.by_thread[thread] = sums;
        },
        [=] DTNN_DEVICE(std::int64_t, int thread, Shared& shared) {
            const int first = thread / width;
            if (first % kSumLanes != 0) return;
            Sums<N>& sums = shared.by_thread[thread];
            for (int other = 1; other < kSumLanes && first + other < height; ++other)
                sums.merge(shared.by_thread[thread + other * width]);
        },
        [=] DTNN_DEVICE(std::int64_t group, int thread, Shared& shared) {
            const std::int64_t column = group % blocks * width + thread;
            if (thread >= width || column >= cut.columns) return;
            Sums<N> sums = shared.by_thread[thread];
            for (int other = kSumLanes; other < height; other += kSumLanes)
                sums.merge(shared.by_thread[thread + other * width]);
            const std::int64_t chunk = group / blocks;
            finish(chunk / cut.chunks, chunk % cut.chunks, column, sums);
        });
}

/// finish(set, column, Sums<N>) of the sums over the chunks of each column.
template <int N, class Finish>
static void reduce_chunks(const Launch& launch, std::int64_t sets, std::int64_t chunks,
                          std::int64_t columns, const Sums<N>* of_chunks, const Finish& finish) {
    // Few columns a group, so that a thread has few chunks.
    const ColumnCut all{sets, chunks, columns, lanes_for(columns, 8), chunks, 1};
    reduce_chunks_of_columns<N>(
        launch, all,
        [=] DTNN_DEVICE(std::int64_t set, std::int64_t chunk, std::int64_t column) {
            return of_chunks[(set * chunks + chunk) * columns + column];
        },
        [=] DTNN_DEVICE(std::int64_t set, std::int64_t, std::int64_t column, const Sums<N>& sums) {
            finish(set, column, sums);
        });
}

/// For each of `sets` matrices [rows, columns] and each of its columns: finish(set, column,
/// Sums<N>) of the sums over the rows of term(set, row, column), by way of the sums of chunks,
/// which `of_chunks` (column_sums_of(N, sets, rows, columns) doubles) holds.
template <int N, class Term, class Finish>
static void reduce_columns(const Launch& launch, std::int64_t sets, std::int64_t rows,
                           std::int64_t columns, Sums<N>* of_chunks, const Term& term,
                           const Finish& finish) {
    const ColumnCut cut = cut_columns(sets, rows, columns);
    if (cut.chunks == 1) {
        reduce_chunks_of_columns<N>(
            launch, cut, term,
            [=] DTNN_DEVICE(std::int64_t set, std::int64_t, std::int64_t column,
                            const Sums<N>& sums) { finish(set, column, sums); });
        return;
    }
    const std::int64_t chunks = cut.chunks;
    reduce_chunks_of_columns<N>(launch, cut, term,
                                [=] DTNN_DEVICE(std::int64_t set, std::int64_t chunk,
                                                std::int64_t column, const Sums<N>& sums) {
                                    of_chunks[(set * chunks + chunk) * columns + column] = sums;
                                });
    reduce_chunks<N>(launch, sets, chunks, columns, of_chunks, finish);
}

}  // namespace dtnn::kernels::cuda
