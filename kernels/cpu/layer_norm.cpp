/// layer_norm over rows of numbers that lie side by side, a sample or a pixel, and over columns.
/// gamma and beta lie in the order of the row or column.

#include <cmath>

#include "kernels/arguments/norm.hpp"
#include "kernels/cpu/lines.hpp"
#include "kernels/cpu/piece_sums.hpp"
#include "kernels/cpu/row_sums.hpp"
#include "kernels/workspace/norm.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

struct Rows {
    std::int64_t rows, length;

    explicit Rows(const AxisView& view) : rows(view.lines()), length(view.extent) {}
    /// Rows that are worth a thread.
    std::int64_t grain() const { return length >= 4096 ? 1 : 4096 / length; }
};

template <bool affine, bool centred, class T>
void forward(const LayerNormArguments<T>& a, ThreadTeam& team) {
    const Rows all(a.src_layout);
    const T *const gamma = a.gamma, *const beta = a.beta;
    team.for_pieces(all.rows, all.grain(), [&](auto begin, auto end, int) {
        for (std::int64_t row = begin; row < end; ++row) {
            const T* const x = a.src + row * all.length;
            T* const y = a.dst + row * all.length;
            const auto count = double(all.length);
            double sum[1] = {};
            if constexpr (centred)
                row_sums<T>(all.length, sum, [&](auto lanes, std::int64_t i, auto& sums) {
                    using V = decltype(lanes);
                    sums[0] += V::to_double(V::load(x + i));
                });
            // The squares of distances, in a pass of their own: nothing cancels, whatever the mean.
            const double mean = sum[0] / count;
            double squares[1] = {};
            row_sums<T>(all.length, squares, [&](auto lanes, std::int64_t i, auto& sums) {
                using V = decltype(lanes);
                const auto distance = V::to_double(V::load(x + i)) - mean;
                sums[0] += distance * distance;
            });
            const double inverse = 1 / std::sqrt(squares[0] / count + a.epsilon);
            if (a.mean != nullptr) {
                a.mean[row] = T(mean);
                a.inverse_deviation[row] = T(inverse);
            }
            const T middle = T(mean), scale = T(inverse);
            for_channels<T>(all.length, [&](auto lanes, std::int64_t i) {
                using V = decltype(lanes);
                auto value = (V::load(x + i) - V::broadcast(middle)) * V::broadcast(scale);
                if constexpr (affine) value *= V::load(gamma + i);
                if constexpr (affine && centred) value += V::load(beta + i);
                V::store(y + i, value);
            });
        }
    });
}

/// diff_src of a row. With kOwnSums also adds the row's part of diff_gamma and diff_beta to
/// `own_gamma` and `own_beta`.
template <bool affine, bool own_sums, class T>
DTNN_INLINE void backward_row(const LayerNormBackwardArguments<T>& a, std::int64_t row,
                              std::int64_t length, double* own_gamma, double* own_beta) {
    const T* const x = a.src + row * length;
    const T* const diff = a.diff_dst + row * length;
    const T* const gamma = a.gamma;
    T* const result = a.diff_src + row * length;
    const T mean = a.mean[row], inverse = a.inverse_deviation[row];
    double sums_of_row[2] = {};
    row_sums<T>(length, sums_of_row, [&](auto lanes, std::int64_t i, auto& sums) {
        using V = decltype(lanes);
        using D = Lanes<double, V::kLanes>;
        const auto d = V::to_double(V::load(diff + i));
        const auto xhat =
            V::to_double((V::load(x + i) - V::broadcast(mean)) * V::broadcast(inverse));
        if constexpr (own_sums) {
            D::store(own_gamma + i, D::load(own_gamma + i) + d * xhat);
            D::store(own_beta + i, D::load(own_beta + i) + d);
        }
        if constexpr (affine) {
            const auto g = d * V::to_double(V::load(gamma + i));
            sums[0] += g;
            sums[1] += g * xhat;
        } else {
            sums[0] += d;
            sums[1] += d * xhat;
        }
    });
    const T middle = a.centred ? T(sums_of_row[0] / double(length)) : T(0);
    const T slope = T(sums_of_row[1] / double(length));
    for_channels<T>(length, [&](auto lanes, std::int64_t i) {
        using V = decltype(lanes);
        const auto xhat = (V::load(x + i) - V::broadcast(mean)) * V::broadcast(inverse);
        auto g = V::load(diff + i);
        if constexpr (affine) g *= V::load(gamma + i);
        V::store(result + i,
                 V::broadcast(inverse) * ((g - V::broadcast(middle)) - xhat * V::broadcast(slope)));
    });
}

