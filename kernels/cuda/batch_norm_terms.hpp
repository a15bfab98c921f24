#pragma once
/// The terms that the gradients of batch norm share, of one rank and of all.

#include "kernels/arguments/batch_norm.hpp"
#include "kernels/cuda/dense_channels.hpp"
#include "kernels/cuda/reduce.hpp"

namespace dtnn::kernels::cuda {

/// The gradient that passes relu, and the normalised source.
template <class T>
struct PassedGradient {
    const T *src, *diff_dst;
    const Wide<T>*gamma, *inverse_deviation, *beta;
    const double* mean;
    const std::uint8_t* mask;
    bool relu;
    DenseChannels shape;

    DTNN_DEVICE double normalised(std::int64_t i, std::int64_t c) const {
        return (double(src[i]) - mean[c]) * double(inverse_deviation[c]);
    }
    DTNN_DEVICE double passed(std::int64_t i, std::int64_t c, double xhat) const {
        bool passes = true;
        if (mask != nullptr) {
            passes = (mask[i / 8] >> (i % 8) & 1) != 0;
        } else if (relu) {
            passes = xhat * double(gamma[c]) + double(beta[c]) > 0;
        }
        return passes ? double(diff_dst[i]) : 0.0;
    }
};

template <class T>
PassedGradient<T> passed_gradient(const BatchNormGradient<T>& a) {
    return {a.src,  a.diff_dst, a.gamma, a.inverse_deviation,        a.beta,
            a.mean, a.mask,     a.relu,  DenseChannels(a.src_layout)};
}

/// finish(0, channel, {sum of g, sum of g * xhat}).
template <class T, class Finish>
void sum_gradients(const Launch& launch, const PassedGradient<T>& gradient, std::int64_t pixels,
                   Sums<2>* of_chunks, const Finish& finish) {
    reduce_columns<2>(
        launch, 1, pixels, gradient.shape.channels(), of_chunks,
        [=] DTNN_DEVICE(std::int64_t, std::int64_t pixel, std::int64_t c) {
            const std::int64_t i = gradient.shape.place(pixel, c);
            const double xhat = gradient.normalised(i, c), g = gradient.passed(i, c, xhat);
            return Sums<2>{{g, g * xhat}};
        },
        finish);
}

/// diff_src, and diff_residual where it is wanted, of the means of g and of g * xhat by channel.
template <class T>
void write_gradients(const Launch& launch, const PassedGradient<T>& gradient, std::int64_t pixels,
                     const Sums<2>* means, T* diff_src, T* diff_residual) {
    launch.each(pixels * gradient.shape.channels(), [=] DTNN_DEVICE(std::int64_t i) {
        const std::int64_t c = gradient.shape.channel_of(i);
        const double xhat = gradient.normalised(i, c), g = gradient.passed(i, c, xhat);
        const double scale = double(gradient.gamma[c]) * double(gradient.inverse_deviation[c]);
        if (diff_residual != nullptr) diff_residual[i] = T(g);
        diff_src[i] = T(scale * (g - means[c].of[0] - xhat * means[c].of[1]));
    });
}

}  // namespace dtnn::kernels::cuda
