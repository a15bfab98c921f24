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

/// The groups of sums by column: each has a chunk of the rows of a block of columns. The last of a
/// team of chunks to arrive adds the team's sums, and the last team of the block those of all
/// teams, each in the order of the chunks, so that the result does not depend on who is last.
template <int N>
struct ColumnGroups {
    std::int64_t sets, chunks, teams, columns, blocks;
    int width, height;             ///< columns of a block, and threads of a column
    Sums<N>*of_chunks, *of_teams;  ///< [sets, chunks, columns] and [sets, teams, columns]

    ColumnGroups(const ColumnCut& cut, Sums<N>* sums)
        : sets(cut.sets),
          chunks(cut.chunks),
          teams(cut.teams()),
          columns(cut.columns),
          blocks(cut.blocks()),
          width(int(cut.width)),
          height(kThreads / width),
          of_chunks(sums),
          of_teams(chunks > 1 ? sums + sets * chunks * columns : nullptr) {}

    std::int64_t count() const { return sets * chunks * blocks; }
    std::int64_t counters() const { return chunks > 1 ? sets * (teams + 1) * blocks : 0; }

    DTNN_DEVICE std::int64_t block(std::int64_t group) const { return group % blocks; }
    DTNN_DEVICE std::int64_t chunk(std::int64_t group) const { return group / blocks % chunks; }
    DTNN_DEVICE std::int64_t set(std::int64_t group) const { return group / blocks / chunks; }
    DTNN_DEVICE std::int64_t column(std::int64_t group, int lane) const {
        return block(group) * width + lane;
    }
    DTNN_DEVICE std::int64_t team(std::int64_t group) const {
        return set(group) * teams + chunk(group) / kChunkTeam;
    }
    DTNN_DEVICE std::int64_t chunks_of_team(std::int64_t group) const {
        const std::int64_t left = chunks - chunk(group) / kChunkTeam * kChunkTeam;
        return left < kChunkTeam ? left : kChunkTeam;
    }
    DTNN_DEVICE Meeting meeting_of_team(std::int64_t group) const {
        return {team(group) * blocks + block(group), chunks > 1 ? chunks_of_team(group) : 0};
    }
    DTNN_DEVICE Meeting meeting_of_all(std::int64_t group) const {
        return {(sets * teams + set(group)) * blocks + block(group), teams};
    }

    /// The sums of a chunk, of a lane's column.
    template <class Finish>
    DTNN_DEVICE void put(std::int64_t group, int lane, const Sums<N>& sums,
                         const Finish& finish) const {
        if (chunks == 1)
            finish(set(group), column(group, lane), sums);
        else
            of_chunks[(group / blocks) * columns + column(group, lane)] = sums;
    }
    /// Every height-th of `count` neighbours in `from` [.., columns], of the thread's column.
    DTNN_DEVICE Sums<N> of_thread(const Sums<N>* from, std::int64_t first, std::int64_t count,
                                  std::int64_t group, int thread) const {
        const std::int64_t mine = column(group, thread % width);
        Sums<N> sums = {};
        if (mine < columns)
            for (std::int64_t k = thread / width; k < count; k += height)
                sums.merge(from[(first + k) * columns + mine]);
        return sums;
    }
    /// The sums of the threads of a lane's column, of which the first `count` have something.
    DTNN_DEVICE Sums<N> of_lane(const Sums<N>* by_thread, std::int64_t count, int lane) const {
        Sums<N> sums = by_thread[lane];
        for (int other = 1; other < height && other < count; ++other)
            sums.merge(by_thread[lane + other * width]);
        return sums;
    }
};

