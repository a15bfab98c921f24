/// Attention in blocks of queries and keys: the scores of a block are never written to memory, and
/// the softmax of a query is put together of the blocks' largest scores and sums as they come (Dao
/// and others, "FlashAttention", NeurIPS 2022; Milakov and Gimelshein, 2018).

#include "kernels/arguments/attention.hpp"

#include <cmath>

#include "kernels/cpu/exponential.hpp"
#include "kernels/cpu/philox_blocks.hpp"
#include "kernels/cpu/simd.hpp"
#include "kernels/cpu/small_products.hpp"
#include "kernels/thread_team.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// Rows of a head, one behind the other, `row` numbers each; zeros behind the head's own.
template <class T>
void put_head_rows(T* to, std::int64_t row, const Heads<const T>& from, std::int64_t n,
                   std::int64_t h, std::int64_t first, std::int64_t count, T factor) {
    for (std::int64_t t = 0; t < count; ++t, to += row) {
        const T* const x = from.row(n, h, first + t);
        for (std::int64_t u = 0; u < from.width; ++u)
            to[u] = x[u] * factor;
        for (std::int64_t u = from.width; u < row; ++u)
            to[u] = 0;
    }
}

/// The same across: a row for each of the head's numbers, of `row` rows of the head, zeros behind
/// the last.
template <class T>
void put_head_across(T* to, std::int64_t row, const Heads<const T>& from, std::int64_t n,
                     std::int64_t h, std::int64_t first, std::int64_t count, T factor) {
    constexpr std::int64_t kTogether = 16;
    for (std::int64_t t0 = 0; t0 < row; t0 += kTogether) {
        const std::int64_t known = count - t0 < kTogether ? count - t0 : kTogether;
        const T* rows[kTogether];
        for (std::int64_t t = 0; t < kTogether; ++t)
            rows[t] = from.row(n, h, first + (t < known ? t0 + t : 0));
        for (std::int64_t u = 0; u < from.width; ++u) {
            T* const line = to + u * row + t0;
            for (std::int64_t t = 0; t < kTogether && t0 + t < row; ++t)
                line[t] = t < known ? rows[t][u] * factor : T(0);
        }
    }
}

std::int64_t head_blocks(std::int64_t count, std::int64_t size) {
    return (count + size - 1) / size;
}
std::int64_t rest_of_block(std::int64_t count, std::int64_t size, std::int64_t block) {
    const std::int64_t left = count - block * size;
    return left < size ? left : size;
}

/// A thread's memory, part by part.
template <class T>
class HeadScratch {
  public:
    HeadScratch(std::byte* workspace, std::int64_t elements, int thread)
        : at_(reinterpret_cast<T*>(workspace) + elements * thread) {}
    T* take(std::int64_t count) {
        T* const part = at_;
        at_ += count;
        return part;
    }

  private:
    T* at_;
};

template <class T>
struct RunningSoftmax {
    T largest, sum;
};

/// The exponentials of a query's scores of a block, relative to the largest so far; what was summed
/// up before is made relative to that, too.
template <class T>
DTNN_INLINE void take_scores(T* scores, std::int64_t seen, std::int64_t columns,
                             RunningSoftmax<T>& running, T* result, std::int64_t row) {
    constexpr int L = kLanes<T>;
    T largest = running.largest;
    Vector<T, L> of_lanes = broadcast<T, L>(largest);
    std::int64_t whole = 0;
    for (; whole + L <= seen; whole += L) {
        const Vector<T, L> some = load<T, L>(scores + whole);
        of_lanes = some > of_lanes ? some : of_lanes;
    }
    for (int lane = 0; lane < L; ++lane)
        largest = of_lanes[lane] > largest ? of_lanes[lane] : largest;
    for (std::int64_t j = whole; j < seen; ++j)
        largest = scores[j] > largest ? scores[j] : largest;
    for_channels<T>(columns, [&](auto lanes, std::int64_t j) {
        using V = decltype(lanes);
        V::store(scores + j, exponential(lanes, V::load(scores + j) - V::broadcast(largest)));
    });
    for (std::int64_t j = seen; j < columns; ++j)
        scores[j] = 0;
    T sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t j = 0; j < columns; ++j)
        sum += scores[j];
    if (running.sum == T(0)) {
        running = {largest, sum};
        return;
    }
    const T factor = largest == running.largest ? T(1) : T(std::exp(running.largest - largest));
    running = {largest, running.sum * factor + sum};
    if (factor == T(1)) return;
    for (std::int64_t u = 0; u < row; ++u)
        result[u] *= factor;
}

