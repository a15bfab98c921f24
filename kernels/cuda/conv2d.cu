#include "kernels/cuda/conv2d.hpp"
#include "kernels/cuda/conv_terms.hpp"
#include "kernels/cuda/kernel.hpp"

namespace dtnn::kernels::cuda {
namespace {

/// An axis of the windows.
struct ConvAxis {
    std::int64_t kernel, before, extent, out_extent;
    Divider stride, dilation;

    /// The source cell of tap k of output cell `out`; -1: outside of the image.
    DTNN_DEVICE std::int64_t source(std::int64_t out, std::int64_t k) const {
        const std::int64_t cell = out * stride.by() - before + k * dilation.by();
        return cell < extent ? cell : -1;
    }
    /// The output cell whose tap k is this source cell; -1: none is.
    DTNN_DEVICE std::int64_t result(std::int64_t cell, std::int64_t k) const {
        const std::int64_t distance = cell + before - k * dilation.by();
        if (distance < 0) return -1;
        const std::int64_t out = stride.quotient(distance);
        return out < out_extent && out * stride.by() == distance ? out : -1;
    }
};

ConvAxis rows_of(const ConvShape& s) {
    return {s.kernel_height,           s.pad_top, s.height, s.out_height, Divider(s.stride_height),
            Divider(s.dilation_height)};
}

ConvAxis columns_of(const ConvShape& s) {
    return {s.kernel_width,           s.pad_left, s.width, s.out_width, Divider(s.stride_width),
            Divider(s.dilation_width)};
}

/// The i-th weight, of the channels one after the other.
struct WeightIndex {
    struct Weight {
        std::int64_t f, c, kh, kw;
    };
    Divider channels, width, height;

    explicit WeightIndex(const ImageLayout& filters)
        : channels(filters.channels), width(filters.width), height(filters.height) {}
    DTNN_DEVICE Weight operator()(std::int64_t i) const {
        const std::int64_t tap = channels.quotient(i), row = width.quotient(tap);
        const std::int64_t f = height.quotient(row);
        return {f, i - tap * channels.by(), row - f * height.by(), tap - row * width.by()};
    }
};

}  // namespace

/// A thread has a cell of dst.
DTNN_CUDA_KERNEL_OF_VALUES(conv2d_direct, Conv2dArguments) {
    const ConvAxis rows = rows_of(a.shape), columns = columns_of(a.shape);
    const ImageLayout image = image_of(a), filters = filters_of(a), result = result_of(a);
    const Epilogue<T> epilogue = epilogue_of(a);
    const Divider group_filters(a.shape.group_filters());
    const std::int64_t depth = a.shape.group_channels();
    const T* const src = a.src;
    const T* const weights = a.weights;
    T* const dst = a.dst;
    each_element(launch, result,
                 [=] DTNN_DEVICE(std::int64_t n, std::int64_t f, std::int64_t oh, std::int64_t ow) {
                     const std::int64_t first = group_filters.quotient(f) * depth;
                     double sum = 0;
                     for (std::int64_t kh = 0; kh < rows.kernel; ++kh) {
                         const std::int64_t h = rows.source(oh, kh);
                         if (h < 0) continue;
                         for (std::int64_t kw = 0; kw < columns.kernel; ++kw) {
                             const std::int64_t w = columns.source(ow, kw);
                             if (w < 0) continue;
                             for (std::int64_t c = 0; c < depth; ++c)
                                 sum += double(src[image.at(n, first + c, h, w)]) *
                                        double(weights[filters.at(f, c, kh, kw)]);
                         }
                     }
                     const std::int64_t cell = result.at(n, f, oh, ow);
                     dst[cell] = epilogue(sum, f, cell);
                 });
}

/// A thread has a cell of diff_src, and adds up what the output cells give whose taps fall on it.
DTNN_CUDA_KERNEL_OF_VALUES(conv2d_backward_data_direct, Conv2dBackwardDataArguments) {
    const ConvAxis rows = rows_of(a.shape), columns = columns_of(a.shape);
    const ImageLayout image = image_of(a), filters = filters_of(a), result = result_of(a);
    const Epilogue<T> epilogue = epilogue_of(a);
    const Divider group_channels(a.shape.group_channels());
    const std::int64_t depth = a.shape.group_filters();
    each_element(launch, image,
                 [=] DTNN_DEVICE(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
                     const std::int64_t group = group_channels.quotient(c);
                     const std::int64_t first = group * depth,
                                        channel = c - group * group_channels.by();
                     double sum = 0;
                     for (std::int64_t kh = 0; kh < rows.kernel; ++kh) {
                         const std::int64_t oh = rows.result(h, kh);
                         if (oh < 0) continue;
                         for (std::int64_t kw = 0; kw < columns.kernel; ++kw) {
                             const std::int64_t ow = columns.result(w, kw);
                             if (ow < 0) continue;
                             for (std::int64_t f = first; f < first + depth; ++f)
                                 sum += double(a.diff_dst[result.at(n, f, oh, ow)]) *
                                        double(a.weights[filters.at(f, channel, kh, kw)]);
                         }
                     }
                     const std::int64_t cell = image.at(n, c, h, w);
                     a.diff_src[cell] = epilogue(sum, c, cell);
                 });
}

DTNN_CUDA_KERNEL_OF_VALUES(conv2d_transpose_direct, Conv2dTransposeArguments) {
    conv2d_backward_data_direct(a, launch);
}

/// A group of threads has a weight.
DTNN_CUDA_KERNEL_OF_VALUES(conv2d_backward_weights_direct, Conv2dBackwardWeightsArguments) {
    const ConvAxis rows = rows_of(a.shape), columns = columns_of(a.shape);
    const ImageLayout image = image_of(a), filters = filters_of(a), result = result_of(a);
    const WeightIndex weight_of(filters);
    const Divider out_width(result.width), out_height(result.height);
    const Divider group_filters(a.shape.group_filters());
    const std::int64_t pixels = result.pixels();
    reduce<1>(
        launch, a.shape.weight_elements(), [=] DTNN_DEVICE(std::int64_t) { return pixels; },
        [=] DTNN_DEVICE(std::int64_t i, std::int64_t pixel) {
            const WeightIndex::Weight at = weight_of(i);
            const std::int64_t row = out_width.quotient(pixel), n = out_height.quotient(row);
            const std::int64_t oh = row - n * out_height.by(), ow = pixel - row * out_width.by();
            const std::int64_t h = rows.source(oh, at.kh), w = columns.source(ow, at.kw);
            if (h < 0 || w < 0) return Sums<1>{{0.0}};
            const std::int64_t c = group_filters.quotient(at.f) * filters.channels + at.c;
            return Sums<1>{{double(a.src[image.at(n, c, h, w)]) *
                            double(a.diff_dst[result.at(n, at.f, oh, ow)])}};
        },
        [=] DTNN_DEVICE(std::int64_t i, const Sums<1>& sums) {
            const WeightIndex::Weight at = weight_of(i);
            a.diff_weights[filters.at(at.f, at.c, at.kh, at.kw)] = Wide<T>(sums.of[0]);
        });
    sum_bias_gradient(a, launch);
}

}  // namespace dtnn::kernels::cuda
