#include "kernels/arguments/batch_norm.hpp"

#include <cassert>
#include <cmath>

#include "kernels/cpu/batch_norm_flat.hpp"
#include "kernels/cpu/expression_chunk.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// Writes the mask's bits; a single element sets its bit in a byte that bit 0 begins.
template <class V>
DTNN_INLINE void put_bits(std::uint8_t* mask, std::int64_t i, typename V::Ints positive) {
    const unsigned bits = V::bits_of_mask(positive);
    if constexpr (V::kLanes == 16) {
        mask[i / 8] = std::uint8_t(bits);
        mask[i / 8 + 1] = std::uint8_t(bits >> 8);
    } else if constexpr (V::kLanes == 8) {
        mask[i / 8] = std::uint8_t(bits);
    } else {
        const auto shifted = std::uint8_t(bits << (i % 8));
        mask[i / 8] = i % 8 == 0 ? shifted : std::uint8_t(mask[i / 8] | shifted);
    }
}

template <class T>
struct Normalise {
    const T *src, *residual, *centre, *scale, *shift;
    T* dst;
    std::uint8_t* mask;

    template <bool relu, bool with_residual, bool with_mask>
    DTNN_INLINE void groups(const Flat& flat, std::int64_t begin, std::int64_t end) const {
        for_elements<T>(flat, begin, end, [&](auto lanes, std::int64_t i, std::int64_t p) {
            using V = decltype(lanes);
            auto y =
                (V::load(src + i) - V::load(centre + p)) * V::load(scale + p) + V::load(shift + p);
            if constexpr (with_residual) y += V::load(residual + i);
            if constexpr (with_mask) {
                const typename V::Ints positive = y > V::zero();
                put_bits<V>(mask, i, positive);
            }
            if constexpr (relu) y = y <= V::zero() ? V::zero() : y;
            V::store(dst + i, y);
        });
    }
    template <bool relu, bool with_residual, bool with_mask>
    void apply(const Flat& flat, ThreadTeam& team) const {
        team.for_pieces(flat.groups, flat.grain(), [&](auto begin, auto end, int) {
            groups<relu, with_residual, with_mask>(flat, begin, end);
        });
    }
    /// Then an expression, over a chunk at a time.
    void then(const ElementwiseArguments<T>& epilogue, const Flat& flat, ThreadTeam& team) const {
        team.for_pieces(flat.groups, flat.grain(), [&](auto begin, auto end, int) {
            for_chunks(flat, begin, end, [&](std::int64_t from, std::int64_t to) {
                groups<false, false, false>(flat, from, to);
                const std::int64_t first = from * flat.period, last = flat.end_of(to);
                const T* const sources[] = {dst};
                evaluate_into(epilogue, sources, first, last, dst + first);
            });
        });
    }
    template <bool relu, bool with_residual>
    void with_mask(const Flat& flat, ThreadTeam& team) const {
        mask != nullptr ? apply<relu, with_residual, true>(flat, team)
                        : apply<relu, with_residual, false>(flat, team);
    }
    void operator()(bool relu, const Flat& flat, ThreadTeam& team) const {
        if (relu) {
            residual != nullptr ? with_mask<true, true>(flat, team)
                                : with_mask<true, false>(flat, team);
        } else {
            residual != nullptr ? with_mask<false, true>(flat, team)
                                : with_mask<false, false>(flat, team);
        }
    }
};

/// Of sums of distances from `origin` and of their squares.
Moments moments_of_sums(double origin, double sum, double squares, double count) {
    const double offset = sum / count;
    const double spread = squares / count - offset * offset;
    return {origin + offset, spread > 0 ? spread : 0};
}

}  // namespace

