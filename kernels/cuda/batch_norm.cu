#include <cmath>

#include "kernels/arguments/batch_norm.hpp"
#include "kernels/cuda/batch_norm_terms.hpp"
#include "kernels/cuda/kernel.hpp"

namespace dtnn::kernels::cuda {
namespace {

/// y of one element: its distance from the mean by the channel's scale.
template <class T>
struct NormalisedByChannel {
    const T *src, *residual;
    const Wide<T>* beta;
    const double *mean, *scale;
    DenseChannels shape;

    DTNN_DEVICE double at(std::int64_t i) const {
        const std::int64_t c = shape.channel_of(i);
        const double y = (double(src[i]) - mean[c]) * scale[c] + double(beta[c]);
        return residual != nullptr ? y + double(residual[i]) : y;
    }
};

template <class T>
void write_normalised(const Launch& launch, const NormalisedByChannel<T>& of, std::int64_t count,
                      bool relu, T* dst) {
    launch.each(count, [=] DTNN_DEVICE(std::int64_t i) {
        const double y = of.at(i);
        dst[i] = relu && y <= 0 ? T(0) : T(y);
    });
}

struct SharedSigns {
    bool positive[kThreads];
};

/// The same, and which elements are positive.
template <class T>
void write_normalised_and_mask(const Launch& launch, const NormalisedByChannel<T>& of,
                               std::int64_t count, bool relu, T* dst, std::uint8_t* mask) {
    launch.groups<SharedSigns>(
        (count + kThreads - 1) / kThreads,
        [=] DTNN_DEVICE(std::int64_t group, int thread, SharedSigns& shared) {
            const std::int64_t i = group * kThreads + thread;
            shared.positive[thread] = false;
            if (i >= count) return;
            const double y = of.at(i);
            shared.positive[thread] = T(y) > T(0);
            dst[i] = relu && y <= 0 ? T(0) : T(y);
        },
        [=] DTNN_DEVICE(std::int64_t group, int thread, SharedSigns& shared) {
            const std::int64_t byte = group * (kThreads / 8) + thread;
            if (thread >= kThreads / 8 || byte >= (count + 7) / 8) return;
            int bits = 0;
            for (int bit = 0; bit < 8; ++bit)
                bits |= shared.positive[8 * thread + bit] ? 1 << bit : 0;
            mask[byte] = std::uint8_t(bits);
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
void moments_of_statistics(const BatchNormTrainingArguments<T>& a, const ChannelMoments<T>& moments,
                           const Launch& launch) {
    const double* const statistics = a.statistics;
    const bool synchronised = a.synchronised;
    const std::int64_t channels = a.src_layout.channels;
    const auto pixels = double(a.src_layout.pixels());
    launch.each(channels, [=] DTNN_DEVICE(std::int64_t c) {
        double count = pixels;
        double origin = 0;
        if (synchronised) {
            count = statistics[2 * channels] > 0 ? statistics[2 * channels] : 1;
            origin = double(moments.running_mean[c]);
        } else {
            origin = statistics[2 * channels + c];
        }
        const double sum = statistics[c];
        moments.write(c, origin + sum / count, variance_of(sum, statistics[channels + c], count));
    });
}

/// By distances from the channel's first number. It is at most sqrt(count) deviations away from the
/// mean, so that double loses little where squares cancel.
template <class T>
void moments_of_source(const BatchNormTrainingArguments<T>& a, const ChannelMoments<T>& moments,
                       Sums<2>* of_chunks, const Launch& launch) {
    const T* const src = a.src;
    const std::int64_t channels = a.src_layout.channels, pixels = a.src_layout.pixels();
    const DenseChannels shape(a.src_layout);
    reduce_columns<2>(
        launch, 1, pixels, channels, of_chunks,
        [=] DTNN_DEVICE(std::int64_t, std::int64_t pixel, std::int64_t c) {
            const double distance =
                double(src[shape.place(pixel, c)]) - double(src[shape.place(0, c)]);
            return Sums<2>{{distance, distance * distance}};
        },
        [=] DTNN_DEVICE(std::int64_t, std::int64_t c, const Sums<2>& sums) {
            const auto count = double(pixels);
            moments.write(c, double(src[shape.place(0, c)]) + sums.of[0] / count,
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
    if (a.statistics != nullptr) {
        moments_of_statistics(a, moments, launch);
    } else {
        moments_of_source(a, moments, reinterpret_cast<Sums<2>*>(scale + 2 * channels), launch);
    }
    const NormalisedByChannel<T> of{a.src,  a.residual, a.beta,
                                    a.mean, scale,      DenseChannels(a.src_layout)};
    const std::int64_t count = channels * a.src_layout.pixels();
    if (a.mask != nullptr) {
        write_normalised_and_mask(launch, of, count, a.relu, a.dst, a.mask);
    } else {
        write_normalised(launch, of, count, a.relu, a.dst);
    }
}

DTNN_CUDA_KERNEL_OF_VALUES(batch_norm_inference_columns, BatchNormInferenceArguments) {
    const std::int64_t channels = a.src_layout.channels;
    auto* const mean = reinterpret_cast<double*>(a.workspace);
    double* const scale = mean + channels;
    launch.each(channels, [=] DTNN_DEVICE(std::int64_t c) {
        mean[c] = double(a.running_mean[c]);
        scale[c] = double(a.gamma[c]) / std::sqrt(double(a.running_variance[c]) + a.epsilon);
    });
    const NormalisedByChannel<T> of{a.src, a.residual, a.beta,
                                    mean,  scale,      DenseChannels(a.src_layout)};
    write_normalised(launch, of, channels * a.src_layout.pixels(), a.relu, a.dst);
}

DTNN_CUDA_KERNEL_OF_VALUES(batch_norm_backward_columns, BatchNormBackwardArguments) {
    const PassedGradient<T> gradient(a);
    const std::int64_t channels = gradient.shape.channels(), pixels = a.src_layout.pixels();
    auto* const means = reinterpret_cast<Sums<2>*>(a.workspace);
    Wide<T>*const diff_gamma = a.diff_gamma, *const diff_beta = a.diff_beta;
    sum_gradients(
        launch, gradient, pixels, means + channels,
        [=] DTNN_DEVICE(std::int64_t, std::int64_t c, const Sums<2>& sums) {
            diff_beta[c] = Wide<T>(sums.of[0]);
            diff_gamma[c] = Wide<T>(sums.of[1]);
            means[c] = Sums<2>{{sums.of[0] / double(pixels), sums.of[1] / double(pixels)}};
        });
    write_gradients(launch, gradient, pixels, means, a.diff_src, a.diff_residual);
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
