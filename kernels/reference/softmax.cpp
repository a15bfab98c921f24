#include "kernels/arguments/softmax.hpp"

#include <cmath>

#include "kernels/reference/axis_walk.hpp"
#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {

DTNN_REFERENCE(softmax, SoftmaxArguments) {
    const AxisView& from = a.src_view;
    for_lines(from, [&](auto o, auto i) {
        T largest = a.src[from.at(o, 0, i)];
        for (std::int64_t c = 1; c < from.extent; ++c) {
            const T value = a.src[from.at(o, c, i)];
            if (value > largest) largest = value;
        }
        double sum = 0;
        for (std::int64_t c = 0; c < from.extent; ++c) {
            sum += std::exp(double(a.src[from.at(o, c, i)]) - double(largest));
        }
        for (std::int64_t c = 0; c < from.extent; ++c) {
            a.dst[a.dst_view.at(o, c, i)] =
                T(std::exp(double(a.src[from.at(o, c, i)]) - double(largest)) / sum);
        }
    });
}

DTNN_REFERENCE(softmax_backward, SoftmaxBackwardArguments) {
    const AxisView& from = a.kept_view;
    for_lines(from, [&](auto o, auto i) {
        const auto y = [&](auto c) { return double(a.kept[from.at(o, c, i)]); };
        const auto diff = [&](auto c) { return double(a.diff_dst[a.diff_dst_view.at(o, c, i)]); };
        double dot = 0;
        for (std::int64_t c = 0; c < from.extent; ++c)
            dot += y(c) * diff(c);
        for (std::int64_t c = 0; c < from.extent; ++c) {
            a.diff_src[a.diff_src_view.at(o, c, i)] = T(y(c) * (diff(c) - dot));
        }
    });
}

DTNN_REFERENCE(log_softmax, SoftmaxArguments) {
    const AxisView& from = a.src_view;
    for_lines(from, [&](auto o, auto i) {
        const auto x = [&](auto c) { return double(a.src[from.at(o, c, i)]); };
        double largest = x(0), sum = 0;
        for (std::int64_t c = 1; c < from.extent; ++c)
            largest = x(c) > largest ? x(c) : largest;
        for (std::int64_t c = 0; c < from.extent; ++c)
            sum += std::exp(x(c) - largest);
        const double logarithm = std::log(sum);
        for (std::int64_t c = 0; c < from.extent; ++c)
            a.dst[a.dst_view.at(o, c, i)] = T((x(c) - largest) - logarithm);
    });
}

DTNN_REFERENCE(log_softmax_backward, SoftmaxBackwardArguments) {
    const AxisView& from = a.kept_view;
    for_lines(from, [&](auto o, auto i) {
        const auto diff = [&](auto c) { return double(a.diff_dst[a.diff_dst_view.at(o, c, i)]); };
        double sum = 0;
        for (std::int64_t c = 0; c < from.extent; ++c)
            sum += diff(c);
        for (std::int64_t c = 0; c < from.extent; ++c) {
            const double p = std::exp(double(a.kept[from.at(o, c, i)]));
            a.diff_src[a.diff_src_view.at(o, c, i)] = T(diff(c) - p * sum);
        }
    });
}

}  // namespace dtnn::kernels::reference
