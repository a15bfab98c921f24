#pragma once
/// Attention (Vaswani and others, "Attention is all you need", NeurIPS 2017). Of each sample, head
/// h of `heads` and query t, with the keys and values of head h / (heads / key_value_heads):
///
///     s[j]   = scale * sum over u of query[t, u] * key[j, u]
///     p      = softmax(s), over j <= t where it is causal
///     dst[t] = sum over j of p[j] * value[j],   logsumexp[t] = log(sum exp(s))
///
/// backward, with p made of s and logsumexp again and delta[t] = sum over u of diff_dst * dst:
///
///     ds[t, j]      = p[t, j] * (sum over u of diff_dst[t, u] * value[j, u] - delta[t])
///     diff_query[t] = scale * sum over j of ds[t, j] * key[j]
///     diff_key[j]   = scale * sum over t of ds[t, j] * query[t]
///     diff_value[j] = sum over t of p[t, j] * diff_dst[t]
///
/// With dropout (Srivastava and others, 2014) weights m[t, j] stand before p in dst, diff_dst *
/// value and diff_value: 1 / (1 - rate) where word ((P * heads + h) * queries + t) * keys + j of
/// the sequence (key_of(seed, dropout, stream), epoch) passes philox::keep_threshold(rate), else 0,
/// of the sample at place P of the epoch's order (kernels/arguments/dropout.hpp).
///
/// With `placed` there are more keys than queries, and query t comes at step place + t of those: it
/// sees as many keys, and itself. The place is taken as the nearest that has keys.
///
/// With `padded` lengths[n] says how many keys sample n has (length_of): those behind them are not
/// there, whatever they hold, and have gradients of zero. Queries are all worked out.
///
/// key and value sum over the heads that share them. Operands are [N, steps, heads * width],
/// row-major, each head's numbers side by side; `joined`: queries, keys and values lie side by side
/// in one operand, and so do their gradients. logsumexp is [N, heads, queries], row-major.

#include "kernels/arguments/arguments.hpp"
#include "kernels/arguments/step_place.hpp"
#include "kernels/philox.hpp"
#include "kernels/workspace/attention.hpp"

namespace dtnn::kernels {

/// Heads of a tensor, and of what it is the gradient: row t of sample n and head h begins at
/// (n * steps + t) * stride + h * width.
template <class T>
struct Heads {
    T* first = nullptr;
    std::int64_t steps = 0, stride = 0, width = 0;

    DTNN_DEVICE T* row(std::int64_t n, std::int64_t h, std::int64_t t) const {
        return first + (n * steps + t) * stride + h * width;
    }
};

struct AttentionSizes {
    std::int64_t batch, queries, keys, heads, key_value_heads, width;
    double scale;
    bool causal, joined;
    const std::int64_t* place = nullptr;    ///< of query 0 among the keys; null: it is key 0's
    const std::int32_t* lengths = nullptr;  ///< keys of each sample; null: all

    explicit AttentionSizes(const Problem& problem)
        : heads(problem.integer("heads")),
          key_value_heads(problem.integer("key_value_heads")),
          scale(problem.real("scale")),
          causal(problem.flag("causal")),
          joined(problem.flag("joined")) {
        const Dims &query = problem.sources[0].dims,
                   &key = joined ? query : problem.sources[1].dims;
        batch = query[0], queries = query[1], keys = key[1];
        width = query[2] / (joined ? heads + 2 * key_value_heads : heads);
    }
    /// Heads that share keys and values.
    DTNN_DEVICE std::int64_t sharing() const { return heads / key_value_heads; }
    /// The keys that sample n has.
    DTNN_DEVICE std::int64_t keys_in(std::int64_t n) const { return length_of(lengths, n, keys); }
    /// The keys that query t of sample n sees.
    DTNN_DEVICE std::int64_t seen(std::int64_t n, std::int64_t t) const {
        if (place != nullptr) t += place_within(*place, keys - queries);
        const std::int64_t there = keys_in(n);
        return causal && t + 1 < there ? t + 1 : there;
    }

