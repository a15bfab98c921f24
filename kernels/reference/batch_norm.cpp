#include "kernels/arguments/batch_norm.hpp"

#include <array>
#include <cmath>

#include "kernels/reference/batch_norm_gradient.hpp"
#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {
namespace {

void set_bit(std::uint8_t* mask, std::int64_t i, bool value) {
    const auto one = std::uint8_t(1 << (i % 8));
    mask[i / 8] = std::uint8_t(value ? mask[i / 8] | one : mask[i / 8] & ~one);
}

/// Mean and biased variance of a channel, from the sums when they are given.
template <class T>
void moments(const BatchNormTrainingArguments<T>& a, std::int64_t c, double& mean,
             double& variance) {
    const ImageLayout& image = a.src_layout;
    const double count = a.count();
    if (a.synchronised) {
        const Moments all = moments_of_ranks(a.statistics + c, image.channels, count);
        mean = all.mean;
        variance = all.variance;
        return;
    }
    if (a.statistics != nullptr) {
        const double offset = a.statistics[c] / count;
        mean = offset + a.statistics[2 * image.channels + c];
        variance = a.statistics[image.channels + c] / count - offset * offset;
        if (variance < 0) variance = 0;
        return;
    }
    double sum = 0, rest = 0, squares = 0;
    for_pixels(image, [&](auto n, auto h, auto w) { sum += double(a.src[image.at(n, c, h, w)]); });
    mean = sum / count;
    // The distances from the mean tell what the sum of large numbers has lost.
    for_pixels(image,
               [&](auto n, auto h, auto w) { rest += double(a.src[image.at(n, c, h, w)]) - mean; });
    mean += rest / count;
    for_pixels(image, [&](auto n, auto h, auto w) {
        const double distance = double(a.src[image.at(n, c, h, w)]) - mean;
        squares += distance * distance;
    });
    variance = squares / count;
}

}  // namespace

DTNN_REFERENCE(batch_norm_training, BatchNormTrainingArguments) {
    const ImageLayout& image = a.src_layout;
    if (a.mask != nullptr) {
        const std::int64_t elements = image.channels * image.pixels();
        for (std::int64_t i = 0; i < (elements + 7) / 8; ++i)
            a.mask[i] = 0;
    }
    for (std::int64_t c = 0; c < image.channels; ++c) {
        double mean = 0, variance = 0;
        moments(a, c, mean, variance);
        const double inverse = 1 / std::sqrt(variance + a.epsilon);
        a.mean[c] = mean;
        a.inverse_deviation[c] = T(inverse);
        a.new_running_mean[c] = T(a.momentum * double(a.running_mean[c]) + (1 - a.momentum) * mean);
        a.new_running_variance[c] =
            T(a.momentum * double(a.running_variance[c]) + (1 - a.momentum) * variance);
        for_pixels(image, [&](auto n, auto h, auto w) {
            double y = (double(a.src[image.at(n, c, h, w)]) - mean) * inverse * double(a.gamma[c]) +
                       double(a.beta[c]);
            if (a.residual != nullptr) y += double(a.residual[a.residual_layout.at(n, c, h, w)]);
            const std::int64_t at = a.dst_layout.at(n, c, h, w);
            if (a.mask != nullptr) set_bit(a.mask, at, T(y) > 0);
            if (a.written) y = evaluate(a.epilogue.expression, std::array{y});
            a.dst[at] = a.relu && y <= 0 ? T(0) : T(y);
        });
    }
}

DTNN_REFERENCE(batch_norm_backward, BatchNormBackwardArguments) {
    const ImageLayout& image = a.src_layout;
    const auto count = double(image.pixels());
    for (std::int64_t c = 0; c < image.channels; ++c) {
        double diff_beta = 0, diff_gamma = 0;
        add_gradients(a, c, diff_beta, diff_gamma);
        const double scale = double(a.gamma[c]) * double(a.inverse_deviation[c]);
        write_gradients(a, c, [&](double g, double xhat) {
            return scale * (g - diff_beta / count - xhat * diff_gamma / count);
        });
        a.diff_gamma[c] = T(diff_gamma);
        a.diff_beta[c] = T(diff_beta);
    }
}

DTNN_REFERENCE(batch_norm_inference, BatchNormInferenceArguments) {
    const ImageLayout& image = a.src_layout;
    for (std::int64_t c = 0; c < image.channels; ++c) {
        const double scale =
            double(a.gamma[c]) / std::sqrt(double(a.running_variance[c]) + a.epsilon);
        for_pixels(image, [&](auto n, auto h, auto w) {
            double y = (double(a.src[image.at(n, c, h, w)]) - double(a.running_mean[c])) * scale +
                       double(a.beta[c]);
            if (a.residual != nullptr) y += double(a.residual[a.residual_layout.at(n, c, h, w)]);
            a.dst[a.dst_layout.at(n, c, h, w)] = a.relu && y <= 0 ? T(0) : T(y);
        });
    }
}

DTNN_REFERENCE(fold_batch_norm, FoldBatchNormArguments) {
    for (std::int64_t c = 0; c < a.channels; ++c) {
        const double scale =
            double(a.gamma[c]) / std::sqrt(double(a.running_variance[c]) + a.epsilon);
        for (std::int64_t outer = 0; outer < a.outer; ++outer) {
            for (std::int64_t inner = 0; inner < a.inner; ++inner) {
                const std::int64_t at = (outer * a.channels + c) * a.inner + inner;
                a.dst_weights[at] = T(double(a.weights[at]) * scale);
            }
        }
        const double bias = a.bias != nullptr ? double(a.bias[c]) : 0.0;
        a.dst_bias[c] = T((bias - double(a.running_mean[c])) * scale + double(a.beta[c]));
    }
}

}  // namespace dtnn::kernels::reference
