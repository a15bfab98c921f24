#pragma once
/// The parts that batch norm kernels over flat images share: sums and constants per position, and
/// the two walks of backward, which one kernel does at once and, when ranks share a batch, two do.

#include <type_traits>

#include "kernels/cpu/flat_image.hpp"
#include "kernels/cpu/piece_sums.hpp"

namespace dtnn::kernels::DTNN_ISA {

/// The workspace: a pair of sums per position and piece, then constants per position.
template <class T>
struct Scratch {
    double* sums;
    T* constants;
    std::int64_t period;

    Scratch(std::byte* workspace, const Flat& flat, const ThreadTeam& team)
        : sums(reinterpret_cast<double*>(workspace)), period(flat.period) {
        constants = reinterpret_cast<T*>(sums + 2 * period * ThreadTeam::most_pieces(team.size()));
    }
    double* first_sums(std::int64_t piece) const { return sums + 2 * period * piece; }
    double* second_sums(std::int64_t piece) const { return first_sums(piece) + period; }
    T* constant(int which) const { return constants + period * which; }

    /// add(begin, end, piece) for pieces of the groups, each with sums of its own, which begin with
    /// zeros; then all are added up.
    template <class Add>
    void sum(const Flat& flat, ThreadTeam& team, const Add& add) const {
        team.for_sums(flat.groups, flat.grain(), [&](auto begin, auto end, auto piece, int) {
            for (std::int64_t i = 0; i < 2 * period; ++i)
                first_sums(piece)[i] = 0;
            add(begin, end, piece);
        });
        add_up_pieces(sums, 2 * period, team.pieces(flat.groups, flat.grain()), 2 * period, team);
    }
    /// Adds up the sums at the positions of a channel, always in the same order.
    void total(const Flat& flat, std::int64_t c, double& first, double& second) const {
        first = second = 0;
        flat.for_positions(c, [&](std::int64_t p) {
            first += first_sums(0)[p];
            second += second_sums(0)[p];
        });
    }
    /// Gives every position of channel c the value.
    void spread(int which, const Flat& flat, std::int64_t c, double value) const {
        flat.for_positions(c, [&](std::int64_t p) { constant(which)[p] = T(value); });
    }
};

/// Bits [i, i + kCount) of a mask, i a multiple of kCount, kCount at most 16.
template <int kCount>
DTNN_INLINE unsigned bits_at(const std::uint8_t* mask, std::int64_t i) {
    if constexpr (kCount == 16) return unsigned(mask[i / 8]) | unsigned(mask[i / 8 + 1]) << 8;
    return unsigned(mask[i / 8]) >> (i % 8) & ((1u << kCount) - 1);
}

/// The part of the mean that T(mean) rounds away. Elements take their distances from the rounded
/// mean, which is exact where they are near it; the rest goes into constants.
template <class T>
double rest_of(double mean) {
    return mean - double(T(mean));
}

/// gamma * (x - mean) * inverse_deviation + beta as (x - T(mean)) * scale + shift. Forward and
/// backward compute it from the same rounded numbers, so that both see the same elements above
/// zero.
template <class T>
void affine(T gamma, T beta, double mean, T inverse_deviation, double& scale, double& shift) {
    scale = double(gamma) * double(inverse_deviation);
    shift = double(beta) - rest_of<T>(mean) * scale;
}

/// In `diff_src`: what passes lies there already.
enum class Passing { all, where_masked, where_positive, in_diff_src };

/// Calls body with what passes as a constant.
template <class A, class Body>
DTNN_INLINE void choose_passing(const A& a, Body body) {
    if (a.mask != nullptr) {
        body(std::integral_constant<Passing, Passing::where_masked>{});
    } else if (a.relu) {
        body(std::integral_constant<Passing, Passing::where_positive>{});
    } else {
        body(std::integral_constant<Passing, Passing::all>{});
    }
}

/// The gradient that passes relu. `A` are the arguments of a backward kernel.
template <class V, Passing passing, class A, class T>
DTNN_INLINE typename V::Vector passed(const A& a, const Scratch<T>& scratch, typename V::Vector x,
                                      std::int64_t i, std::int64_t p) {
    if constexpr (passing == Passing::in_diff_src) return V::load(a.diff_src + i);
    const auto diff = V::load(a.diff_dst + i);
    if constexpr (passing == Passing::where_masked) {
        return V::mask_of_bits(bits_at<V::kLanes>(a.mask, i)) ? diff : V::zero();
    } else if constexpr (passing == Passing::where_positive) {
        const auto y = (x - V::load(scratch.constant(0) + p)) * V::load(scratch.constant(1) + p) +
                       V::load(scratch.constant(2) + p);
        return y > V::zero() ? diff : V::zero();
    } else {
        return diff;
    }
}

/// Constants 0, the rounded mean, and where relu's sign is computed again 1 and 2, batch norm as
/// (x - T(mean)) * scale + shift.
template <Passing passing, class A, class T>
DTNN_INLINE void spread_forward(const A& a, const Flat& flat, const Scratch<T>& scratch) {
    for (std::int64_t c = 0; c < flat.channels; ++c) {
        scratch.spread(0, flat, c, a.mean[c]);
        if constexpr (passing == Passing::where_positive) {
            double scale = 0, shift = 0;
            affine(a.gamma[c], a.beta[c], a.mean[c], a.inverse_deviation[c], scale, shift);
            scratch.spread(1, flat, c, scale);
            scratch.spread(2, flat, c, shift);
        }
    }
}

/// use(from, to) for chunks of groups [begin, end) that a first-level cache holds: at most so many
/// elements, or one group.
inline constexpr std::int64_t kChunkElements = 2048;
template <class Use>
void for_chunks(const Flat& flat, std::int64_t begin, std::int64_t end, const Use& use) {
    const std::int64_t chunk = flat.period >= kChunkElements ? 1 : kChunkElements / flat.period;
    for (std::int64_t from = begin; from < end; from += chunk)
        use(from, from + chunk < end ? from + chunk : end);
}

/// Adds the terms of groups [begin, end) to the piece's sums.
template <Passing passing, class A, class T>
DTNN_INLINE void add_gradients_of_groups(const A& a, const Flat& flat, const Scratch<T>& scratch,
                                         std::int64_t begin, std::int64_t end, std::int64_t piece) {
    const T* const mean = scratch.constant(0);
    add_terms<T>(flat, begin, end, scratch.first_sums(piece), scratch.second_sums(piece),
                 [&](auto lanes, std::int64_t i, std::int64_t p, auto& sum, auto& products) {
                     using V = decltype(lanes);
                     const auto x = V::load(a.src + i);
                     const auto g = passed<V, passing>(a, scratch, x, i, p);
                     sum += V::to_double(g);
                     products += V::to_double(g) * V::to_double(x - V::load(mean + p));
                 });
}

/// The sums of g and of g * (x - T(mean)), after spread_forward.
template <Passing passing, class A, class T>
void add_gradients(const A& a, const Flat& flat, const Scratch<T>& scratch, ThreadTeam& team) {
    scratch.sum(flat, team, [&](auto begin, auto end, auto piece) {
        add_gradients_of_groups<passing>(a, flat, scratch, begin, end, piece);
    });
}

/// Totals channel c after add_gradients: the sums of g and of g * xhat, which are the gradients of
/// beta and gamma.
template <class A, class T>
DTNN_INLINE void total_gradients(const A& a, const Flat& flat, const Scratch<T>& scratch,
                                 std::int64_t c, double& diff_beta, double& diff_gamma) {
    double products = 0;
    scratch.total(flat, c, diff_beta, products);
    diff_gamma = (products - rest_of<T>(a.mean[c]) * diff_beta) * double(a.inverse_deviation[c]);
}

/// Constants 3 to 5 of channel c, for the sums of g and of g * xhat over so many elements.
template <class A, class T>
DTNN_INLINE void spread_backward(const A& a, const Flat& flat, const Scratch<T>& scratch,
                                 std::int64_t c, double sum, double products, double count) {
    const auto inverse = double(a.inverse_deviation[c]);
    const double scale = double(a.gamma[c]) * inverse;
    const double of_distance = -scale * inverse * products / count;
    scratch.spread(3, flat, c, scale);
    scratch.spread(4, flat, c, of_distance);
    scratch.spread(5, flat, c, -scale * sum / count - rest_of<T>(a.mean[c]) * of_distance);
}

/// diff_src, and diff_residual where it is wanted, after spread_forward and spread_backward.
template <Passing passing, class A, class T>
void write_diff_src(const A& a, const Flat& flat, const Scratch<T>& scratch, ThreadTeam& team) {
    const T* const mean = scratch.constant(0);
    const T* const of_diff = scratch.constant(3);
    const T* const of_distance = scratch.constant(4);
    const T* const constant = scratch.constant(5);
    team.for_pieces(flat.groups, flat.grain(), [&](auto begin, auto end, int) {
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

}  // namespace dtnn::kernels::DTNN_ISA
