#include <cmath>

#include "kernels/arguments/batch_norm.hpp"
#include "kernels/cuda/batch_norm_terms.hpp"
#include "kernels/cuda/kernel.hpp"

namespace dtnn::kernels::cuda {
namespace {

/// y = (x - mean) * scale + shift
template <class Number, int W>
struct NormalisedChannels {
    Number mean[W], scale[W], shift[W];
};

template <class T, int W>
struct SourceTerms {
    Pack<T, W> src, residual;
};

/// dst of packs (packs.hpp), and which of its elements are positive where that is wanted.
template <class T, int W>
struct Normalised {
    using Number = Wide<T>;
    const T *src, *residual;
    const Number* beta;
    const double *mean, *scale;
    bool relu;
    T* dst;
    std::uint8_t* mask;

    DTNN_DEVICE NormalisedChannels<Number, W> constants(std::int64_t c) const {
        NormalisedChannels<Number, W> channels;
        for (int w = 0; w < W; ++w) {
            const double lost = lost_of<Number>(mean[c + w]);
            channels.mean[w] = Number(mean[c + w]);
            channels.scale[w] = Number(scale[c + w]);
            channels.shift[w] = Number(double(beta[c + w]) - lost * scale[c + w]);
        }
        return channels;
    }
    DTNN_DEVICE SourceTerms<T, W> load(std::int64_t place) const {
        SourceTerms<T, W> terms;
        terms.src = pack_at<T, W>(src + place);
        if (residual != nullptr) terms.residual = pack_at<T, W>(residual + place);
        return terms;
    }
    /// The elements, and which of them are positive.
    DTNN_DEVICE int result(const NormalisedChannels<Number, W>& channels,
                           const SourceTerms<T, W>& terms, Pack<T, W>& of) const {
        int positive = 0;
        for (int w = 0; w < W; ++w) {
            const Number distance = Number(terms.src.of[w]) - channels.mean[w];
            Number y = distance * channels.scale[w] + channels.shift[w];
            if (residual != nullptr) y += Number(terms.residual.of[w]);
            positive |= T(y) > T(0) ? 1 << w : 0;
            of.of[w] = relu && y <= 0 ? T(0) : T(y);
        }
        return positive;
    }
    DTNN_DEVICE void work(const NormalisedChannels<Number, W>& channels, std::int64_t place,
                          const SourceTerms<T, W>& terms) const {
        Pack<T, W> pack;
        const int positive = result(channels, terms, pack);
        store(pack, dst + place);
        if (mask != nullptr) mask[place / 8] = std::uint8_t(positive);
    }
};

/// Where 8 elements, which share a byte of the mask, have no common row.
template <class T>
void write_normalised_and_mask(const Launch& launch, const Normalised<T, 1>& y, std::int64_t count,
                               const DenseChannels& shape) {
    launch.each((count + 7) / 8, [=] DTNN_DEVICE(std::int64_t byte) {
        int positive = 0;
        for (int bit = 0; bit < 8 && 8 * byte + bit < count; ++bit) {
            const std::int64_t i = 8 * byte + bit;
            Pack<T, 1> pack;
            positive |= y.result(y.constants(shape.channel_of(i)), y.load(i), pack) << bit;
            store(pack, y.dst + i);
        }
        y.mask[byte] = std::uint8_t(positive);
    });
}

/// Of training, or of inference, whose arguments have no mask.
template <class T, class Arguments>
void write_normalised(const Launch& launch, const Arguments& a, const double* mean,
                      const double* scale, std::uint8_t* mask) {
    const DenseChannels shape(a.src_layout);
    const std::int64_t pixels = a.src_layout.pixels();
    with_pack_width(shape, [&](auto width) {
        constexpr int W = decltype(width)::value;
        const Normalised<T, W> y{a.src, a.residual, a.beta, mean, scale, a.relu, a.dst, mask};
        if constexpr (W == 1) {
            if (mask != nullptr)
                return write_normalised_and_mask(launch, y, pixels * shape.channels(), shape);
        }
        each_pack<W>(launch, pixels, shape, y);
    });
}

/// The statistics that a channel's moments become.
template <class T>
struct ChannelMoments {
    double epsilon, momentum;
    const Wide<T>*gamma, *running_mean, *running_variance;
    double *mean, *scale;
    Wide<T>*inverse_deviation, *new_running_mean, *new_running_variance;

    DTNN_DEVICE void write(std::int64_t c, double m, double variance) const {
        const double inverse = 1 / std::sqrt(variance + epsilon);
        mean[c] = m;
        scale[c] = inverse * double(gamma[c]);
        inverse_deviation[c] = Wide<T>(inverse);
        new_running_mean[c] = Wide<T>(momentum * double(running_mean[c]) + (1 - momentum) * m);
        new_running_variance[c] =
            Wide<T>(momentum * double(running_variance[c]) + (1 - momentum) * variance);
    }
};

/// The variance of sums of distances and of their squares.
DTNN_DEVICE inline double variance_of(double sum, double squares, double count) {
    const double variance = squares / count - sum / count * (sum / count);
    return variance < 0 ? 0 : variance;  // keeps what is not a number
}

template <class T>
void moments_of_all_ranks(const BatchNormTrainingArguments<T>& a, const ChannelMoments<T>& moments,
                          const Launch& launch) {
    const double* const statistics = a.statistics;
    const std::int64_t channels = a.src_layout.channels;
    launch.each(channels, [=] DTNN_DEVICE(std::int64_t c) {
        const double all = statistics[RankMoments::elements(channels) - 1];
        const Moments of_ranks = moments_of_ranks(statistics + c, channels, all > 0 ? all : 1);
        moments.write(c, of_ranks.mean, of_ranks.variance);
    });
}

template <class Number, int W>
struct Origins {
    Number of[W];
};

/// Distances from the channel's first number, and their squares. It is at most sqrt(count)
/// deviations away from the mean, so that double loses little where squares cancel.
template <class T, int W>
struct Distances {
    using Number = Wide<T>;
    const T* src;
    DenseChannels shape;

