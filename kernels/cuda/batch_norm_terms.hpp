#pragma once
/// The terms of batch norm, of one rank and of all. They are worked out in the type that values
/// widen to.

#include "kernels/arguments/batch_norm.hpp"
#include "kernels/cuda/packs.hpp"

namespace dtnn::kernels::cuda {

/// Means are double, and distances are from what a mean is as a Number: what that loses is made
/// good by a channel's constants, which are worked out in double.
template <class Number>
DTNN_DEVICE double lost_of(double mean) {
    return mean - double(Number(mean));
}

/// What belongs to a channel where its gradient is written:
///     diff_src = scale * g - of_distance * distance - constant
/// and, where relu's sign is worked out again, y = scale * distance + shift.
template <class Number>
struct GradientChannel {
    Number mean, scale, shift, of_distance, constant, unused;

    /// Of the means of g and of g * xhat.
    template <class T>
    static DTNN_DEVICE GradientChannel of(const BatchNormGradient<T>& a, std::int64_t c,
                                          double mean_g, double mean_g_xhat) {
        const double lost = lost_of<Number>(a.mean[c]), inverse = double(a.inverse_deviation[c]);
        const double scale = double(a.gamma[c]) * inverse;
        const double beta = a.beta != nullptr ? double(a.beta[c]) : 0.0;
        const double of_distance = scale * inverse * mean_g_xhat;
        return {Number(a.mean[c]),
                Number(scale),
                Number(beta - lost * scale),
                Number(of_distance),
                Number(scale * mean_g - of_distance * lost),
                Number(0)};
    }
};

/// W elements of each of the tensors that a gradient is made of; bit w of the mask is that of the
/// element w.
template <class T, int W>
struct GradientTerms {
    Pack<T, W> src, diff_dst;
    std::uint8_t mask;
};

/// The gradient g that passes relu, of packs (packs.hpp). kAgain: relu's sign is worked out again,
/// because there is no mask.
template <class T, int W, bool kAgain>
struct PassedGradient {
    using Number = Wide<T>;
    const T *src, *diff_dst;
    const double* mean;
    const Number *inverse_deviation, *gamma, *beta;
    const std::uint8_t* mask;

    explicit PassedGradient(const BatchNormGradient<T>& a)
        : src(a.src),
          diff_dst(a.diff_dst),
          mean(a.mean),
          inverse_deviation(a.inverse_deviation),
          gamma(a.gamma),
          beta(a.beta),
          mask(a.mask) {}

    struct Channels {
        Number mean[W];
        static constexpr int kSigns = 1 + int(kAgain) * (W - 1);  // an array has at least one
        Number scale[kSigns], shift[kSigns];

        DTNN_DEVICE Number distance(const GradientTerms<T, W>& terms, int w) const {
            return Number(terms.src.of[w]) - mean[w];
        }
        DTNN_DEVICE Number passed(const GradientTerms<T, W>& terms, int w, Number distance) const {
            bool passes = true;
            if constexpr (kAgain) {
                passes = distance * scale[w] + shift[w] > 0;
            } else {
                passes = (terms.mask >> w & 1) != 0;
            }
            return passes ? Number(terms.diff_dst.of[w]) : Number(0);
        }
    };

    DTNN_DEVICE Channels constants(std::int64_t c) const {
        Channels channels;
        for (int w = 0; w < W; ++w) {
            channels.mean[w] = Number(mean[c + w]);
            if constexpr (kAgain) {
                channels.scale[w] = gamma[c + w] * inverse_deviation[c + w];
                channels.shift[w] =
                    beta[c + w] - Number(lost_of<Number>(mean[c + w])) * channels.scale[w];
            }
        }
        return channels;
    }
    DTNN_DEVICE GradientTerms<T, W> load(std::int64_t place) const {
        return {pack_at<T, W>(src + place), pack_at<T, W>(diff_dst + place), bits(place)};
    }
    /// The sums of g and of g times the source's distance from the mean.
    DTNN_DEVICE void add(const Channels& channels, const GradientTerms<T, W>& terms,
                         Number (&sums)[2][W]) const {
        for (int w = 0; w < W; ++w) {
            const Number distance = channels.distance(terms, w);
            const Number g = channels.passed(terms, w, distance);
            sums[0][w] += g;
            sums[1][w] += g * distance;
        }
    }

