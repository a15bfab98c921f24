/// The convolutions as their definition reads (kernels/arguments/conv2d.hpp), summed in double.
/// They are the yardstick of every other convolution kernel, so nothing here is clever.

#include "kernels/arguments/conv2d.hpp"

#include <algorithm>
#include <array>

#include "kernels/reduced.hpp"
#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {
namespace {

/// A factor of a product.
template <class Arguments, class T>
double factor(const Arguments& a, T value) {
    return a.bf16 ? double(float(BFloat16(float(value)))) : double(value);
}

/// Calls visit(kh, kw, ih, iw) for the taps of output cell (oh, ow) that lie inside the source.
template <class Visit>
void for_each_tap(const ConvShape& s, std::int64_t oh, std::int64_t ow, Visit&& visit) {
    for (std::int64_t kh = 0; kh < s.kernel_height; ++kh) {
        const std::int64_t ih = oh * s.stride_height - s.pad_top + kh * s.dilation_height;
        if (ih < 0 || ih >= s.height) continue;
        for (std::int64_t kw = 0; kw < s.kernel_width; ++kw) {
            const std::int64_t iw = ow * s.stride_width - s.pad_left + kw * s.dilation_width;
            if (iw < 0 || iw >= s.width) continue;
            visit(kh, kw, ih, iw);
        }
    }
}

std::int64_t at(const ConvStrides::Axes& strides, std::int64_t outer, std::int64_t channel,
                std::int64_t h, std::int64_t w) {
    return outer * strides[0] + channel * strides[1] + h * strides[2] + w * strides[3];
}

/// The place of a weight, packed or not.
std::int64_t weight_at(const ConvStrides& strides, std::int64_t f, std::int64_t c, std::int64_t kh,
                       std::int64_t kw) {
    if (strides.block == 0) return at(strides.weights, f, c, kh, kw);
    return f / strides.block * strides.block_size +
           at(strides.weights, f % strides.block, c, kh, kw);
}

/// Calls visit(index) for the cells of filter f in dst or diff_dst.
template <class Visit>
void for_each_result(const ConvShape& s, const ConvStrides::Axes& strides, std::int64_t f,
                     Visit&& visit) {
    for (std::int64_t n = 0; n < s.batch; ++n) {
        for (std::int64_t h = 0; h < s.out_height; ++h) {
            for (std::int64_t w = 0; w < s.out_width; ++w)
                visit(at(strides, n, f, h, w));
        }
    }
}

template <class T>
void forward_image(const Conv2dArguments<T>& a, std::int64_t n) {
    const ConvShape& s = a.shape;
    for (std::int64_t oh = 0; oh < s.out_height; ++oh) {
        for (std::int64_t ow = 0; ow < s.out_width; ++ow) {
            for (std::int64_t f = 0; f < s.filters; ++f) {
                const std::int64_t first = f / s.group_filters() * s.group_channels();
                const std::int64_t cell = at(a.strides.result, n, f, oh, ow);
                double sum = 0;
                if (a.bias) sum += a.bias[f];
                if (a.residual) sum += a.residual[cell];
                for_each_tap(s, oh, ow, [&](auto kh, auto kw, auto ih, auto iw) {
                    for (std::int64_t c = 0; c < s.group_channels(); ++c) {
                        sum += factor(a, a.src[at(a.strides.image, n, first + c, ih, iw)]) *
                               factor(a, a.weights[weight_at(a.strides, f, c, kh, kw)]);
                    }
                });
                if (a.written) sum = evaluate(a.epilogue.expression, std::array{sum});
                a.dst[cell] = static_cast<T>(a.relu && sum < 0 ? 0 : sum);
            }
        }
    }
}

/// Gathers: a source cell is reached by the output cells whose taps fall on it.
template <class T>
void backward_data_image(const Conv2dBackwardDataArguments<T>& a, std::int64_t n) {
    const ConvShape& s = a.shape;
    for (std::int64_t ih = 0; ih < s.height; ++ih) {
        for (std::int64_t iw = 0; iw < s.width; ++iw) {
            for (std::int64_t c = 0; c < s.channels; ++c) {
                const std::int64_t group = c / s.group_channels();
                const std::int64_t first = group * s.group_filters();
                double sum = a.bias ? a.bias[c] : 0;
                for (std::int64_t kh = 0; kh < s.kernel_height; ++kh) {
                    const std::int64_t h = ih + s.pad_top - kh * s.dilation_height;
                    if (h < 0 || h % s.stride_height != 0) continue;
                    if (h / s.stride_height >= s.out_height) continue;
                    for (std::int64_t kw = 0; kw < s.kernel_width; ++kw) {
                        const std::int64_t w = iw + s.pad_left - kw * s.dilation_width;
                        if (w < 0 || w % s.stride_width != 0) continue;
                        if (w / s.stride_width >= s.out_width) continue;
                        for (std::int64_t f = first; f < first + s.group_filters(); ++f) {
                            const std::int64_t cell =
                                at(a.strides.result, n, f, h / s.stride_height, w / s.stride_width);
                            const std::int64_t weight =
                                at(a.strides.weights, f, c % s.group_channels(), kh, kw);
                            sum += factor(a, a.diff_dst[cell]) * factor(a, a.weights[weight]);
                        }
                    }
                }
                const std::int64_t cell = at(a.strides.image, n, c, ih, iw);
                const bool zero = (a.mask && !(a.mask[cell] > 0)) || (a.relu && sum < 0);
                a.diff_src[cell] = static_cast<T>(zero ? 0 : sum);
            }
        }
    }
}

template <class T>
void backward_weight(const Conv2dBackwardWeightsArguments<T>& a, std::int64_t kh, std::int64_t kw,
                     std::int64_t c, std::int64_t f) {
    const ConvShape& s = a.shape;
    const std::int64_t channel = f / s.group_filters() * s.group_channels() + c;
    double sum = 0;
    for (std::int64_t n = 0; n < s.batch; ++n) {
        for (std::int64_t oh = 0; oh < s.out_height; ++oh) {
            const std::int64_t ih = oh * s.stride_height - s.pad_top + kh * s.dilation_height;
            if (ih < 0 || ih >= s.height) continue;
            for (std::int64_t ow = 0; ow < s.out_width; ++ow) {
                const std::int64_t iw = ow * s.stride_width - s.pad_left + kw * s.dilation_width;
                if (iw < 0 || iw >= s.width) continue;
                sum += factor(a, a.src[at(a.strides.image, n, channel, ih, iw)]) *
                       factor(a, a.diff_dst[at(a.strides.result, n, f, oh, ow)]);
            }
        }
    }
    a.diff_weights[at(a.strides.weights, f, c, kh, kw)] = static_cast<Wide<T>>(sum);
}

}  // namespace

