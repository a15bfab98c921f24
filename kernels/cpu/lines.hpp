#pragma once
/// Walks along an axis of tensors that are dense alike (AxisView::is_dense): line by line where the
/// axis is stored last, else over strips of neighbouring lines.

#include "kernels/cpu/simd.hpp"
#include "kernels/layout.hpp"
#include "kernels/thread_team.hpp"

namespace dtnn::kernels::DTNN_ISA {

/// Elements that are worth a thread.
inline constexpr std::int64_t kLineGrain = 1024;
DTNN_INLINE std::int64_t line_grain(std::int64_t elements_each) {
    return elements_each >= kLineGrain || elements_each < 1 ? 1 : kLineGrain / elements_each;
}

/// body(line, at) for every line: where its first number lies. The axis is stored last.
template <class Body>
DTNN_INLINE void for_rows(const AxisView& view, ThreadTeam& team, Body body) {
    const std::int64_t length = view.extent;
    team.for_pieces(view.lines(), line_grain(length), [&](auto begin, auto end, int) {
        for (std::int64_t row = begin; row < end; ++row)
            body(row, row * length);
    });
}

/// Lines of a strip at most: what is kept of each stays in the first-level cache.
inline constexpr std::int64_t kStripLines = 128;
/// Neighbouring lines: element e of line `first` + i is at `at` + e * stride + i.
struct Strip {
    std::int64_t first, at, width;
};

/// body(strip) for all lines, in strips of neighbours.
template <class Body>
DTNN_INLINE void for_strips(const AxisView& view, ThreadTeam& team, Body body) {
    const std::int64_t strips = (view.inner + kStripLines - 1) / kStripLines;
    const std::int64_t widest = view.inner < kStripLines ? view.inner : kStripLines;
    team.for_pieces(view.outer * strips, line_grain(widest * view.extent),
                    [&](auto begin, auto end, int) {
                        for (std::int64_t unit = begin; unit < end; ++unit) {
                            const std::int64_t o = unit / strips, i = unit % strips * kStripLines;
                            const std::int64_t left = view.inner - i;
                            body(Strip{o * view.inner + i, o * view.extent * view.inner + i,
                                       left < kStripLines ? left : kStripLines});
                        }
                    });
}

/// body(lanes, at, i) for all elements of a strip: lanes from line i on, where they are; as many as
/// a vector of double has, since most of them end in sums in double.
template <class T, class Body>
DTNN_INLINE void for_strip(const AxisView& view, const Strip& strip, Body body) {
    for (std::int64_t e = 0; e < view.extent; ++e)
        for_channels<double>(strip.width, [&](auto wide, std::int64_t i) {
            body(Lanes<T, decltype(wide)::kLanes>{}, strip.at + e * view.inner + i, i);
        });
}

/// sums[i] += value, in double.
template <class Value>
DTNN_INLINE void add_lanes(double* sums, std::int64_t i, const Value& value) {
    using D = Lanes<double, int(sizeof(Value) / sizeof(double))>;
    D::store(sums + i, D::load(sums + i) + value);
}

}  // namespace dtnn::kernels::DTNN_ISA
