#include "kernels/arguments/pool2d.hpp"

#include "kernels/cpu/simd.hpp"
#include "kernels/thread_team.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

std::int64_t largest(std::int64_t a, std::int64_t b) {
    return a > b ? a : b;
}
std::int64_t least(std::int64_t a, std::int64_t b) {
    return a < b ? a : b;
}
/// a / b rounded up, for b > 0 and any a.
std::int64_t ceiling(std::int64_t a, std::int64_t b) {
    return a > 0 ? (a + b - 1) / b : -(-a / b);
}

/// The part of a window's axis that lies inside the image: places [first, last) of the window, from
/// cell `origin`.
struct Extent {
    std::int64_t origin, first, last;
    std::int64_t count() const { return last > first ? last - first : 0; }
};
Extent extent(std::int64_t out, std::int64_t stride, std::int64_t pad, std::int64_t dilation,
              std::int64_t kernel, std::int64_t size) {
    const std::int64_t origin = out * stride - pad;
    return {origin, origin < 0 ? ceiling(-origin, dilation) : 0,
            least(kernel, ceiling(size - origin, dilation))};
}

/// The outputs [first, last] whose windows may reach a cell.
struct Reach {
    std::int64_t first, last;
};
Reach reach(std::int64_t cell, std::int64_t stride, std::int64_t pad, std::int64_t dilation,
            std::int64_t kernel, std::int64_t outputs) {
    return {largest(0, ceiling(cell + pad - (kernel - 1) * dilation, stride)),
            least(outputs - 1, (cell + pad) / stride)};
}

/// One output row per unit: about what is worth a thread, in elements.
std::int64_t pooling_grain(std::int64_t row_elements) {
    return largest(1, 4096 / largest(1, row_elements));
}

}  // namespace

DTNN_KERNEL(max_pool2d_channels_last, MaxPool2dArguments) {
    const Window2d& window = a.window;
    const ImageLayout& in = a.src_layout;
    const ImageLayout& out = a.dst_layout;
    const std::int64_t channels = in.channels;
    const std::int64_t rows = out.batch * out.height;
    team.for_pieces(rows, pooling_grain(out.width * channels), [&](auto begin, auto end, int) {
        for (std::int64_t row = begin; row < end; ++row) {
            const std::int64_t n = row / out.height;
            const Extent h = extent(row % out.height, window.stride_h, window.top,
                                    window.dilation_h, window.kernel_h, in.height);
            for (std::int64_t ow = 0; ow < out.width; ++ow) {
                const Extent w = extent(ow, window.stride_w, window.left, window.dilation_w,
                                        window.kernel_w, in.width);
                const std::int64_t at = (row * out.width + ow) * channels;
                const bool empty = h.count() == 0 || w.count() == 0;
                for_channels<T>(channels, [&](auto lanes, std::int64_t c) {
                    using V = decltype(lanes);
                    typename V::Vector best = V::zero();
                    typename V::Ints index = V::broadcast_int(kNoCell);
                    bool first = true;
                    for (std::int64_t kh = h.first; kh < h.last && !empty; ++kh) {
                        const std::int64_t y = n * in.height + h.origin + kh * window.dilation_h;
                        for (std::int64_t kw = w.first; kw < w.last; ++kw) {
                            const std::int64_t x = w.origin + kw * window.dilation_w;
                            const auto value = V::load(a.src + (y * in.width + x) * channels + c);
                            const auto place =
                                V::broadcast_int(typename V::Int(kh * window.kernel_w + kw));
                            if (first) {
                                best = value, index = place, first = false;
                            } else {
                                const auto larger = (value > best) | (value != value);
                                best = larger ? value : best;
                                index = larger ? place : index;
                            }
                        }
                    }
                    V::store(a.dst + at + c, best);
                    if (a.indices != nullptr) V::store_bytes(a.indices + at + c, index);
                });
            }
        }
    });
}

DTNN_KERNEL(max_pool2d_window_2x2, MaxPool2dArguments) {
    const ImageLayout& in = a.src_layout;
    const ImageLayout& out = a.dst_layout;
    const std::int64_t channels = in.channels, below = in.width * channels;
    const std::int64_t rows = out.batch * out.height;
    team.for_pieces(rows, pooling_grain(out.width * channels), [&](auto begin, auto end, int) {
        for (std::int64_t row = begin; row < end; ++row) {
            const std::int64_t top = row / out.height * in.height + row % out.height * 2;
            const T* src = a.src + top * below;
            T* dst = a.dst + row * out.width * channels;
            std::uint8_t* indices =
                a.indices != nullptr ? a.indices + row * out.width * channels : nullptr;
            for (std::int64_t ow = 0; ow < out.width; ++ow) {
                for_channels<T>(channels, [&](auto lanes, std::int64_t c) {
                    using V = decltype(lanes);
                    const auto v0 = V::load(src + c), v1 = V::load(src + channels + c);
                    const auto v2 = V::load(src + below + c);
                    const auto v3 = V::load(src + below + channels + c);
                    const auto right1 = (v1 > v0) | (v1 != v1), right2 = (v3 > v2) | (v3 != v3);
                    const auto upper = right1 ? v1 : v0, lower = right2 ? v3 : v2;
                    const auto down = (lower > upper) | (lower != lower);
                    V::store(dst + c, down ? lower : upper);
                    if (indices == nullptr) return;
                    // Comparisons give -1 for true.
                    const typename V::Ints first = -right1, second = 2 - right2;
                    V::store_bytes(indices + c, down ? second : first);
                });
                src += 2 * channels;
                dst += channels;
                if (indices != nullptr) indices += channels;
            }
        }
    });
}

