#pragma once
/// The terms that the gradients of batch norm share, of one rank and of all.

#include "kernels/arguments/batch_norm.hpp"
#include "kernels/cuda/dense_channels.hpp"
#include "kernels/cuda/reduce.hpp"

namespace dtnn::kernels::cuda {

/// The gradient that passes relu, and the normalised source.
template <class T>
struct PassedGradient {
    BatchNormGradient<T> a;
    DenseChannels shape;

    explicit PassedGradient(const BatchNormGradient<T>& arguments)
        : a(arguments), shape(arguments.src_layout) {}
    DTNN_DEVICE double normalised(std::int64_t i, std::int64_t c) const {
        return (double(a.src[i]) - a.mean[c]) * double(a.inverse_deviation[c]);
    }
    DTNN_DEVICE double passed(std::int64_t i, std::int64_t c, double xhat) const {
        bool passes = true;
        if (a.mask != nullptr) {
            passes = (a.mask[i / 8] >> (i % 8) & 1) != 0;
        } else if (a.relu) {
            passes = xhat * double(a.gamma[c]) + double(a.beta[c]) > 0;
        }
        return passes ? double(a.diff_dst[i]) : 0.0;
    }
};

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
        const double scale = double(gradient.a.gamma[c]) * double(gradient.a.inverse_deviation[c]);
        if (diff_residual != nullptr) diff_residual[i] = T(g);
        diff_src[i] = T(scale * (g - means[c].of[0] - xhat * means[c].of[1]));
    });
}

}  // namespace dtnn::kernels::cuda