  private:
    DTNN_DEVICE std::uint8_t bits(std::int64_t place) const {
        if (kAgain || mask == nullptr) return 0xFF;
        return W == 8 ? mask[place / 8] : std::uint8_t(mask[place / 8] >> (place % 8));
    }
};

/// f(width, again), which are types' values as in with_pack_width.
template <class T, class F>
void with_gradient_form(const BatchNormGradient<T>& a, const F& f) {
    with_pack_width(DenseChannels(a.src_layout), [&](auto width) {
        if (a.relu && a.mask == nullptr) {
            f(width, std::true_type{});
        } else {
            f(width, std::false_type{});
        }
    });
}

/// finish(0, channel, {sum of g, sum of g * xhat}).
template <int W, bool kAgain, class T, class Finish>
static void sum_packs_of_gradient(const Launch& launch, const BatchNormGradient<T>& a,
                                  Sums<2>* of_chunks, const Finish& finish) {
    const PassedGradient<T, W, kAgain> gradient(a);
    reduce_packs<2, W, Wide<T>>(
        launch, a.src_layout.pixels(), DenseChannels(a.src_layout), of_chunks, gradient,
        [=] DTNN_DEVICE(std::int64_t set, std::int64_t c, const Sums<2>& sums) {
            const double of_distance = sums.of[1] - lost_of<Wide<T>>(gradient.mean[c]) * sums.of[0];
            finish(set, c,
                   Sums<2>{{sums.of[0], of_distance * double(gradient.inverse_deviation[c])}});
        });
}
template <class T, class Finish>
void sum_gradients(const Launch& launch, const BatchNormGradient<T>& a, Sums<2>* of_chunks,
                   const Finish& finish) {
    with_gradient_form(a, [&](auto width, auto again) {
        sum_packs_of_gradient<decltype(width)::value, decltype(again)::value>(launch, a, of_chunks,
                                                                              finish);
    });
}

/// diff_src, and diff_residual where it is wanted, of packs.
template <class T, int W, bool kAgain>
struct WrittenGradient {
    using Number = Wide<T>;
    using Gradient = PassedGradient<T, W, kAgain>;
    Gradient gradient;
    const GradientChannel<Number>* channels;
    T *diff_src, *diff_residual;

    struct Channels {
        typename Gradient::Channels gradient;
        Number scale[W], of_distance[W], constant[W];
    };

    DTNN_DEVICE Channels constants(std::int64_t c) const {
        Channels of;
        for (int w = 0; w < W; ++w) {
            const GradientChannel<Number> channel = channels[c + w];
            of.gradient.mean[w] = channel.mean;
            if constexpr (kAgain) {
                of.gradient.scale[w] = channel.scale;
                of.gradient.shift[w] = channel.shift;
            }
            of.scale[w] = channel.scale;
            of.of_distance[w] = channel.of_distance;
            of.constant[w] = channel.constant;
        }
        return of;
    }
    DTNN_DEVICE GradientTerms<T, W> load(std::int64_t place) const { return gradient.load(place); }
    DTNN_DEVICE void work(const Channels& of, std::int64_t place,
                          const GradientTerms<T, W>& terms) const {
        Pack<T, W> of_src, of_residual;
        for (int w = 0; w < W; ++w) {
            const Number distance = of.gradient.distance(terms, w);
            const Number g = of.gradient.passed(terms, w, distance);
            of_residual.of[w] = T(g);
            of_src.of[w] = T(of.scale[w] * g - of.of_distance[w] * distance - of.constant[w]);
        }
        if (diff_residual != nullptr) store(of_residual, diff_residual + place);
        store(of_src, diff_src + place);
    }
};

template <class T>
void write_gradients(const Launch& launch, const BatchNormGradient<T>& a,
                     const GradientChannel<Wide<T>>* channels, T* diff_src, T* diff_residual) {
    with_gradient_form(a, [&](auto width, auto again) {
        constexpr int W = decltype(width)::value;
        using Written = WrittenGradient<T, W, decltype(again)::value>;
        each_pack<W>(launch, a.src_layout.pixels(), DenseChannels(a.src_layout),
                     Written{typename Written::Gradient(a), channels, diff_src, diff_residual});
    });
}

}  // namespace dtnn::kernels::cuda