DTNN_KERNEL(max_pool2d_backward_channels_last, MaxPool2dBackwardArguments) {
    const Window2d& window = a.window;
    const ImageLayout& in = a.diff_src_layout;
    const ImageLayout& out = a.diff_dst_layout;
    const std::int64_t channels = in.channels;
    const std::int64_t rows = in.batch * in.height;
    // Every cell gathers from the windows that reach it, in the order of the outputs: no zero fill,
    // no conflicts.
    team.for_pieces(rows, pooling_grain(in.width * channels), [&](auto begin, auto end, int) {
        for (std::int64_t row = begin; row < end; ++row) {
            const std::int64_t n = row / in.height, y = row % in.height;
            const Reach oh = reach(y, window.stride_h, window.top, window.dilation_h,
                                   window.kernel_h, out.height);
            for (std::int64_t x = 0; x < in.width; ++x) {
                const Reach ow = reach(x, window.stride_w, window.left, window.dilation_w,
                                       window.kernel_w, out.width);
                // The windows that reach the cell, and which of their cells it is. An index is a
                // byte, so that a window has fewer cells than kNoCell.
                std::int64_t at[kNoCell], places[kNoCell], count = 0;
                for (std::int64_t i = oh.first; i <= oh.last; ++i) {
                    const std::int64_t down = y + window.top - i * window.stride_h;
                    if (down % window.dilation_h != 0) continue;
                    for (std::int64_t j = ow.first; j <= ow.last; ++j) {
                        const std::int64_t right = x + window.left - j * window.stride_w;
                        if (right % window.dilation_w != 0) continue;
                        places[count] =
                            down / window.dilation_h * window.kernel_w + right / window.dilation_w;
                        at[count++] = ((n * out.height + i) * out.width + j) * channels;
                    }
                }
                T* const diff_src = a.diff_src + (row * in.width + x) * channels;
                for_channels<T>(channels, [&](auto lanes, std::int64_t c) {
                    using V = decltype(lanes);
                    auto sum = V::zero();
                    for (std::int64_t k = 0; k < count; ++k) {
                        auto mine = V::load_bytes(a.indices + at[k] + c) ==
                                    V::broadcast_int(typename V::Int(places[k]));
                        if (a.y != nullptr) mine &= V::load(a.y + at[k] + c) > V::zero();
                        sum += mine ? V::load(a.diff_dst + at[k] + c) : V::zero();
                    }
                    V::store(diff_src + c, sum);
                });
            }
        }
    });
}

DTNN_KERNEL(max_pool2d_backward_window_2x2, MaxPool2dBackwardArguments) {
    const ImageLayout& in = a.diff_src_layout;
    const ImageLayout& out = a.diff_dst_layout;
    const std::int64_t channels = in.channels, below = in.width * channels;
    // A unit is two source rows, the windows' own; an odd last row belongs to no window.
    const std::int64_t pairs = (in.height + 1) / 2, units = in.batch * pairs;
    const auto clear = [](T* from, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i)
            from[i] = 0;
    };
    team.for_pieces(units, pooling_grain(2 * below), [&](auto begin, auto end, int) {
        for (std::int64_t unit = begin; unit < end; ++unit) {
            const std::int64_t n = unit / pairs, oh = unit % pairs;
            T* upper = a.diff_src + (n * in.height + 2 * oh) * below;
            if (oh >= out.height) {
                clear(upper, below);
                continue;
            }
            std::int64_t at = (n * out.height + oh) * out.width * channels;
            for (std::int64_t ow = 0; ow < out.width; ++ow) {
                for_channels<T>(channels, [&](auto lanes, std::int64_t c) {
                    using V = decltype(lanes);
                    auto diff = V::load(a.diff_dst + at + c);
                    if (a.y != nullptr) {
                        diff = V::load(a.y + at + c) > V::zero() ? diff : V::zero();
                    }
                    const auto index = V::load_bytes(a.indices + at + c);
                    V::store(upper + c, index == 0 ? diff : V::zero());
                    V::store(upper + channels + c, index == 1 ? diff : V::zero());
                    V::store(upper + below + c, index == 2 ? diff : V::zero());
                    V::store(upper + below + channels + c, index == 3 ? diff : V::zero());
                });
                at += channels;
                upper += 2 * channels;
            }
            const std::int64_t left_over = (in.width - 2 * out.width) * channels;
            clear(upper, left_over);
            clear(upper + below, left_over);
        }
    });
}