DTNN_KERNEL(batch_norm_training_flat, BatchNormTrainingArguments) {
    const Flat flat(a.src_layout);
    const Scratch<T> scratch(a.workspace, flat, team);
    // Distances from the channel's first element: their squares cancel little, whatever the mean.
    const T* const origin = scratch.constant(2);
    if (a.statistics == nullptr) {
        for (std::int64_t c = 0; c < flat.channels; ++c) {
            scratch.spread(2, flat, c, double(a.src[c * flat.inner]));
        }
        scratch.sum(flat, team, [&](auto begin, auto end, auto piece) {
            add_terms<T>(flat, begin, end, scratch.first_sums(piece), scratch.second_sums(piece),
                         [&](auto lanes, std::int64_t i, std::int64_t p, auto& sum, auto& squares) {
                             using V = decltype(lanes);
                             const auto distance =
                                 V::to_double(V::load(a.src + i) - V::load(origin + p));
                             sum += distance;
                             squares += distance * distance;
                         });
        });
    }
    const double count = a.count();
    for (std::int64_t c = 0; c < flat.channels; ++c) {
        Moments moments;
        if (a.synchronised) {
            moments = moments_of_ranks(a.statistics + c, flat.channels, count);
        } else if (a.statistics != nullptr) {
            moments = moments_of_sums(a.statistics[2 * flat.channels + c], a.statistics[c],
                                      a.statistics[flat.channels + c], count);
        } else {
            double sum = 0, squares = 0;
            scratch.total(flat, c, sum, squares);
            moments = moments_of_sums(double(origin[c * flat.inner]), sum, squares, count);
        }
        const auto [mean, variance] = moments;
        a.mean[c] = mean;
        a.inverse_deviation[c] = T(1 / std::sqrt(variance + a.epsilon));
        a.new_running_mean[c] = T(a.momentum * double(a.running_mean[c]) + (1 - a.momentum) * mean);
        a.new_running_variance[c] =
            T(a.momentum * double(a.running_variance[c]) + (1 - a.momentum) * variance);
        double scale = 0, shift = 0;
        affine(a.gamma[c], a.beta[c], a.mean[c], a.inverse_deviation[c], scale, shift);
        scratch.spread(0, flat, c, scale);
        scratch.spread(1, flat, c, shift);
        scratch.spread(2, flat, c, mean);
    }
    const Normalise<T> normalise{
        a.src, a.residual, scratch.constant(2), scratch.constant(0), scratch.constant(1),
        a.dst, a.mask};
    if (a.written)
        normalise.then(a.epilogue, flat, team);
    else
        normalise(a.relu, flat, team);
}

DTNN_KERNEL(batch_norm_inference_flat, BatchNormInferenceArguments) {
    const Flat flat(a.src_layout);
    const Scratch<T> scratch(a.workspace, flat, team);
    for (std::int64_t c = 0; c < flat.channels; ++c) {
        const double scale =
            double(a.gamma[c]) / std::sqrt(double(a.running_variance[c]) + a.epsilon);
        scratch.spread(0, flat, c, scale);
        scratch.spread(1, flat, c, double(a.beta[c]));
        scratch.spread(2, flat, c, double(a.running_mean[c]));
    }
    const Normalise<T> normalise{
        a.src, a.residual, scratch.constant(2), scratch.constant(0), scratch.constant(1),
        a.dst, nullptr};
    normalise(a.relu, flat, team);
}

