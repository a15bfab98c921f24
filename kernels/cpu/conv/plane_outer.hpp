#pragma once
/// The gradient of the weights of convolutions with few channels on both sides and stride 1: source
/// and diff_dst as planes with rows of the same length (kernels/workspace/planes.hpp), so that a
/// weight's gradient is the product of two runs of numbers. A tile keeps a vector of sums for each
/// of K neighbouring taps and F filters in registers over a band.
///
/// Each thread sums its own bands in their order, lane by lane; the threads' sums are added in
/// order, and then the lanes (kernels/cpu/conv/outer_conv.hpp has the error bound). diff_bias is
/// summed in double.

#include <cstddef>
#include <cstdint>

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cpu/conv/channel_planes.hpp"
#include "kernels/thread_team.hpp"
#include "kernels/workspace/planes.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// A band as its tiles see it, at their first tap and filter.
template <class T>
struct PlanesOuter {
    const T* source = nullptr;
    const T* gradient = nullptr;
    T* sums = nullptr;  ///< [KW, filters, lanes]
    std::int64_t vectors = 0;
    std::int64_t plane = 0;    ///< elements from one plane of the gradient to the next
    std::int64_t filters = 0;  ///< of all tiles
};

/// K taps by F filters.
template <class T, int K, int F>
void planes_outer_tile(const PlanesOuter<T>& o) {
    constexpr int L = kLanes<T>;
    const T* source = o.source;
    const T* gradient = o.gradient;
    const T* const end = source + o.vectors * L;
    const std::int64_t plane = o.plane, taps = o.filters * L;
    T* const to = o.sums;
    Vector<T, L> sums[K][F];
    expand<K * F>([&]<int... i>(Indices<i...>) DTNN_UNROLLED {
        ((sums[i / F][i % F] = load<T, L>(to + i / F * taps + i % F * L)), ...);
    });
    for (; source < end; source += L, gradient += L) {
        Vector<T, L> cells[K];
        expand<K>([&]<int... k>(Indices<k...>)
                      DTNN_UNROLLED { ((cells[k] = load<T, L>(source + k)), ...); });
        unroll<F>([&](auto f) DTNN_UNROLLED {
            const Vector<T, L> value = load<T, L>(gradient + f * plane);
            // Else the compiler loads it for every product: loads are what the loop waits for then.
            asm volatile("" ::: "memory");
            expand<K>([&]<int... k>(Indices<k...>)
                          DTNN_UNROLLED { ((sums[k][f] += cells[k] * value), ...); });
        });
    }
    expand<K * F>([&]<int... i>(Indices<i...>) DTNN_UNROLLED {
        (store<T, L>(to + i / F * taps + i % F * L, sums[i / F][i % F]), ...);
    });
}

/// A kernel row of F filters.
template <class T, int F>
void planes_outer_row(PlanesOuter<T> o, std::int64_t kernel_width) {
    for (std::int64_t taps = 0; kernel_width > 0; kernel_width -= taps) {
        taps = kernel_width < 3 ? kernel_width : 3;
        if (taps == 3) planes_outer_tile<T, 3, F>(o);
        if (taps == 2) planes_outer_tile<T, 2, F>(o);
        if (taps == 1) planes_outer_tile<T, 1, F>(o);
        o.source += taps;
        o.sums += taps * o.filters * kLanes<T>;
    }
}

/// All filters, as many at a time as registers hold three of.
template <class T>
void planes_outer_filters(PlanesOuter<T> o, std::int64_t kernel_width) {
    constexpr int kMost = kVectorBytes == 64 ? 8 : 4;
    for (std::int64_t f = 0, block = 0; f < o.filters; f += block) {
        block = o.filters - f < kMost ? o.filters - f : kMost;
        if constexpr (kMost == 8) {
            if (block == 8) planes_outer_row<T, 8>(o, kernel_width);
        }
        if (block == 4) planes_outer_row<T, 4>(o, kernel_width);
        if (block == 2) planes_outer_row<T, 2>(o, kernel_width);
        if (block == 1) planes_outer_row<T, 1>(o, kernel_width);
        o.gradient += block * o.plane;
        o.sums += block * kLanes<T>;
    }
}

/// sums[lane] += that lane of all vectors; in T as far as loses nothing that matters beside the
/// rounding of the values themselves.
template <class T>
void add_plane(const T* plane, std::int64_t vectors, double* sums) {
    constexpr int L = kLanes<T>, kParts = 4;
    Vector<T, L> parts[kParts] = {};
    std::int64_t x = 0;
    for (; x + kParts <= vectors; x += kParts, plane += kParts * L) {
        for (int i = 0; i < kParts; ++i)
            parts[i] += load<T, L>(plane + i * L);
    }
    for (; x < vectors; ++x, plane += L)
        parts[0] += load<T, L>(plane);
    for (int lane = 0; lane < L; ++lane) {
        for (int i = 0; i < kParts; ++i)
            sums[lane] += double(parts[i][lane]);
    }
}

