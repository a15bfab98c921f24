#pragma once
/// Sums over rows of a head, for Launch::steps: a group works out kThreads terms at a time, a
/// thread each, and then every thread adds up some of the head's numbers, each row times its term.

#include "kernels/cuda/launch.hpp"

namespace dtnn::kernels::cuda {

/// Numbers of a head that a thread adds up, at most.
inline constexpr int kNumbersOfThread = 4;
/// Numbers of a head that a group can.
inline constexpr int kWidestHead = kThreads * kNumbersOfThread;

/// N terms of each row of a step.
template <int N>
struct HeadTerms {
    double of[N][kThreads];

    template <class Own>
    DTNN_DEVICE void put(int thread, const Own& own) {
        if (thread == 0) first = own.first;
        for (int n = 0; n < N; ++n)
            of[n][thread] = own.term[n];
    }

    std::int64_t first;  ///< row of the step
};

/// A thread's: N sums for each of its numbers.
template <int N>
struct HeadSums {
    double sums[kNumbersOfThread][N], term[N];
    std::int64_t group, first;

    DTNN_DEVICE void begin(std::int64_t of_group) {
        group = of_group;
        for (auto& of_number : sums)
            for (double& sum : of_number)
                sum = 0;
    }

    /// row(j, n) is what term n of row j is multiplied with.
    template <class Row>
    DTNN_DEVICE void add(int thread, const HeadTerms<N>& shared, std::int64_t rows,
                         std::int64_t width, const Row& row) {
        const std::int64_t left = rows - shared.first;
        const int count = int(left < kThreads ? left : kThreads);
        for (int i = 0; i < kNumbersOfThread; ++i) {
            const std::int64_t u = thread + std::int64_t(i) * kThreads;
            if (u >= width) return;
            for (int j = 0; j < count; ++j)
                for (int n = 0; n < N; ++n)
                    sums[i][n] += shared.of[n][j] * double(row(shared.first + j, n)[u]);
        }
    }

    /// visit(u, sums) for the thread's numbers.
    template <class Visit>
    DTNN_DEVICE void each(int thread, std::int64_t width, const Visit& visit) const {
        for (int i = 0; i < kNumbersOfThread; ++i) {
            const std::int64_t u = thread + std::int64_t(i) * kThreads;
            if (u < width) visit(u, sums[i]);
        }
    }
};

/// What tiles over a head's rows share.
template <int N>
struct HeadTile {
    using Own = HeadSums<N>;
    using Shared = HeadTerms<N>;

    DTNN_DEVICE void begin(std::int64_t group, int, Own& own) const { own.begin(group); }
    DTNN_DEVICE void put(int thread, const Own& own, Shared& shared) const {
        shared.put(thread, own);
    }
};

/// A thread's largest score of a row, and the sum of the exponentials relative to it.
struct ScoreSums {
    double largest[kThreads], sum[kThreads];
};

}  // namespace dtnn::kernels::cuda