/// body(i, kept) for the keys [j, j + count) of a query.
template <class Body>
DTNN_INLINE void for_kept(const AttentionSizes& a, const AttentionDropout& dropout, std::int64_t n,
                          std::int64_t h, std::int64_t t, std::int64_t j, std::int64_t count,
                          Body body) {
    const Numbers drawn{dropout.key, dropout.epoch(),
                        dropout.first_word(a, n, h, t) + std::uint64_t(j)};
    for_words(drawn, 0, count, [&](const std::uint32_t* words, auto begin, auto end) {
        for (std::int64_t i = begin; i < end; ++i)
            body(i, words[i - begin] >= dropout.threshold);
    });
}

}  // namespace

DTNN_KERNEL(attention_blocks, AttentionArguments) {
    const std::int64_t width = a.width, row = padded_head(width);
    const std::int64_t numbers = whole_vectors<T>(width);
    const std::int64_t blocks = head_blocks(a.queries, kAttentionQueries);
    team.for_pieces(a.batch * a.heads * blocks, 1, [&](auto begin, auto end, int thread) {
        HeadScratch<T> scratch(a.workspace, attention_elements(width), thread);
        T* const query = scratch.take(kAttentionQueries * row);
        T* const result = scratch.take(kAttentionQueries * row);
        T* const keys = scratch.take(kAttentionKeys * row);
        T* const values = scratch.take(kAttentionKeys * row);
        T* const scores = scratch.take(kAttentionQueries * kAttentionKeys);
        auto* const running =
            reinterpret_cast<RunningSoftmax<T>*>(scratch.take(2 * kAttentionQueries));
        for (std::int64_t task = begin; task < end; ++task) {
            // The last blocks of causal attention have most to do: they come first.
            const std::int64_t block = blocks - 1 - task % blocks, h = task / blocks % a.heads,
                               n = task / blocks / a.heads, g = h / a.sharing();
            const std::int64_t first = block * kAttentionQueries;
            const std::int64_t count = rest_of_block(a.queries, kAttentionQueries, block);
            put_head_rows(query, row, a.query, n, h, first, count, T(a.scale));
            clear_numbers(result, count * row);
            for (std::int64_t t = 0; t < count; ++t)
                running[t] = {-HUGE_VALF, 0};
            const std::int64_t most = a.seen(n, first + count - 1);
            for (std::int64_t j = 0; j < most; j += kAttentionKeys) {
                const std::int64_t of_block = most - j < kAttentionKeys ? most - j : kAttentionKeys;
                const std::int64_t columns = whole_vectors<T>(of_block);
                put_head_across(keys, kAttentionKeys, a.key, n, g, j, of_block, T(1));
                put_head_rows(values, row, a.value, n, g, j, of_block, T(1));
                clear_numbers(scores, count * kAttentionKeys);
                multiply_small(count, width, columns, {query, row}, keys, kAttentionKeys, scores,
                               kAttentionKeys);
                for (std::int64_t t = 0; t < count; ++t) {
                    const std::int64_t left = a.seen(n, first + t) - j;
                    const std::int64_t seen = left < of_block ? left : of_block;
                    T* const weights = scores + t * kAttentionKeys;
                    if (seen <= 0) {
                        clear_numbers(weights, of_block);
                        continue;
                    }
                    take_scores(weights, seen, columns, running[t], result + t * row, numbers);
                    if (!a.dropout.drops()) continue;
                    const T factor = T(a.dropout.factor);
                    for_kept(a, a.dropout, n, h, first + t, j, seen, [&](auto i, bool kept) {
                        weights[i] = kept ? weights[i] * factor : T(0);
                    });
                }
                multiply_small(count, of_block, numbers, {scores, kAttentionKeys}, values, row,
                               result, row);
            }
            for (std::int64_t t = 0; t < count; ++t) {
                const T share = 1 / running[t].sum;
                T* const to = a.dst.row(n, h, first + t);
                for (std::int64_t u = 0; u < width; ++u)
                    to[u] = result[t * row + u] * share;
                if (a.logsumexp != nullptr)
                    a.logsumexp[(n * a.heads + h) * a.queries + first + t] =
                        running[t].largest + T(std::log(running[t].sum));
            }
        }
    });
}