    DTNN_DEVICE double origin(std::int64_t c) const { return double(src[shape.place(0, c)]); }
    DTNN_DEVICE Origins<Number, W> constants(std::int64_t c) const {
        Origins<Number, W> origins;
        for (int w = 0; w < W; ++w)
            origins.of[w] = Number(origin(c + w));
        return origins;
    }
    DTNN_DEVICE Pack<T, W> load(std::int64_t place) const { return pack_at<T, W>(src + place); }
    DTNN_DEVICE void add(const Origins<Number, W>& origins, const Pack<T, W>& pack,
                         Number (&sums)[2][W]) const {
        for (int w = 0; w < W; ++w) {
            const Number distance = Number(pack.of[w]) - origins.of[w];
            sums[0][w] += distance;
            sums[1][w] += distance * distance;
        }
    }
};

template <int W, class T>
void moments_of_packs(const BatchNormTrainingArguments<T>& a, const ChannelMoments<T>& moments,
                      Sums<2>* of_chunks, const Launch& launch) {
    const DenseChannels shape(a.src_layout);
    const Distances<T, W> distances{a.src, shape};
    const std::int64_t pixels = a.src_layout.pixels();
    reduce_packs<2, W, Wide<T>>(launch, pixels, shape, of_chunks, distances,
                                [=] DTNN_DEVICE(std::int64_t, std::int64_t c, const Sums<2>& sums) {
                                    const auto count = double(pixels);
                                    moments.write(c, distances.origin(c) + sums.of[0] / count,
                                                  variance_of(sums.of[0], sums.of[1], count));
                                });
}

}  // namespace

DTNN_CUDA_KERNEL_OF_VALUES(batch_norm_training_columns, BatchNormTrainingArguments) {
    const std::int64_t channels = a.src_layout.channels;
    auto* const scale = reinterpret_cast<double*>(a.workspace);
    const ChannelMoments<T> moments{a.epsilon,
                                    a.momentum,
                                    a.gamma,
                                    a.running_mean,
                                    a.running_variance,
                                    a.mean,
                                    scale,
                                    a.inverse_deviation,
                                    a.new_running_mean,
                                    a.new_running_variance};
    if (a.synchronised) {
        moments_of_all_ranks(a, moments, launch);
    } else {
        auto* const of_chunks = reinterpret_cast<Sums<2>*>(scale + kBatchNormNumbers * channels);
        with_pack_width(DenseChannels(a.src_layout), [&](auto width) {
            moments_of_packs<decltype(width)::value>(a, moments, of_chunks, launch);
        });
    }
    write_normalised<T>(launch, a, a.mean, scale, a.mask);
}

DTNN_CUDA_KERNEL_OF_VALUES(batch_norm_inference_columns, BatchNormInferenceArguments) {
    const std::int64_t channels = a.src_layout.channels;
    auto* const mean = reinterpret_cast<double*>(a.workspace);
    double* const scale = mean + channels;
    launch.each(channels, [=] DTNN_DEVICE(std::int64_t c) {
        mean[c] = double(a.running_mean[c]);
        scale[c] = double(a.gamma[c]) / std::sqrt(double(a.running_variance[c]) + a.epsilon);
    });
    write_normalised<T>(launch, a, mean, scale, nullptr);
}

DTNN_CUDA_KERNEL_OF_VALUES(batch_norm_backward_columns, BatchNormBackwardArguments) {
    using Channel = GradientChannel<Wide<T>>;
    const std::int64_t channels = a.src_layout.channels, pixels = a.src_layout.pixels();
    const BatchNormGradient<T> terms = a;
    auto* const of_channels = reinterpret_cast<Channel*>(a.workspace);
    Wide<T>*const diff_gamma = a.diff_gamma, *const diff_beta = a.diff_beta;
    sum_gradients<T>(launch, terms,
                     reinterpret_cast<Sums<2>*>(reinterpret_cast<double*>(a.workspace) +
                                                kBatchNormNumbers * channels),
                     [=] DTNN_DEVICE(std::int64_t, std::int64_t c, const Sums<2>& sums) {
                         diff_beta[c] = Wide<T>(sums.of[0]);
                         diff_gamma[c] = Wide<T>(sums.of[1]);
                         of_channels[c] = Channel::of(terms, c, sums.of[0] / double(pixels),
                                                      sums.of[1] / double(pixels));
                     });
    write_gradients<T>(launch, terms, of_channels, a.diff_src, a.diff_residual);
}

DTNN_CUDA_KERNEL(fold_batch_norm_each, FoldBatchNormArguments) {
    auto* const scale = reinterpret_cast<double*>(a.workspace);
    launch.each(a.channels, [=] DTNN_DEVICE(std::int64_t c) {
        scale[c] = double(a.gamma[c]) / std::sqrt(double(a.running_variance[c]) + a.epsilon);
        const double old = a.bias != nullptr ? double(a.bias[c]) : 0.0;
        a.dst_bias[c] = T((old - double(a.running_mean[c])) * scale[c] + double(a.beta[c]));
    });
    launch.each(a.outer * a.channels * a.inner, [=] DTNN_DEVICE(std::int64_t i) {
        a.dst_weights[i] = T(double(a.weights[i]) * scale[i / a.inner % a.channels]);
    });
}

}  // namespace dtnn::kernels::cuda
