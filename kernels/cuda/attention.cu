/// Attention where no library does it: the scores of a query are worked out by the threads of a
/// group, kThreads keys at a time, and never written to memory. Each thread has some of the head's
/// numbers to add up.

#include <cmath>
#include <type_traits>

#include "kernels/arguments/attention.hpp"
#include "kernels/cuda/head_tile.hpp"
#include "kernels/cuda/kernel.hpp"
#include "kernels/cuda/rows.hpp"

namespace dtnn::kernels::cuda {
namespace {

template <class T>
DTNN_DEVICE double dot(const T* a, const T* b, std::int64_t width) {
    double sum = 0;
    for (std::int64_t u = 0; u < width; ++u)
        sum += double(a[u]) * double(b[u]);
    return sum;
}

/// The head and the step of a row of [N, heads, steps].
struct RowOfHead {
    std::int64_t n, h, t;
};

DTNN_DEVICE RowOfHead row_of_head(std::int64_t row, std::int64_t heads, std::int64_t steps) {
    return {row / steps / heads, row / steps % heads, row % steps};
}

/// For each query a sum over the keys that it sees. Sum says of what: term(a, numbers, group, at,
/// j) times row(a, at, j), into to(a, at), where `numbers` has one for each query.
template <class Sum, class Arguments>
struct QueryTile : HeadTile<1> {
    Arguments a;
    const double* numbers;

    DTNN_DEVICE std::int64_t steps() const { return (a.keys + kThreads - 1) / kThreads; }
    DTNN_DEVICE void fetch(std::int64_t step, int thread, HeadSums<1>& own) const {
        const RowOfHead at = row_of_head(own.group, a.heads, a.queries);
        const std::int64_t j = step * kThreads + thread;
        own.first = step * kThreads;
        own.term[0] = j < a.seen(at.n, at.t) ? Sum::term(a, numbers, own.group, at, j) : 0;
    }
    DTNN_DEVICE void add(int thread, const HeadTerms<1>& shared, HeadSums<1>& own) const {
        const RowOfHead at = row_of_head(own.group, a.heads, a.queries);
        own.add(thread, shared, a.seen(at.n, at.t), a.width,
                [&](std::int64_t j, int) { return Sum::row(a, at, j); });
    }
    DTNN_DEVICE void end(std::int64_t group, int thread, const HeadSums<1>& own) const {
        auto* const to = Sum::to(a, row_of_head(group, a.heads, a.queries));
        using T = std::remove_reference_t<decltype(*to)>;
        own.each(thread, a.width, [&](std::int64_t u, const double* sums) { to[u] = T(sums[0]); });
    }
};

template <class A>
DTNN_DEVICE double score(const A& a, const RowOfHead& at, std::int64_t j) {
    return a.scale *
           dot(a.query.row(at.n, at.h, at.t), a.key.row(at.n, at.h / a.sharing(), j), a.width);
}

/// dst[t] = sum over j of m[t, j] * exp(s[j] - logsumexp[t]) * value[j].
struct Result {
    template <class A>
    static DTNN_DEVICE double term(const A& a, const double* log_sums, std::int64_t group,
                                   const RowOfHead& at, std::int64_t j) {
        const double weight = a.dropout.weight(a, at.n, at.h, at.t, j);
        return weight * std::exp(score(a, at, j) - log_sums[group]);
    }
    template <class A>
    static DTNN_DEVICE auto* row(const A& a, const RowOfHead& at, std::int64_t j) {
        return a.value.row(at.n, at.h / a.sharing(), j);
    }
    template <class A>
    static DTNN_DEVICE auto* to(const A& a, const RowOfHead& at) {
        return a.dst.row(at.n, at.h, at.t);
    }
};

/// diff_query[t] = scale * sum over j of ds[t, j] * key[j].
struct QueryGradient {
    template <class A>
    static DTNN_DEVICE double term(const A& a, const double* deltas, std::int64_t group,
                                   const RowOfHead& at, std::int64_t j) {
        const double p = std::exp(score(a, at, j) - double(a.logsumexp[group]));
        const double of_p = dot(a.diff_dst.row(at.n, at.h, at.t),
                                a.value.row(at.n, at.h / a.sharing(), j), a.width);
        const double weight = a.dropout.weight(a, at.n, at.h, at.t, j);
        return a.scale * p * (weight * of_p - deltas[group]);
    }
    template <class A>
    static DTNN_DEVICE auto* row(const A& a, const RowOfHead& at, std::int64_t j) {
        return a.key.row(at.n, at.h / a.sharing(), j);
    }
    template <class A>
    static DTNN_DEVICE auto* to(const A& a, const RowOfHead& at) {
        return a.diff_query.row(at.n, at.h, at.t);
    }
};

/// Those of a key and its value, over the queries of all heads that share them.
template <class T>
struct KeyTile : HeadTile<2> {
    AttentionBackwardArguments<T> a;
    const double* deltas;