namespace {

/// A thread's memory in backward, and what it computes there: keys are rows, queries columns.
template <class T>
struct AttentionBackwardBlock {
    const AttentionBackwardArguments<T>& a;
    const std::int64_t width = a.width, row = padded_head(width), numbers = whole_vectors<T>(width);
    HeadScratch<T> scratch;
    T* const query = scratch.take(kAttentionQueries * row);
    T* const diff = scratch.take(kAttentionQueries * row);
    T* const query_across = scratch.take(kAttentionQueries * row);
    T* const diff_across = scratch.take(kAttentionQueries * row);
    T* const diff_query = scratch.take(kAttentionQueries * row);
    T* const diff_key = scratch.take(kAttentionKeysBackward * row);
    T* const diff_value = scratch.take(kAttentionKeysBackward * row);
    T* const probabilities = scratch.take(kAttentionKeysBackward * kAttentionQueries);
    T* const gradients = scratch.take(kAttentionKeysBackward * kAttentionQueries);
    T* const log_sums = scratch.take(kAttentionQueries);
    T* const deltas = scratch.take(kAttentionQueries);

    AttentionBackwardBlock(const AttentionBackwardArguments<T>& arguments, int thread)
        : a(arguments),
          scratch(arguments.workspace, attention_backward_elements(arguments.width), thread) {}

    /// The block of queries from `first` on, zeros behind the last.
    void take_queries(std::int64_t n, std::int64_t h, std::int64_t first, std::int64_t count) {
        put_head_rows(query, row, a.query, n, h, first, count, T(a.scale));
        put_head_rows(diff, row, a.diff_dst, n, h, first, count, T(1));
        put_head_across(query_across, kAttentionQueries, a.query, n, h, first, count, T(a.scale));
        put_head_across(diff_across, kAttentionQueries, a.diff_dst, n, h, first, count, T(1));
        clear_numbers(log_sums, kAttentionQueries);
        clear_numbers(deltas, kAttentionQueries);
        for (std::int64_t t = 0; t < count; ++t) {
            const T* const y = a.dst.row(n, h, first + t);
            T delta = 0;
#pragma omp simd reduction(+ : delta)
            for (std::int64_t u = 0; u < width; ++u)
                delta += y[u] * diff[t * row + u];
            deltas[t] = delta;
            log_sums[t] = a.logsumexp[(n * a.heads + h) * a.queries + first + t];
        }
    }

    /// Adds what queries [first, first + count) give to keys [key, key + keys) and they to them.
    void add(std::int64_t n, std::int64_t h, std::int64_t g, std::int64_t first, std::int64_t count,
             std::int64_t key, std::int64_t keys) {
        constexpr std::int64_t Q = kAttentionQueries;
        const std::int64_t columns = whole_vectors<T>(count);
        clear_numbers(probabilities, keys * Q);
        clear_numbers(gradients, keys * Q);
        multiply_small(keys, width, columns, {a.key.row(n, g, key), a.key.stride}, query_across, Q,
                       probabilities, Q);
        multiply_small(keys, width, columns, {a.value.row(n, g, key), a.value.stride}, diff_across,
                       Q, gradients, Q);
        // What is kept of each key by each query, likewise.
        std::uint8_t kept[kAttentionKeysBackward * Q];
        const T factor = T(a.dropout.factor);
        for (std::int64_t t = 0; a.dropout.drops() && t < count; ++t)
            for_kept(a, a.dropout, n, h, first + t, key, keys, [&](auto j, bool keep) {
                kept[j * Q + t] = keep ? 1 : 0;
                gradients[j * Q + t] *= keep ? factor : T(0);
            });
        for (std::int64_t j = 0; j < keys; ++j) {
            T* const p = probabilities + j * Q;
            T* const ds = gradients + j * Q;
            for_channels<T>(columns, [&](auto lanes, std::int64_t t) {
                using V = decltype(lanes);
                const auto share = exponential(lanes, V::load(p + t) - V::load(log_sums + t));
                V::store(p + t, share);
                V::store(ds + t, share * (V::load(ds + t) - V::load(deltas + t)));
            });
            // Queries before the key do not see it.
            const std::int64_t unseen = a.causal && key + j > first ? key + j - first : 0;
            for (std::int64_t t = 0; t < unseen && t < count; ++t)
                p[t] = ds[t] = 0;
            for (std::int64_t t = 0; a.dropout.drops() && t < count; ++t)
                p[t] = kept[j * Q + t] != 0 ? p[t] * factor : T(0);
        }
        multiply_small(keys, count, numbers, {probabilities, Q}, diff, row, diff_value, row);
        // The queries have the scale in them already.
        multiply_small(keys, count, numbers, {gradients, Q}, query, row, diff_key, row);
        add_to_queries(n, h, g, first, count, key, keys);
    }