namespace {

/// Writes the gradient behind the expression into diff_src, which may lie on diff_dst, and adds up
/// its sums.
template <class T>
void add_written_gradients(const BatchNormBackwardArguments<T>& a, const Flat& flat,
                           const Scratch<T>& scratch, ThreadTeam& team) {
    const T *const centre = scratch.constant(0), *const scale = scratch.constant(1),
                   *const shift = scratch.constant(2);
    const auto add_chunk = [&](std::int64_t from, std::int64_t to, std::int64_t piece) {
        alignas(64) T normalised[kChunkElements];
        const auto pass = [&](std::int64_t at, std::int64_t count) {
            const T* const sources[] = {a.diff_dst, normalised - at};
            evaluate_into(a.epilogue, sources, at, at + count, a.diff_src + at);
        };
        const auto normalise = [&](std::int64_t at, std::int64_t p, std::int64_t count,
                                   T* to_here) {
#pragma GCC ivdep
            for (std::int64_t i = 0; i < count; ++i)
                to_here[i] = (a.src[at + i] - centre[p + i]) * scale[p + i] + shift[p + i];
        };
        const std::int64_t first = from * flat.period, last = flat.end_of(to);
        if (last - first <= kChunkElements) {
            for (std::int64_t group = from; group < to; ++group) {
                const std::int64_t at = group * flat.period;
                normalise(at, 0, flat.length(group), normalised + (at - first));
            }
            pass(first, last - first);
        } else {  // one group
            for (std::int64_t at = first; at < last; at += kChunkElements) {
                const std::int64_t count = last - at < kChunkElements ? last - at : kChunkElements;
                normalise(at, at - first, count, normalised);
                pass(at, count);
            }
        }
        add_gradients_of_groups<Passing::in_diff_src>(a, flat, scratch, from, to, piece);
    };
    scratch.sum(flat, team, [&](auto begin, auto end, auto piece) {
        for_chunks(flat, begin, end,
                   [&](std::int64_t from, std::int64_t to) { add_chunk(from, to, piece); });
    });
}

template <Passing passing, class T>
void backward(const BatchNormBackwardArguments<T>& a, ThreadTeam& team) {
    const Flat flat(a.src_layout);
    const Scratch<T> scratch(a.workspace, flat, team);
    if constexpr (passing == Passing::in_diff_src) {
        spread_forward<Passing::where_positive>(a, flat, scratch);
        add_written_gradients(a, flat, scratch, team);
    } else {
        spread_forward<passing>(a, flat, scratch);
        add_gradients<passing>(a, flat, scratch, team);
    }
    const auto count = double(flat.rows);
    for (std::int64_t c = 0; c < flat.channels; ++c) {
        double diff_beta = 0, diff_gamma = 0;
        total_gradients(a, flat, scratch, c, diff_beta, diff_gamma);
        a.diff_beta[c] = T(diff_beta);
        a.diff_gamma[c] = T(diff_gamma);
        spread_backward(a, flat, scratch, c, diff_beta, diff_gamma, count);
    }
    write_diff_src<passing>(a, flat, scratch, team);
}

}  // namespace

DTNN_KERNEL(batch_norm_backward_flat, BatchNormBackwardArguments) {
    if (a.written)
        backward<Passing::in_diff_src>(a, team);
    else
        choose_passing(a, [&](auto passing) { backward<decltype(passing)::value>(a, team); });
}

DTNN_KERNEL(fold_batch_norm_rows, FoldBatchNormArguments) {
    double* const scales = reinterpret_cast<double*>(a.workspace);
    for (std::int64_t c = 0; c < a.channels; ++c) {
        scales[c] = double(a.gamma[c]) / std::sqrt(double(a.running_variance[c]) + a.epsilon);
        const double bias = a.bias != nullptr ? double(a.bias[c]) : 0.0;
        a.dst_bias[c] = T((bias - double(a.running_mean[c])) * scales[c] + double(a.beta[c]));
    }
    const std::int64_t row = a.channels * a.inner;
    const std::int64_t grain = row >= 4096 ? 1 : 4096 / row;
    team.for_pieces(a.outer, grain, [&](auto begin, auto end, int) {
        for (std::int64_t outer = begin; outer < end; ++outer) {
            for (std::int64_t c = 0; c < a.channels; ++c) {
                const std::int64_t at = outer * row + c * a.inner;
                for (std::int64_t i = at; i < at + a.inner; ++i) {
                    a.dst_weights[i] = T(double(a.weights[i]) * scales[c]);
                }
            }
        }
    });
}

}  // namespace dtnn::kernels::DTNN_ISA