/// diff_gamma and diff_beta of rows too long for sums of each thread's own: every thread sums over
/// all rows for a part of the numbers.
template <class T>
void sum_over_rows(const LayerNormBackwardArguments<T>& a, const Rows& all, ThreadTeam& team) {
    constexpr std::int64_t kStrip = 256;
    team.for_pieces(all.length, kStrip, [&](auto begin, auto end, int) {
        for (std::int64_t first = begin; first < end; first += kStrip) {
            const std::int64_t width = end - first < kStrip ? end - first : kStrip;
            double gammas[kStrip] = {}, betas[kStrip] = {};
            for (std::int64_t row = 0; row < all.rows; ++row) {
                const T* const x = a.src + row * all.length + first;
                const T* const diff = a.diff_dst + row * all.length + first;
                const T mean = a.mean[row], inverse = a.inverse_deviation[row];
#pragma omp simd
                for (std::int64_t i = 0; i < width; ++i) {
                    const auto d = double(diff[i]);
                    gammas[i] += d * double((x[i] - mean) * inverse);
                    betas[i] += d;
                }
            }
            for (std::int64_t i = 0; i < width; ++i) {
                a.diff_gamma[first + i] = T(gammas[i]);
                if (a.diff_beta != nullptr) a.diff_beta[first + i] = T(betas[i]);
            }
        }
    });
}

/// One piece's sums in the workspace: `length` for gamma, then as many for beta.
template <class T>
void with_own_sums(const LayerNormBackwardArguments<T>& a, const Rows& all, ThreadTeam& team) {
    double* const sums = reinterpret_cast<double*>(a.workspace);
    team.for_sums(all.rows, all.grain(), [&](auto begin, auto end, auto piece, int) {
        double* const own = sums + piece * 2 * all.length;
        for (std::int64_t i = 0; i < 2 * all.length; ++i)
            own[i] = 0;
        for (std::int64_t row = begin; row < end; ++row)
            backward_row<true, true>(a, row, all.length, own, own + all.length);
    });
    add_up_pieces(sums, 2 * all.length, team.pieces(all.rows, all.grain()), 2 * all.length, team);
    for (std::int64_t i = 0; i < all.length; ++i) {
        a.diff_gamma[i] = T(sums[i]);
        if (a.diff_beta != nullptr) a.diff_beta[i] = T(sums[all.length + i]);
    }
}

template <bool affine, class T>
void rows_only(const LayerNormBackwardArguments<T>& a, const Rows& all, ThreadTeam& team) {
    team.for_pieces(all.rows, all.grain(), [&](auto begin, auto end, int) {
        for (std::int64_t row = begin; row < end; ++row)
            backward_row<affine, false>(a, row, all.length, nullptr, nullptr);
    });
}

/// Two numbers of each column of a strip.
template <class T>
struct ColumnPairs {
    alignas(64) T first[kStripLines];
    alignas(64) T second[kStripLines];
};

/// Means and inverse deviations of the columns.
template <class T>
void measure(const LayerNormArguments<T>& a, const Strip& strip, ColumnPairs<T>& normal) {
    const AxisView& view = a.src_layout;
    const auto count = double(view.extent);
    alignas(64) double means[kStripLines] = {}, squares[kStripLines] = {};
    if (a.centred) {
        for_strip<T>(view, strip, [&](auto lanes, std::int64_t at, std::int64_t i) {
            using V = decltype(lanes);
            add_lanes(means, i, V::to_double(V::load(a.src + at)));
        });
        for (std::int64_t i = 0; i < strip.width; ++i)
            means[i] /= count;
    }
    for_strip<T>(view, strip, [&](auto lanes, std::int64_t at, std::int64_t i) {
        using V = decltype(lanes);
        using D = Lanes<double, V::kLanes>;
        const auto distance = V::to_double(V::load(a.src + at)) - D::load(means + i);
        add_lanes(squares, i, distance * distance);
    });
    for (std::int64_t i = 0; i < strip.width; ++i) {
        normal.first[i] = T(means[i]);
        normal.second[i] = T(1 / std::sqrt(squares[i] / count + a.epsilon));
    }
    if (a.mean == nullptr) return;
    for (std::int64_t i = 0; i < strip.width; ++i) {
        a.mean[strip.first + i] = normal.first[i];
        a.inverse_deviation[strip.first + i] = normal.second[i];
    }
}

