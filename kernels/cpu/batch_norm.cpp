#include "kernels/batch_norm.hpp"

#include <cassert>
#include <cmath>

#include "kernels/cpu/flat_image.hpp"
#include "kernels/thread_team.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// The workspace: a pair of sums per position and thread, then constants per position.
template <class T>
struct Scratch {
    double* sums;
    T* constants;
    std::int64_t period, threads;

    Scratch(std::byte* workspace, const Flat& flat, const ThreadTeam& team)
        : sums(reinterpret_cast<double*>(workspace)), period(flat.period), threads(team.size()) {
        constants = reinterpret_cast<T*>(sums + 2 * period * threads);
    }
    double* first_sums(std::int64_t member) const { return sums + 2 * period * member; }
    double* second_sums(std::int64_t member) const { return first_sums(member) + period; }
    T* constant(int which) const { return constants + period * which; }

    void clear_sums() const {
        for (std::int64_t i = 0; i < 2 * period * threads; ++i)
            sums[i] = 0;
    }
    /// Adds the threads' sums and the positions of each channel, always in the same order.
    void total(std::int64_t channels, std::int64_t c, double& first, double& second) const {
        first = second = 0;
        for (std::int64_t member = 0; member < threads; ++member) {
            for (std::int64_t p = c; p < period; p += channels) {
                first += first_sums(member)[p];
                second += second_sums(member)[p];
            }
        }
    }
    /// Gives every position of channel c the value.
    void spread(int which, std::int64_t channels, std::int64_t c, double value) const {
        for (std::int64_t p = c; p < period; p += channels)
            constant(which)[p] = T(value);
    }
};