template <class T>
void backward_weights_planes(const Conv2dBackwardWeightsArguments<T>& a, ThreadTeam& team) {
    constexpr int L = kLanes<T>;
    const ConvShape& s = a.shape;
    const PlanesOuterWorkspace layout(s, sizeof(T), team.size());
    const std::int64_t bands = (s.out_height + layout.band - 1) / layout.band;
    const std::int64_t weights = s.weight_elements();
    const auto scratch = [&](std::int64_t member) {
        return a.workspace.data() + member * layout.bytes_per_thread;
    };
    const auto sums_of = [&](std::int64_t member) {
        return reinterpret_cast<T*>(scratch(member) + layout.sums);
    };
    const auto bias_of = [&](std::int64_t member) {
        return reinterpret_cast<double*>(scratch(member) + layout.bias);
    };
    const PlaneBands<T> source{
        a.src,      s.height,       s.width,       s.channels,
        s.pad_left, layout.columns, layout.source, split_row_of<T>(s.channels)};
    const PlaneBands<T> gradient{
        a.diff_dst, s.out_height,   s.out_width,     s.filters,
        0,          layout.columns, layout.gradient, split_row_of<T>(s.filters)};
    team.run([&](int member) {
        auto* sources = reinterpret_cast<T*>(scratch(member));
        auto* gradients = reinterpret_cast<T*>(scratch(member) + layout.gradients);
        T* sums = sums_of(member);
        for (T* at = sources; at < sums; ++at)
            *at = T(0);
        for (std::int64_t i = 0; i < weights * L; ++i)
            sums[i] = T(0);
        for (std::int64_t i = 0; i < s.filters * L; ++i)
            bias_of(member)[i] = 0;
        const std::int64_t last = s.batch * bands * (member + 1) / team.size();
        for (std::int64_t item = s.batch * bands * member / team.size(); item < last; ++item) {
            const std::int64_t n = item / bands;
            const std::int64_t begin = item % bands * layout.band;
            const std::int64_t rows =
                begin + layout.band < s.out_height ? layout.band : s.out_height - begin;
            source.copy(n, begin - s.pad_top, rows + s.kernel_height - 1, sources);
            gradient.copy(n, begin, rows, gradients);
            // The last vector reads past a band: what a longer one has left there counts as zero.
            for (std::int64_t f = 0; f < s.filters; ++f)
                store<T, L>(gradients + f * layout.gradient + rows * layout.columns,
                            Vector<T, L>{});
            PlanesOuter<T> o;
            o.gradient = gradients;
            o.sums = sums;
            o.vectors = ((rows - 1) * layout.columns + s.out_width + L - 1) / L;
            o.plane = layout.gradient;
            o.filters = s.filters;
            for (std::int64_t c = 0; c < s.channels; ++c) {
                o.source = sources + c * layout.source;
                for (std::int64_t ky = 0; ky < s.kernel_height; ++ky) {
                    planes_outer_filters(o, s.kernel_width);
                    o.source += layout.columns;
                    o.sums += s.kernel_width * s.filters * L;
                }
            }
            if (!a.diff_bias) continue;
            for (std::int64_t f = 0; f < s.filters; ++f)
                add_plane(gradients + f * layout.gradient, o.vectors, bias_of(member) + f * L);
        }
    });
    const std::int64_t taps = s.taps() * s.filters;
    for (std::int64_t c = 0; c < s.channels; ++c) {
        for (std::int64_t tap = 0; tap < s.taps(); ++tap) {
            for (std::int64_t f = 0; f < s.filters; ++f) {
                const std::int64_t at = (c * taps + tap * s.filters + f) * L;
                Vector<T, L> sum{};
                for (std::int64_t member = 0; member < team.size(); ++member)
                    sum += load<T, L>(sums_of(member) + at);
                a.diff_weights[(tap * s.channels + c) * s.filters + f] = Simd<T>::reduce_add(sum);
            }
        }
    }
    if (!a.diff_bias) return;
    for (std::int64_t f = 0; f < s.filters; ++f) {
        double sum = 0;
        for (std::int64_t member = 0; member < team.size(); ++member) {
            for (int lane = 0; lane < L; ++lane)
                sum += bias_of(member)[f * L + lane];
        }
        a.diff_bias[f] = static_cast<T>(sum);
    }
}

}  // namespace
}  // namespace dtnn::kernels::DTNN_ISA