/// diff_gamma and diff_beta: a thread sums over all columns for a part of their numbers.
template <class T>
void sum_over_columns(const LayerNormBackwardArguments<T>& a, ThreadTeam& team) {
    const AxisView& view = a.src_layout;
    team.for_pieces(view.extent, line_grain(view.lines()), [&](auto begin, auto end, int) {
        for (std::int64_t e = begin; e < end; ++e) {
            double sums[2] = {};
            for (std::int64_t o = 0; o < view.outer; ++o) {
                const std::int64_t at = (o * view.extent + e) * view.inner, line = o * view.inner;
                row_sums<T>(view.inner, sums, [&](auto lanes, std::int64_t i, auto& into) {
                    using V = decltype(lanes);
                    const auto d = V::to_double(V::load(a.diff_dst + at + i));
                    const auto distance = V::load(a.src + at + i) - V::load(a.mean + line + i);
                    into[0] += d * V::to_double(distance * V::load(a.inverse_deviation + line + i));
                    into[1] += d;
                });
            }
            a.diff_gamma[e] = T(sums[0]);
            if (a.diff_beta != nullptr) a.diff_beta[e] = T(sums[1]);
        }
    });
}

template <class T>
void backward_columns(const LayerNormBackwardArguments<T>& a, const Strip& strip) {
    const AxisView& view = a.src_layout;
    const T* const mean = a.mean + strip.first;
    const T* const inverse = a.inverse_deviation + strip.first;
    const auto gamma_of = [&](std::int64_t at) {
        return a.gamma != nullptr ? a.gamma[at / view.inner % view.extent] : T(1);
    };
    alignas(64) double sums[kStripLines] = {}, products[kStripLines] = {};
    for_strip<T>(view, strip, [&](auto lanes, std::int64_t at, std::int64_t i) {
        using V = decltype(lanes);
        const auto g = V::load(a.diff_dst + at) * V::broadcast(gamma_of(at));
        const auto xhat = (V::load(a.src + at) - V::load(mean + i)) * V::load(inverse + i);
        add_lanes(sums, i, V::to_double(g));
        add_lanes(products, i, V::to_double(g) * V::to_double(xhat));
    });
    ColumnPairs<T> means;
    for (std::int64_t i = 0; i < strip.width; ++i) {
        means.first[i] = a.centred ? T(sums[i] / double(view.extent)) : T(0);
        means.second[i] = T(products[i] / double(view.extent));
    }
    for_strip<T>(view, strip, [&](auto lanes, std::int64_t at, std::int64_t i) {
        using V = decltype(lanes);
        const auto g = V::load(a.diff_dst + at) * V::broadcast(gamma_of(at));
        const auto xhat = (V::load(a.src + at) - V::load(mean + i)) * V::load(inverse + i);
        V::store(a.diff_src + at, V::load(inverse + i) * ((g - V::load(means.first + i)) -
                                                          xhat * V::load(means.second + i)));
    });
}

}  // namespace

DTNN_KERNEL(layer_norm_rows, LayerNormArguments) {
    if (a.centred)
        a.gamma != nullptr ? forward<true, true>(a, team) : forward<false, true>(a, team);
    else
        a.gamma != nullptr ? forward<true, false>(a, team) : forward<false, false>(a, team);
}

DTNN_KERNEL(layer_norm_backward_rows, LayerNormBackwardArguments) {
    const Rows all(a.src_layout);
    if (a.gamma == nullptr) {
        rows_only<false>(a, all, team);
    } else if (all.length <= kLayerNormOwnSums) {
        with_own_sums(a, all, team);
    } else {
        sum_over_rows(a, all, team);  // before diff_src is written, which may lie on diff_dst
        rows_only<true>(a, all, team);
    }
}

DTNN_KERNEL(layer_norm_columns, LayerNormArguments) {
    const AxisView& view = a.src_layout;
    for_strips(view, team, [&](const Strip& strip) {
        ColumnPairs<T> normal;
        measure(a, strip, normal);
        for_strip<T>(view, strip, [&](auto lanes, std::int64_t at, std::int64_t i) {
            using V = decltype(lanes);
            auto y = (V::load(a.src + at) - V::load(normal.first + i)) * V::load(normal.second + i);
            if (a.gamma != nullptr) {
                const std::int64_t e = at / view.inner % view.extent;
                y *= V::broadcast(a.gamma[e]);
                if (a.beta != nullptr) y += V::broadcast(a.beta[e]);
            }
            V::store(a.dst + at, y);
        });
    });
}

DTNN_KERNEL(layer_norm_backward_columns, LayerNormBackwardArguments) {
    // Before diff_src is written, which may lie on diff_dst.
    if (a.gamma != nullptr) sum_over_columns(a, team);
    for_strips(a.src_layout, team, [&](const Strip& strip) { backward_columns(a, strip); });
}

}  // namespace dtnn::kernels::DTNN_ISA