/// Bits [i, i + kCount) of a mask, i a multiple of kCount, kCount at most 16.
template <int kCount>
DTNN_INLINE unsigned bits_at(const std::uint8_t* mask, std::int64_t i) {
    if constexpr (kCount == 16) return unsigned(mask[i / 8]) | unsigned(mask[i / 8 + 1]) << 8;
    return unsigned(mask[i / 8]) >> (i % 8) & ((1u << kCount) - 1);
}

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
    const T *src, *residual, *scale, *shift;
    T* dst;
    std::uint8_t* mask;

    template <bool relu, bool with_residual, bool with_mask>
    void apply(const Flat& flat, ThreadTeam& team) const {
        team.for_ranges(flat.groups, flat.grain(), [&](auto begin, auto end, int) {
            for_elements<T>(flat, begin, end, [&](auto lanes, std::int64_t i, std::int64_t p) {
                using V = decltype(lanes);
                auto y = V::load(src + i) * V::load(scale + p) + V::load(shift + p);
                if constexpr (with_residual) y += V::load(residual + i);
                if constexpr (with_mask) {
                    const typename V::Ints positive = y > V::zero();
                    put_bits<V>(mask, i, positive);
                }
                if constexpr (relu) y = y <= V::zero() ? V::zero() : y;
                V::store(dst + i, y);
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

/// gamma * (x - mean) * inverse_deviation + beta as x * scale + shift. Forward and backward compute
/// it from the same rounded numbers, so that both see the same elements above zero.
template <class T>
void affine(T gamma, T beta, T mean, T inverse_deviation, double& scale, double& shift) {
    scale = double(gamma) * double(inverse_deviation);
    shift = double(beta) - double(mean) * scale;
}

}  // namespace

template <class T>
void batch_norm_training_flat(const BatchNormTrainingArguments<T>& a, ThreadTeam& team) {
    const Flat flat(a.src_layout);
    const Scratch<T> scratch(a.workspace, flat, team);
    const auto count = double(flat.rows);
    // Distances from the channel's first element: their squares cancel little, whatever the mean.
    const T* const origin = scratch.constant(2);
    if (a.statistics == nullptr) {
        for (std::int64_t c = 0; c < flat.channels; ++c) {
            scratch.spread(2, flat.channels, c, double(a.src[c]));
        }
        scratch.clear_sums();
        team.for_ranges(flat.groups, flat.grain(), [&](auto begin, auto end, int member) {
            add_terms<T>(flat, begin, end, scratch.first_sums(member), scratch.second_sums(member),
                         [&](auto lanes, std::int64_t i, std::int64_t p, auto& sum, auto& squares) {
                             using V = decltype(lanes);
                             const auto distance =
                                 V::to_double(V::load(a.src + i) - V::load(origin + p));
                             sum += distance;
                             squares += distance * distance;
                         });
        });
    }
    for (std::int64_t c = 0; c < flat.channels; ++c) {
        double sum = 0, squares = 0, start = 0;
        if (a.statistics != nullptr) {
            sum = a.statistics[c];
            squares = a.statistics[flat.channels + c];
        } else {
            scratch.total(flat.channels, c, sum, squares);
            start = double(origin[c]);
        }
        const double offset = sum / count;
        const double spread = squares / count - offset * offset;
        const double variance = spread > 0 ? spread : 0;
        const double mean = start + offset;
        a.mean[c] = T(mean);
        a.inverse_deviation[c] = T(1 / std::sqrt(variance + a.epsilon));
        a.new_running_mean[c] = T(a.momentum * double(a.running_mean[c]) + (1 - a.momentum) * mean);
        a.new_running_variance[c] =
            T(a.momentum * double(a.running_variance[c]) + (1 - a.momentum) * variance);
        double scale = 0, shift = 0;
        affine(a.gamma[c], a.beta[c], a.mean[c], a.inverse_deviation[c], scale, shift);
        scratch.spread(0, flat.channels, c, scale);
        scratch.spread(1, flat.channels, c, shift);
    }
    const Normalise<T> normalise{a.src, a.residual, scratch.constant(0), scratch.constant(1),
                                 a.dst, a.mask};
    normalise(a.relu, flat, team);
}

template <class T>
void batch_norm_inference_flat(const BatchNormInferenceArguments<T>& a, ThreadTeam& team) {
    const Flat flat(a.src_layout);
    const Scratch<T> scratch(a.workspace, flat, team);
    for (std::int64_t c = 0; c < flat.channels; ++c) {
        const double scale =
            double(a.gamma[c]) / std::sqrt(double(a.running_variance[c]) + a.epsilon);
        scratch.spread(0, flat.channels, c, scale);
        scratch.spread(1, flat.channels, c, double(a.beta[c]) - double(a.running_mean[c]) * scale);
    }
    const Normalise<T> normalise{a.src, a.residual, scratch.constant(0), scratch.constant(1),
                                 a.dst, nullptr};
    normalise(a.relu, flat, team);
}

namespace {

enum class Passing { all, where_masked, where_positive };

/// The gradient that passes relu.
template <class V, Passing passing, class T>
DTNN_INLINE typename V::Vector passed(const BatchNormBackwardArguments<T>& a,
                                      const Scratch<T>& scratch, typename V::Vector x,
                                      std::int64_t i, std::int64_t p) {
    const auto diff = V::load(a.diff_dst + i);
    if constexpr (passing == Passing::where_masked) {
        return V::mask_of_bits(bits_at<V::kLanes>(a.mask, i)) ? diff : V::zero();
    } else if constexpr (passing == Passing::where_positive) {
        const auto y = x * V::load(scratch.constant(1) + p) + V::load(scratch.constant(2) + p);
        return y > V::zero() ? diff : V::zero();
    } else {
        return diff;
    }
}

template <Passing passing, class T>
void backward(const BatchNormBackwardArguments<T>& a, ThreadTeam& team) {
    const Flat flat(a.src_layout);
    const Scratch<T> scratch(a.workspace, flat, team);
    const T* const mean = scratch.constant(0);
    for (std::int64_t c = 0; c < flat.channels; ++c) {
        scratch.spread(0, flat.channels, c, double(a.mean[c]));
        if constexpr (passing == Passing::where_positive) {
            double scale = 0, shift = 0;
            affine(a.gamma[c], a.beta[c], a.mean[c], a.inverse_deviation[c], scale, shift);
            scratch.spread(1, flat.channels, c, scale);
            scratch.spread(2, flat.channels, c, shift);
        }
    }
    scratch.clear_sums();
    team.for_ranges(flat.groups, flat.grain(), [&](auto begin, auto end, int member) {
        add_terms<T>(flat, begin, end, scratch.first_sums(member), scratch.second_sums(member),
                     [&](auto lanes, std::int64_t i, std::int64_t p, auto& sum, auto& products) {
                         using V = decltype(lanes);
                         const auto x = V::load(a.src + i);
                         const auto g = passed<V, passing>(a, scratch, x, i, p);
                         sum += V::to_double(g);
                         products += V::to_double(g) * V::to_double(x - V::load(mean + p));
                     });
    });
    const auto count = double(flat.rows);
    for (std::int64_t c = 0; c < flat.channels; ++c) {
        double diff_beta = 0, products = 0;
        scratch.total(flat.channels, c, diff_beta, products);
        const auto inverse = double(a.inverse_deviation[c]);
        const double diff_gamma = products * inverse, scale = double(a.gamma[c]) * inverse;
        a.diff_beta[c] = T(diff_beta);
        a.diff_gamma[c] = T(diff_gamma);
        scratch.spread(3, flat.channels, c, scale);
        scratch.spread(4, flat.channels, c, -scale * inverse * diff_gamma / count);
        scratch.spread(5, flat.channels, c, -scale * diff_beta / count);
    }
    const T* const of_diff = scratch.constant(3);
    const T* const of_distance = scratch.constant(4);
    const T* const constant = scratch.constant(5);
    team.for_ranges(flat.groups, flat.grain(), [&](auto begin, auto end, int) {
        for_elements<T>(flat, begin, end, [&](auto lanes, std::int64_t i, std::int64_t p) {
            using V = decltype(lanes);
            const auto x = V::load(a.src + i);
            const auto g = passed<V, passing>(a, scratch, x, i, p);
            const auto distance = x - V::load(mean + p);
            if (a.diff_residual != nullptr) V::store(a.diff_residual + i, g);
            V::store(a.diff_src + i,
                     g * V::load(of_diff + p) +
                         (distance * V::load(of_distance + p) + V::load(constant + p)));
        });
    });
}

}  // namespace

template <class T>
void batch_norm_backward_flat(const BatchNormBackwardArguments<T>& a, ThreadTeam& team) {
    if (a.mask != nullptr) {
        backward<Passing::where_masked>(a, team);
    } else if (a.relu) {
        backward<Passing::where_positive>(a, team);
    } else {
        backward<Passing::all>(a, team);
    }
}

template <class T>
void fold_batch_norm_rows(const FoldBatchNormArguments<T>& a, ThreadTeam& team) {
    double* const scales = reinterpret_cast<double*>(a.workspace);
    for (std::int64_t c = 0; c < a.channels; ++c) {
        scales[c] = double(a.gamma[c]) / std::sqrt(double(a.running_variance[c]) + a.epsilon);
        const double bias = a.bias != nullptr ? double(a.bias[c]) : 0.0;
        a.dst_bias[c] = T((bias - double(a.running_mean[c])) * scales[c] + double(a.beta[c]));
    }
    const std::int64_t row = a.channels * a.inner;
    const std::int64_t grain = row >= 4096 ? 1 : 4096 / row;
    team.for_ranges(a.outer, grain, [&](auto begin, auto end, int) {
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

DTNN_KERNEL(batch_norm_training_flat, BatchNormTrainingArguments)
DTNN_KERNEL(batch_norm_backward_flat, BatchNormBackwardArguments)
DTNN_KERNEL(batch_norm_inference_flat, BatchNormInferenceArguments)
DTNN_KERNEL(fold_batch_norm_rows, FoldBatchNormArguments)

}  // namespace dtnn::kernels::DTNN_ISA
