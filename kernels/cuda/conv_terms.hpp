#pragma once
/// The terms that convolutions and dense products for devices share, whoever does the sums: where
/// operands lie, what becomes of a sum before it is stored, and sums by filter.

#include "kernels/cuda/conv_scratch.hpp"
#include "kernels/cuda/image.hpp"
#include "kernels/cuda/packs.hpp"

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

/// data = epilogue(sums), which may be data.
template <class T, class Sum>
static void apply_epilogue(const Launch& launch, const Epilogue<T>& epilogue, const Sum* sums,
                           T* data, const ImageLayout& layout) {
    each_element(launch, layout,
                 [=] DTNN_DEVICE(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
                     const std::int64_t cell = layout.at(n, c, h, w);
                     data[cell] = epilogue(double(sums[cell]), c, cell);
                 });
}

/// The place of `cells` sums of products of 16 bits in a library's workspace, as floats: they are
/// rounded once, behind the epilogue. The rest is the library's.
struct Unrounded {
    float* sums;
    Workspace rest;

    Unrounded(Workspace library, std::int64_t cells) : sums(nullptr), rest(library) {
        const auto bytes = std::size_t(whole_steps(cells * std::int64_t(sizeof(float))));
        if (bytes > library.size()) return;
        sums = reinterpret_cast<float*>(library.data());
        rest = library.subspan(bytes);
    }
};

/// The gradient of weights sums that of its bias as well.
template <class Arguments>
ConvScratch scratch_of(const Arguments& a) {
    bool bias = false;
    if constexpr (requires { a.diff_bias; }) bias = a.diff_bias != nullptr;
    return divide(a.workspace, bias_sums_bytes(bias, a.shape.out_pixels(), a.shape.filters));
}

/// W neighbouring filters' gradients.
template <class T, int W>
struct GradientsByFilter {
    using Number = Wide<T>;
    const T* data;

    struct Filters {};
    DTNN_DEVICE Filters constants(std::int64_t) const { return {}; }
    DTNN_DEVICE Pack<T, W> load(std::int64_t place) const { return pack_at<T, W>(data + place); }
    DTNN_DEVICE void add(const Filters&, const Pack<T, W>& pack, Number (&sums)[1][W]) const {
        for (int w = 0; w < W; ++w)
            sums[0][w] += Number(pack.of[w]);
    }
};

/// Sums of the result's gradient over its pixels, by way of the sums of chunks, which the end of
/// the workspace holds.
template <class T>
static void sum_bias_gradient(const Conv2dBackwardWeightsArguments<T>& a, const Launch& launch) {
    if (!a.diff_bias) return;
    const ImageLayout result = result_of(a);
    const T* const data = a.diff_dst;
    Wide<T>* const diff_bias = a.diff_bias;
    auto* const of_chunks = reinterpret_cast<Sums<1>*>(scratch_of(a).sums.data());
    const auto finish = [=] DTNN_DEVICE(std::int64_t, std::int64_t f, const Sums<1>& sums) {
        diff_bias[f] = Wide<T>(sums.of[0]);
    };
    if (is_packed(result) && has_no_gaps(result)) {
        reduce_packs<1, kChannelPack, Wide<T>>(launch, result.pixels(), DenseChannels(result),
                                               of_chunks, GradientsByFilter<T, kChannelPack>{data},
                                               finish);
        return;
    }
    const Divider height(result.height), width(result.width);
    reduce_columns<1>(
        launch, 1, result.pixels(), result.channels, of_chunks,
        [=] DTNN_DEVICE(std::int64_t, std::int64_t pixel, std::int64_t f) {
            const std::int64_t row = width.quotient(pixel), n = height.quotient(row);
            return Sums<1>{
                {double(data[result.at(n, f, row - n * height.by(), pixel - row * width.by())])}};
        },
        finish);
}

}  // namespace dtnn::kernels::cuda