namespace {

template <class T>
void average(const AvgPool2dArguments<T>& a, ThreadTeam& team) {
    const Window2d& window = a.window;
    const ImageLayout& in = a.src_layout;
    const ImageLayout& out = a.dst_layout;
    const std::int64_t channels = in.channels;
    const std::int64_t rows = out.batch * out.height;
    const std::int64_t work = out.width * channels * window.kernel_h * window.kernel_w;
    team.for_pieces(rows, pooling_grain(work), [&](auto begin, auto end, int) {
        for (std::int64_t row = begin; row < end; ++row) {
            const std::int64_t n = row / out.height;
            const Extent h = extent(row % out.height, window.stride_h, window.top, 1,
                                    window.kernel_h, in.height);
            for (std::int64_t ow = 0; ow < out.width; ++ow) {
                const Extent w =
                    extent(ow, window.stride_w, window.left, 1, window.kernel_w, in.width);
                const std::int64_t cells = a.divisor > 0 ? a.divisor : h.count() * w.count();
                const T* const corner =
                    a.src + (n * in.height + h.origin) * in.width * channels + w.origin * channels;
                T* const dst = a.dst + (row * out.width + ow) * channels;
                for_channels<T>(channels, [&](auto lanes, std::int64_t c) {
                    using V = decltype(lanes);
                    auto sum = V::zero();
                    for (std::int64_t kh = h.first; kh < h.last; ++kh) {
                        auto row_sum = V::zero();
                        for (std::int64_t kw = w.first; kw < w.last; ++kw) {
                            row_sum += V::load(corner + (kh * in.width + kw) * channels + c);
                        }
                        sum += row_sum;
                    }
                    V::store(dst + c, cells == 0 ? V::zero() : sum / V::broadcast(T(cells)));
                });
            }
        }
    });
}

template <class T>
void average_backward(const AvgPool2dBackwardArguments<T>& a, ThreadTeam& team) {
    const Window2d& window = a.window;
    const ImageLayout& in = a.diff_src_layout;
    const ImageLayout& out = a.diff_dst_layout;
    const std::int64_t channels = in.channels;
    const std::int64_t rows = in.batch * in.height;
    const auto tall = [&](std::int64_t i) {
        return extent(i, window.stride_h, window.top, 1, window.kernel_h, in.height).count();
    };
    const auto wide = [&](std::int64_t j) {
        return extent(j, window.stride_w, window.left, 1, window.kernel_w, in.width).count();
    };
    team.for_pieces(rows, pooling_grain(in.width * channels), [&](auto begin, auto end, int) {
        for (std::int64_t row = begin; row < end; ++row) {
            const std::int64_t n = row / in.height, y = row % in.height;
            const Reach oh = reach(y, window.stride_h, window.top, 1, window.kernel_h, out.height);
            for (std::int64_t x = 0; x < in.width; ++x) {
                const Reach ow =
                    reach(x, window.stride_w, window.left, 1, window.kernel_w, out.width);
                T* const diff_src = a.diff_src + (row * in.width + x) * channels;
                bool written = false;
                for (std::int64_t i = oh.first; i <= oh.last; ++i) {
                    for (std::int64_t j = ow.first; j <= ow.last; ++j) {
                        const T share = T(1) / T(a.divisor > 0 ? a.divisor : tall(i) * wide(j));
                        const T* const diff =
                            a.diff_dst + ((n * out.height + i) * out.width + j) * channels;
                        for_channels<T>(channels, [&](auto lanes, std::int64_t c) {
                            using V = decltype(lanes);
                            const auto part = V::load(diff + c) * V::broadcast(share);
                            V::store(diff_src + c, written ? V::load(diff_src + c) + part : part);
                        });
                        written = true;
                    }
                }
                for (std::int64_t c = 0; c < channels && !written; ++c)
                    diff_src[c] = 0;
            }
        }
    });
}

}  // namespace

DTNN_KERNEL(avg_pool2d_channels_last, AvgPool2dArguments) {
    average(a, team);
}
DTNN_KERNEL(global_avg_pool2d_channels_last, AvgPool2dArguments) {
    average(a, team);
}
DTNN_KERNEL(avg_pool2d_backward_channels_last, AvgPool2dBackwardArguments) {
    average_backward(a, team);
}
DTNN_KERNEL(global_avg_pool2d_backward_channels_last, AvgPool2dBackwardArguments) {
    average_backward(a, team);
}

}  // namespace dtnn::kernels::DTNN_ISA