    void add_to_queries(std::int64_t n, std::int64_t h, std::int64_t g, std::int64_t first,
                        std::int64_t count, std::int64_t key, std::int64_t keys) {
        // The keys' rows are read as they lie, but for those that do not fill vectors.
        clear_numbers(diff_query, count * row);
        T* const filled = query;  // nobody reads the block's queries any more
        if (numbers != width) {
            for (std::int64_t j = 0; j < keys; j += kAttentionQueries) {
                const std::int64_t some =
                    keys - j < kAttentionQueries ? keys - j : kAttentionQueries;
                put_head_rows(filled, row, a.key, n, g, key + j, some, T(1));
                multiply_small(count, some, numbers,
                               {gradients + j * kAttentionQueries, 1, kAttentionQueries}, filled,
                               row, diff_query, row);
            }
        } else {
            multiply_small(count, keys, numbers, {gradients, 1, kAttentionQueries},
                           a.key.row(n, g, key), a.key.stride, diff_query, row);
        }
        for (std::int64_t t = 0; t < count; ++t) {
            T* const to = a.diff_query.row(n, h, first + t);
            const T* const more = diff_query + t * row;
            for (std::int64_t u = 0; u < width; ++u)
                to[u] += more[u] * T(a.scale);
        }
    }

    void give_keys(std::int64_t n, std::int64_t g, std::int64_t key, std::int64_t keys) {
        for (std::int64_t j = 0; j < keys; ++j) {
            T* const to_key = a.diff_key.row(n, g, key + j);
            T* const to_value = a.diff_value.row(n, g, key + j);
            for (std::int64_t u = 0; u < width; ++u) {
                to_key[u] = diff_key[j * row + u];
                to_value[u] = diff_value[j * row + u];
            }
        }
    }
};

}  // namespace

/// A thread has whole heads of keys and values, with all of the queries that read them.
DTNN_KERNEL(attention_backward_blocks, AttentionBackwardArguments) {
    team.for_pieces(a.batch * a.key_value_heads, 1, [&](auto begin, auto end, int thread) {
        AttentionBackwardBlock<T> block(a, thread);
        for (std::int64_t task = begin; task < end; ++task) {
            const std::int64_t n = task / a.key_value_heads, g = task % a.key_value_heads;
            const std::int64_t heads = g * a.sharing();
            for (std::int64_t h = heads; h < heads + a.sharing(); ++h)
                for (std::int64_t t = 0; t < a.queries; ++t)
                    clear_numbers(a.diff_query.row(n, h, t), a.width);
            for (std::int64_t key = 0; key < a.keys; key += kAttentionKeysBackward) {
                const std::int64_t keys =
                    rest_of_block(a.keys, kAttentionKeysBackward, key / kAttentionKeysBackward);
                clear_numbers(block.diff_key, keys * block.row);
                clear_numbers(block.diff_value, keys * block.row);
                const std::int64_t left = a.keys_in(n) - key;
                const std::int64_t there = left < keys ? left : keys;
                const std::int64_t from =
                    a.causal ? key / kAttentionQueries * kAttentionQueries : 0;
                for (std::int64_t h = heads; there > 0 && h < heads + a.sharing(); ++h) {
                    for (std::int64_t t = from; t < a.queries; t += kAttentionQueries) {
                        const std::int64_t count =
                            rest_of_block(a.queries, kAttentionQueries, t / kAttentionQueries);
                        block.take_queries(n, h, t, count);
                        block.add(n, h, g, t, count, key, there);
                    }
                }
                block.give_keys(n, g, key, keys);
            }
        }
    });
}

}  // namespace dtnn::kernels::DTNN_ISA