DTNN_REFERENCE_OF_VALUES(conv2d, Conv2dArguments) {
    const ConvShape& s = a.shape;
    team.for_pieces(s.batch, 1, [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t n = begin; n < end; ++n)
            forward_image(a, n);
    });
    if (!a.statistics) return;
    team.for_pieces(s.filters, 1, [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t f = begin; f < end; ++f) {
            double sum = 0;
            double squares = 0;
            const double origin = a.bias ? double(a.bias[f]) : 0.0;
            for_each_result(s, a.strides.result, f, [&](std::int64_t cell) {
                const double distance = double(a.dst[cell]) - origin;
                sum += distance;
                squares += distance * distance;
            });
            a.statistics[f] = sum;
            a.statistics[s.filters + f] = squares;
            a.statistics[2 * s.filters + f] = origin;
        }
    });
}

DTNN_REFERENCE_OF_VALUES(conv2d_backward_data, Conv2dBackwardDataArguments) {
    team.for_pieces(a.shape.batch, 1, [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t n = begin; n < end; ++n)
            backward_data_image(a, n);
    });
}

DTNN_REFERENCE_OF_VALUES(conv2d_transpose, Conv2dTransposeArguments) {
    conv2d_backward_data_reference(a, team);
}

DTNN_REFERENCE_OF_VALUES(conv2d_backward_weights, Conv2dBackwardWeightsArguments) {
    const ConvShape& s = a.shape;
    team.for_pieces(s.filters, 1, [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t f = begin; f < end; ++f) {
            for (std::int64_t kh = 0; kh < s.kernel_height; ++kh) {
                for (std::int64_t kw = 0; kw < s.kernel_width; ++kw) {
                    for (std::int64_t c = 0; c < s.group_channels(); ++c) {
                        backward_weight(a, kh, kw, c, f);
                    }
                }
            }
            if (!a.diff_bias) continue;
            double sum = 0;
            for_each_result(s, a.strides.result, f,
                            [&](std::int64_t cell) { sum += a.diff_dst[cell]; });
            a.diff_bias[f] = static_cast<Wide<T>>(sum);
        }
    });
}

DTNN_REFERENCE_OF_VALUES(dense, DenseArguments) {
    conv2d_reference(a, team);
}

DTNN_REFERENCE_OF_VALUES(dense_backward_data, DenseBackwardDataArguments) {
    conv2d_backward_data_reference(a, team);
}

DTNN_REFERENCE_OF_VALUES(dense_backward_weights, DenseBackwardWeightsArguments) {
    conv2d_backward_weights_reference(a, team);
}

}  // namespace dtnn::kernels::reference