    template <class T>
    Heads<T> queries_of(T* first) const {
        return {first, queries, joined ? joined_stride() : heads * width, width};
    }
    template <class T>
    Heads<T> keys_of(T* joined_first, T* first) const {
        if (!joined) return {first, keys, key_value_heads * width, width};
        return {joined_first + heads * width, keys, joined_stride(), width};
    }
    template <class T>
    Heads<T> values_of(T* joined_first, T* first) const {
        if (!joined) return {first, keys, key_value_heads * width, width};
        return {joined_first + (heads + key_value_heads) * width, keys, joined_stride(), width};
    }
    template <class T>
    Heads<T> results_of(T* first) const {
        return {first, queries, heads * width, width};
    }

  private:
    std::int64_t joined_stride() const { return (heads + 2 * key_value_heads) * width; }
};

/// What is dropped of the weights of keys.
struct AttentionDropout {
    std::uint64_t key = 0, threshold = 0;    ///< the least word that is kept
    double factor = 1;                       ///< of what is kept
    const std::int64_t* position = nullptr;  ///< {epoch, place of the batch's first sample}; null:
                                             ///< nothing is dropped

    AttentionDropout(const Problem& problem, const std::int64_t* place) : position(place) {
        if (place == nullptr) return;
        key = philox::key_of(std::uint64_t(problem.integer("seed")), philox::Purpose::dropout,
                             std::uint64_t(problem.integer("stream")));
        threshold = philox::keep_threshold(problem.real("dropout"));
        factor = 1 / (1 - problem.real("dropout"));
    }

    DTNN_DEVICE bool drops() const { return position != nullptr; }
    DTNN_DEVICE std::uint64_t epoch() const { return std::uint64_t(position[0]); }
    /// The word of key 0.
    DTNN_DEVICE std::uint64_t first_word(const AttentionSizes& a, std::int64_t n, std::int64_t h,
                                         std::int64_t t) const {
        const std::int64_t row = ((position[1] + n) * a.heads + h) * a.queries + t;
        return std::uint64_t(row) * std::uint64_t(a.keys);
    }
    DTNN_DEVICE double weight(const AttentionSizes& a, std::int64_t n, std::int64_t h,
                              std::int64_t t, std::int64_t j) const {
        if (!drops()) return 1;
        const std::uint64_t word = first_word(a, n, h, t) + std::uint64_t(j);
        return philox::word(key, epoch(), word) >= threshold ? factor : 0;
    }
};

template <class T>
struct AttentionArguments : FromOperands, AttentionSizes {
    Heads<const T> query = queries_of<const T>(o.source("src"));
    Heads<const T> key = keys_of<const T>(o.source("src"), o.source("key"));
    Heads<const T> value = values_of<const T>(o.source("src"), o.source("value"));
    AttentionDropout dropout{o.problem, o.source("position")};
    Heads<T> dst = results_of<T>(o.result("dst"));
    T* logsumexp = o.result("logsumexp");  ///< null: not wanted
    std::byte* workspace = o.scratch();

    explicit AttentionArguments(const Operands& operands)
        : FromOperands(operands), AttentionSizes(operands.problem) {
        place = o.source("place");
        lengths = o.source("lengths");
    }
};

template <class T>
struct AttentionBackwardArguments : FromOperands, AttentionSizes {
    Heads<const T> query = queries_of<const T>(o.source("src"));
    Heads<const T> key = keys_of<const T>(o.source("src"), o.source("key"));
    Heads<const T> value = values_of<const T>(o.source("src"), o.source("value"));
    Heads<const T> dst = results_of<const T>(o.source("dst"));
    Heads<const T> diff_dst = results_of<const T>(o.source("diff_dst"));
    const T* logsumexp = o.source("logsumexp");
    AttentionDropout dropout{o.problem, o.source("position")};
    Heads<T> diff_query = queries_of<T>(o.result("diff_src"));
    Heads<T> diff_key = keys_of<T>(o.result("diff_src"), o.result("diff_key"));
    Heads<T> diff_value = values_of<T>(o.result("diff_src"), o.result("diff_value"));
    std::byte* workspace = o.scratch();

    explicit AttentionBackwardArguments(const Operands& operands)
        : FromOperands(operands), AttentionSizes(operands.problem) {
        lengths = o.source("lengths");
    }
};

}  // namespace dtnn::kernels
