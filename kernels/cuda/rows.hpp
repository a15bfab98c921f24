#pragma once
/// Rows of numbers of which something is folded before something is done with each of them.

#include <cmath>

#include "kernels/cuda/chunks.hpp"
#include "kernels/cuda/reduce.hpp"

namespace dtnn::kernels::cuda {

/// The fold of a row is a trivial struct with `none()` and `merge(other)`, as Sums has them.
struct Unfolded {
    static DTNN_DEVICE Unfolded none() { return {}; }
    DTNN_DEVICE void merge(const Unfolded&) {}
};

/// The largest number; what is not a number does not count.
struct Largest {
    double value;

    static DTNN_DEVICE Largest none() { return {-INFINITY}; }
    DTNN_DEVICE void merge(const Largest& other) {
        if (other.value > value) value = other.value;
    }
};

/// The first of the largest numbers and its place. What is not a number is the largest where it is
/// the first of all numbers, and does not count elsewhere.
struct FirstLargest {
    double value;
    std::int64_t place;  ///< -1: none

    static DTNN_DEVICE FirstLargest none() { return {0, -1}; }
    static DTNN_DEVICE FirstLargest of(double value, std::int64_t place, std::int64_t first) {
        return value == value || place == first ? FirstLargest{value, place} : none();
    }
    DTNN_DEVICE void merge(const FirstLargest& other) {
        if (other.place < 0) return;
        if (place < 0 || (place < other.place ? other.value > value : !(value > other.value)))
            *this = other;
    }
};

template <class First, class Second>
struct SharedFolds {
    First first[kThreads];
    Second second[kThreads];
};

/// A thread's place among rows that `lanes` threads each walk through.
struct RowLane {
    std::int64_t row;
    int lane, start;  ///< start: the row's first thread

    DTNN_DEVICE RowLane(std::int64_t group, int thread, int lanes)
        : row(group * (kThreads / lanes) + thread / lanes),
          lane(thread % lanes),
          start(thread / lanes * lanes) {}
};

template <class Value>
DTNN_DEVICE void fold_near(Value* values, int thread, int lanes) {
    const int lane = thread % lanes;
    if (lane % kSumLanes != 0) return;
    Value& value = values[thread];
    for (int other = 1; other < kSumLanes && lane + other < lanes; ++other)
        value.merge(values[thread + other]);
}

template <class Value>
DTNN_DEVICE void fold_far(Value* values, int thread, int lanes) {
    if (thread % lanes != 0) return;
    Value& value = values[thread];
    for (int other = kSumLanes; other < lanes; other += kSumLanes)
        value.merge(values[thread + other]);
}

/// For each row:
///     a = first(row, 0) merged with first(row, 1) .. first(row, length - 1)
///     b = second(row, 0, a) merged likewise
///     finish(row, a, b), which may change b
///     each(row, k, a, b) for all k, where nothing of the row is read any more but by its own k
template <class First, class Second, class FirstTerm, class SecondTerm, class Finish, class Each>
static void fold_rows(const Launch& launch, std::int64_t rows, std::int64_t length,
                      const FirstTerm& first, const SecondTerm& second, const Finish& finish,
                      const Each& each) {
    using Shared = SharedFolds<First, Second>;
    // A few numbers of each row for a thread.
    const int lanes = int(lanes_for((length + 3) / 4, kThreads));
    const std::int64_t of_group = kThreads / lanes;
    launch.template groups<Shared>(
        (rows + of_group - 1) / of_group,
        [=] DTNN_DEVICE(std::int64_t group, int thread, Shared& shared) {
            const RowLane at(group, thread, lanes);
            First value = First::none();
            for (std::int64_t k = at.lane; k < length && at.row < rows; k += lanes)
                value.merge(first(at.row, k));
            shared.first[thread] = value;
        },
        [=] DTNN_DEVICE(std::int64_t, int thread, Shared& shared) {
            fold_near(shared.first, thread, lanes);
        },
        [=] DTNN_DEVICE(std::int64_t, int thread, Shared& shared) {
            fold_far(shared.first, thread, lanes);
        },
        [=] DTNN_DEVICE(std::int64_t group, int thread, Shared& shared) {
            const RowLane at(group, thread, lanes);
            const First folded = shared.first[at.start];
            Second value = Second::none();
            for (std::int64_t k = at.lane; k < length && at.row < rows; k += lanes)
                value.merge(second(at.row, k, folded));
            shared.second[thread] = value;
        },
        [=] DTNN_DEVICE(std::int64_t, int thread, Shared& shared) {
            fold_near(shared.second, thread, lanes);
        },
        [=] DTNN_DEVICE(std::int64_t, int thread, Shared& shared) {
            fold_far(shared.second, thread, lanes);
        },
        [=] DTNN_DEVICE(std::int64_t group, int thread, Shared& shared) {
            const RowLane at(group, thread, lanes);
            if (at.lane == 0 && at.row < rows)
                finish(at.row, shared.first[thread], shared.second[thread]);
        },
        [=] DTNN_DEVICE(std::int64_t group, int thread, Shared& shared) {
            const RowLane at(group, thread, lanes);
            if (at.row >= rows) return;
            const First folded = shared.first[at.start];
            const Second more = shared.second[at.start];
            for (std::int64_t k = at.lane; k < length; k += lanes)
                each(at.row, k, folded, more);
        });
}

/// The same with one fold, of Sums<N>.
template <int N, class Term, class Finish, class Each>
static void sum_rows(const Launch& launch, std::int64_t rows, std::int64_t length, const Term& term,
                     const Finish& finish, const Each& each) {
    fold_rows<Unfolded, Sums<N>>(
        launch, rows, length, [=] DTNN_DEVICE(std::int64_t, std::int64_t) { return Unfolded{}; },
        [=] DTNN_DEVICE(std::int64_t row, std::int64_t k, const Unfolded&) { return term(row, k); },
        [=] DTNN_DEVICE(std::int64_t row, const Unfolded&, Sums<N>& sums) { finish(row, sums); },
        [=] DTNN_DEVICE(std::int64_t row, std::int64_t k, const Unfolded&, const Sums<N>& sums) {
            each(row, k, sums);
        });
}

}  // namespace dtnn::kernels::cuda
