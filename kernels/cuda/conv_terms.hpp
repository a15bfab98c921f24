#pragma once
/// The terms that convolutions and dense products for devices share, whoever does the sums: where
/// operands lie, what becomes of a sum before it is stored, and sums by filter.

#include "kernels/cuda/conv_scratch.hpp"
#include "kernels/cuda/image.hpp"
#include "kernels/cuda/reduce.hpp"

namespace dtnn::kernels::cuda {

inline ImageLayout layout_of(std::int64_t outer, std::int64_t channels, std::int64_t height,
                             std::int64_t width, const ConvStrides::Axes& strides) {
    return {outer, channels, height, width, strides[0], strides[1], strides[2], strides[3]};
}

/// src or diff_src; dst or diff_dst; the filters, whose batch is F and whose channels are C/groups.
template <class Arguments>
ImageLayout image_of(const Arguments& a) {
    const ConvShape& s = a.shape;
    return layout_of(s.batch, s.channels, s.height, s.width, a.strides.image);
}
template <class Arguments>
ImageLayout result_of(const Arguments& a) {
    const ConvShape& s = a.shape;
    return layout_of(s.batch, s.filters, s.out_height, s.out_width, a.strides.result);
}
template <class Arguments>
ImageLayout filters_of(const Arguments& a) {
    const ConvShape& s = a.shape;
    return layout_of(s.filters, s.group_channels(), s.kernel_height, s.kernel_width,
                     a.strides.weights);
}

inline bool is_empty(const ConvShape& s) {
    return s.out_pixels() * s.filters == 0 || s.pixels() * s.channels == 0 || s.taps() == 0;
}

/// relu(sum + bias[channel] + residual[cell]) * (mask[cell] > 0), of which any may be missing.
template <class T>
struct Epilogue {
    const Wide<T>* bias = nullptr;
    const T* residual = nullptr;
    const T* mask = nullptr;
    bool relu = false;

    bool empty() const { return !bias && !residual && !mask && !relu; }
    DTNN_DEVICE T operator()(double sum, std::int64_t channel, std::int64_t cell) const {
        if (bias) sum += double(bias[channel]);
        if (residual) sum += double(residual[cell]);
        const bool zero = (mask && !(mask[cell] > 0)) || (relu && sum < 0);
        return T(zero ? 0 : sum);
    }
};

template <class T>
Epilogue<T> epilogue_of(const Conv2dArguments<T>& a) {
    return {a.bias, a.residual, nullptr, a.relu};
}
template <class T>
Epilogue<T> epilogue_of(const Conv2dBackwardDataArguments<T>& a) {
    return {a.bias, nullptr, a.mask, a.relu};
}

/// data = epilogue(data)
template <class T>
void apply_epilogue(const Launch& launch, const Epilogue<T>& epilogue, T* data,
                    const ImageLayout& layout) {
    each_element(launch, layout,
                 [=] DTNN_DEVICE(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
                     const std::int64_t cell = layout.at(n, c, h, w);
                     data[cell] = epilogue(double(data[cell]), c, cell);
                 });
}

/// How many sums of every filter the arguments ask for.
template <class T>
int sums_by_filter(const Conv2dArguments<T>& a) {
    return a.statistics ? 2 : 0;
}
template <class T>
int sums_by_filter(const Conv2dBackwardDataArguments<T>&) {
    return 0;
}
template <class T>
int sums_by_filter(const Conv2dBackwardWeightsArguments<T>& a) {
    return a.diff_bias ? 1 : 0;
}

template <class Arguments>
ConvScratch scratch_of(const Arguments& a) {
    return divide(a.workspace,
                  conv_sums_bytes(sums_by_filter(a), a.shape.out_pixels(), a.shape.filters));
}

/// finish(filter, Sums<N>) of the sums over the pixels of the result of term(filter, cell), by way
/// of the sums of chunks, which the end of the workspace holds. N is sums_by_filter.
template <int N, class Arguments, class Term, class Finish>
void sum_by_filter(const Arguments& a, const Launch& launch, const Term& term,
                   const Finish& finish) {
    const ImageLayout result = result_of(a);
    const Divider height(result.height), width(result.width);
    const Workspace sums = scratch_of(a).sums;
    reduce_columns<N>(
        launch, 1, result.pixels(), result.channels, reinterpret_cast<Sums<N>*>(sums.data()),
        [=] DTNN_DEVICE(std::int64_t, std::int64_t pixel, std::int64_t f) {
            const std::int64_t row = width.quotient(pixel), n = height.quotient(row);
            return term(f, result.at(n, f, row - n * height.by(), pixel - row * width.by()));
        },
        [=] DTNN_DEVICE(std::int64_t, std::int64_t f, const Sums<N>& all) { finish(f, all); });
}

/// The statistics of what stands in dst (kernels/arguments/conv2d.hpp).
template <class T>
void sum_statistics(const Conv2dArguments<T>& a, const Launch& launch) {
    if (!a.statistics) return;
    const T* const dst = a.dst;
    const Wide<T>* const bias = a.bias;
    double* const statistics = a.statistics;
    const std::int64_t filters = a.shape.filters;
    const auto origin = [=] DTNN_DEVICE(std::int64_t f) { return bias ? double(bias[f]) : 0.0; };
    sum_by_filter<2>(
        a, launch,
        [=] DTNN_DEVICE(std::int64_t f, std::int64_t cell) {
            const double distance = double(dst[cell]) - origin(f);
            return Sums<2>{{distance, distance * distance}};
        },
        [=] DTNN_DEVICE(std::int64_t f, const Sums<2>& sums) {
            statistics[f] = sums.of[0];
            statistics[filters + f] = sums.of[1];
            statistics[2 * filters + f] = origin(f);
        });
}

template <class T>
void sum_bias_gradient(const Conv2dBackwardWeightsArguments<T>& a, const Launch& launch) {
    if (!a.diff_bias) return;
    const T* const diff_dst = a.diff_dst;
    Wide<T>* const diff_bias = a.diff_bias;
    sum_by_filter<1>(
        a, launch,
        [=] DTNN_DEVICE(std::int64_t, std::int64_t cell) {
            return Sums<1>{{double(diff_dst[cell])}};
        },
        [=] DTNN_DEVICE(std::int64_t f, const Sums<1>& sums) {
            diff_bias[f] = Wide<T>(sums.of[0]);
        });
}

}  // namespace dtnn::kernels::cuda