/// The launch of sums by column: the phases, of which the last puts the sums of its chunk, then
/// finish(set, column, Sums<N>) of those of all chunks. `Shared` has `by_thread`.
template <int N, class Shared, class Finish, class... Phases>
static void reduce_groups(const Launch& launch, const ColumnGroups<N>& groups, const Finish& finish,
                          const Phases&... phases) {
    unsigned* const counters = launch.counters(groups.counters());
    launch.template groups<Shared>(
        groups.count(), phases...,
        LastOf{counters,
               [=] DTNN_DEVICE(std::int64_t group) { return groups.meeting_of_team(group); }},
        [=] DTNN_DEVICE(std::int64_t group, int thread, Shared& shared) {
            const std::int64_t first =
                groups.set(group) * groups.chunks + groups.chunk(group) / kChunkTeam * kChunkTeam;
            shared.by_thread[thread] = groups.of_thread(
                groups.of_chunks, first, groups.chunks_of_team(group), group, thread);
        },
        [=] DTNN_DEVICE(std::int64_t group, int thread, Shared& shared) {
            const std::int64_t column = groups.column(group, thread);
            if (thread >= groups.width || column >= groups.columns) return;
            groups.of_teams[groups.team(group) * groups.columns + column] =
                groups.of_lane(shared.by_thread, groups.chunks_of_team(group), thread);
        },
        LastOf{counters,
               [=] DTNN_DEVICE(std::int64_t group) { return groups.meeting_of_all(group); }},
        [=] DTNN_DEVICE(std::int64_t group, int thread, Shared& shared) {
            shared.by_thread[thread] = groups.of_thread(
                groups.of_teams, groups.set(group) * groups.teams, groups.teams, group, thread);
        },
        [=] DTNN_DEVICE(std::int64_t group, int thread, Shared& shared) {
            const std::int64_t column = groups.column(group, thread);
            if (thread >= groups.width || column >= groups.columns) return;
            finish(groups.set(group), column,
                   groups.of_lane(shared.by_thread, groups.teams, thread));
        });
}

/// For each of `sets` matrices [rows, columns] and each of its columns: finish(set, column,
/// Sums<N>) of the sums over the rows of term(set, row, column), by way of the sums of chunks,
/// which `of_chunks` (column_sums_of(N, sets, rows, columns) doubles) holds. One launch, in which
/// neighbouring threads have neighbouring columns.
template <int N, class Term, class Finish>
static void reduce_columns(const Launch& launch, std::int64_t sets, std::int64_t rows,
                           std::int64_t columns, Sums<N>* of_chunks, const Term& term,
                           const Finish& finish) {
    using Shared = SharedSums<N>;
    const ColumnCut cut = cut_columns(sets, rows, columns);
    const ColumnGroups<N> groups(cut, of_chunks);
    reduce_groups<N, Shared>(
        launch, groups, finish,
        [=] DTNN_DEVICE(std::int64_t group, int thread, Shared& shared) {
            const std::int64_t set = groups.set(group);
            const std::int64_t column = groups.column(group, thread % groups.width);
            const std::int64_t begin = groups.chunk(group) * cut.chunk;
            const std::int64_t end = begin + cut.chunk < rows ? begin + cut.chunk : rows;
            Sums<N> sums = {};
            if (column < columns)
                for (std::int64_t row = begin + thread / groups.width; row < end;
                     row += groups.height)
                    sums.merge(term(set, row, column));
            shared.by_thread[thread] = sums;
        },
        [=] DTNN_DEVICE(std::int64_t, int thread, Shared& shared) {
            const int first = thread / groups.width;
            if (first % kSumLanes != 0) return;
            Sums<N>& sums = shared.by_thread[thread];
            for (int other = 1; other < kSumLanes && first + other < groups.height; ++other)
                sums.merge(shared.by_thread[thread + other * groups.width]);
        },
        [=] DTNN_DEVICE(std::int64_t group, int thread, Shared& shared) {
            if (thread >= groups.width || groups.column(group, thread) >= columns) return;
            Sums<N> sums = shared.by_thread[thread];
            for (int other = kSumLanes; other < groups.height; other += kSumLanes)
                sums.merge(shared.by_thread[thread + other * groups.width]);
            groups.put(group, thread, sums, finish);
        });
}

/// finish(Sums<N>) of the sums over i = 0 .. count - 1 of term(i), by way of the sums of chunks,
/// which `of_chunks` (N * chunk_sums_of(count) doubles) holds.
template <int N, class Term, class Finish>
static void reduce_all(const Launch& launch, std::int64_t count, Sums<N>* of_chunks,
                       const Term& term, const Finish& finish) {
    reduce_columns<N>(
        launch, 1, count, 1, of_chunks,
        [=] DTNN_DEVICE(std::int64_t, std::int64_t row, std::int64_t) { return term(row); },
        [=] DTNN_DEVICE(std::int64_t, std::int64_t, const Sums<N>& sums) { finish(sums); });
}

}  // namespace dtnn::kernels::cuda