    /// Queries of all heads that share a key: that of place `at` is query `at % queries`.
    DTNN_DEVICE std::int64_t readers() const { return a.sharing() * a.queries; }
    DTNN_DEVICE std::int64_t steps() const { return (readers() + kThreads - 1) / kThreads; }
    DTNN_DEVICE void fetch(std::int64_t step, int thread, HeadSums<2>& own) const {
        const RowOfHead at = row_of_head(own.group, a.key_value_heads, a.keys);
        const std::int64_t place = step * kThreads + thread;
        own.first = step * kThreads;
        own.term[0] = own.term[1] = 0;
        if (place >= readers()) return;
        const std::int64_t t = place % a.queries, h = at.h * a.sharing() + place / a.queries;
        if (at.t >= a.seen(at.n, t)) return;
        const std::int64_t row = (at.n * a.heads + h) * a.queries + t;
        const double p = std::exp(score(a, {at.n, h, t}, at.t) - double(a.logsumexp[row]));
        const double of_p = dot(a.diff_dst.row(at.n, h, t), a.value.row(at.n, at.h, at.t), a.width);
        const double weight = a.dropout.weight(a, at.n, h, t, at.t);
        own.term[0] = a.scale * p * (weight * of_p - deltas[row]);
        own.term[1] = weight * p;
    }
    DTNN_DEVICE void add(int thread, const HeadTerms<2>& shared, HeadSums<2>& own) const {
        const RowOfHead at = row_of_head(own.group, a.key_value_heads, a.keys);
        own.add(thread, shared, readers(), a.width, [&](std::int64_t place, int which) {
            const std::int64_t t = place % a.queries, h = at.h * a.sharing() + place / a.queries;
            return which == 0 ? a.query.row(at.n, h, t) : a.diff_dst.row(at.n, h, t);
        });
    }
    DTNN_DEVICE void end(std::int64_t group, int thread, const HeadSums<2>& own) const {
        const RowOfHead at = row_of_head(group, a.key_value_heads, a.keys);
        T* const to_key = a.diff_key.row(at.n, at.h, at.t);
        T* const to_value = a.diff_value.row(at.n, at.h, at.t);
        own.each(thread, a.width, [&](std::int64_t u, const double* sums) {
            to_key[u] = T(sums[0]);
            to_value[u] = T(sums[1]);
        });
    }
};

}  // namespace

DTNN_CUDA_KERNEL(attention_queries, AttentionArguments) {
    const std::int64_t rows = a.batch * a.heads * a.queries;
    auto* const log_sums = reinterpret_cast<double*>(a.workspace);
    launch.groups<ScoreSums>(
        rows,
        [=] DTNN_DEVICE(std::int64_t row, int thread, ScoreSums& shared) {
            const RowOfHead at = row_of_head(row, a.heads, a.queries);
            double largest = -INFINITY, sum = 0;
            for (std::int64_t j = thread; j < a.seen(at.n, at.t); j += kThreads) {
                const double s = score(a, at, j);
                if (s > largest) {
                    sum *= std::exp(largest - s);
                    largest = s;
                }
                sum += s == largest ? 1.0 : std::exp(s - largest);
            }
            shared.largest[thread] = largest;
            shared.sum[thread] = sum;
        },
        [=] DTNN_DEVICE(std::int64_t row, int thread, ScoreSums& shared) {
            if (thread != 0) return;
            double largest = -INFINITY, sum = 0;
            for (int other = 0; other < kThreads; ++other)
                if (shared.largest[other] > largest) largest = shared.largest[other];
            for (int other = 0; other < kThreads; ++other)
                if (shared.sum[other] != 0)
                    sum += shared.sum[other] * std::exp(shared.largest[other] - largest);
            log_sums[row] = largest + std::log(sum);
            if (a.logsumexp != nullptr) a.logsumexp[row] = T(log_sums[row]);
        });
    launch.steps(rows, QueryTile<Result, AttentionArguments<T>>{{}, a, log_sums});
}

DTNN_CUDA_KERNEL(attention_backward_queries, AttentionBackwardArguments) {
    const std::int64_t rows = a.batch * a.heads * a.queries;
    auto* const deltas = reinterpret_cast<double*>(a.workspace);
    launch.each(rows, [=] DTNN_DEVICE(std::int64_t row) {
        const RowOfHead at = row_of_head(row, a.heads, a.queries);
        deltas[row] = dot(a.diff_dst.row(at.n, at.h, at.t), a.dst.row(at.n, at.h, at.t), a.width);
    });
    launch.steps(rows, QueryTile<QueryGradient, AttentionBackwardArguments<T>>{{}, a, deltas});
    launch.steps(a.batch * a.key_value_heads * a.keys, KeyTile<T>{{}, a, deltas});
}

}  // namespace dtnn::kernels::cuda
