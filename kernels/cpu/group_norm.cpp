/// group_norm on images stored channels last, a sample at a time: sums per channel on the way
/// through it (flat_image.hpp), groups from their channels.

#include <cmath>

#include "kernels/arguments/norm.hpp"
#include "kernels/cpu/flat_image.hpp"
#include "kernels/thread_team.hpp"
#include "kernels/workspace/norm.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// One thread's part of the workspace: two sums per position, and constants per position.
template <class T>
struct GroupScratch {
    double* sums;
    T* constants;
    std::int64_t channels, period;

    GroupScratch(std::byte* workspace, const Flat& flat, std::int64_t member)
        : channels(flat.channels), period(flat.period) {
        std::byte* const own = workspace + member * group_norm_bytes_of_thread(channels, sizeof(T));
        sums = reinterpret_cast<double*>(own);
        constants = reinterpret_cast<T*>(sums + 2 * period);
    }
    double* first_sums() const { return sums; }
    double* second_sums() const { return sums + period; }
    T* constant(int which) const { return constants + which * period; }

    void clear_sums() const {
        for (std::int64_t i = 0; i < 2 * period; ++i)
            sums[i] = 0;
    }
    /// The sum of a channel: of all positions that hold it.
    double of_channel(const double* all, std::int64_t c) const {
        double sum = 0;
        for (std::int64_t p = c; p < period; p += channels)
            sum += all[p];
        return sum;
    }
    double of_channels(const double* all, std::int64_t begin, std::int64_t end) const {
        double sum = 0;
        for (std::int64_t c = begin; c < end; ++c)
            sum += of_channel(all, c);
        return sum;
    }
    void spread(int which, std::int64_t c, double value) const {
        for (std::int64_t p = c; p < period; p += channels)
            constant(which)[p] = T(value);
    }
};

/// A group: its channels, and how many numbers are in it.
struct ChannelGroups {
    std::int64_t groups, channels;
    double count;

    ChannelGroups(const Flat& sample, std::int64_t number)
        : groups(number),
          channels(sample.channels / groups),
          count(double(channels * sample.rows)) {}
};

template <class T>
void forward_sample(const GroupNormArguments<T>& a, const Flat& flat,
                    const GroupScratch<T>& scratch, std::int64_t n) {
    const ChannelGroups groups(flat, a.groups);
    const T* const x = a.src + n * flat.total;
    T* const y = a.dst + n * flat.total;
    const T* const mean = scratch.constant(0);
    const T* const scale = scratch.constant(1);
    const T* const shift = scratch.constant(2);

    scratch.clear_sums();
    add_terms<T>(flat, 0, flat.groups, scratch.first_sums(), scratch.second_sums(),
                 [&](auto lanes, std::int64_t i, std::int64_t, auto& sum, auto&) {
                     using V = decltype(lanes);
                     sum += V::to_double(V::load(x + i));
                 });
    for (std::int64_t g = 0; g < groups.groups; ++g) {
        const std::int64_t begin = g * groups.channels, end = begin + groups.channels;
        const double middle = scratch.of_channels(scratch.first_sums(), begin, end) / groups.count;
        for (std::int64_t c = begin; c < end; ++c)
            scratch.spread(0, c, middle);
    }

    // Distances from the rounded mean: what it is off, their sum tells.
    scratch.clear_sums();
    add_terms<T>(flat, 0, flat.groups, scratch.first_sums(), scratch.second_sums(),
                 [&](auto lanes, std::int64_t i, std::int64_t p, auto& sum, auto& squares) {
                     using V = decltype(lanes);
                     const auto distance = V::to_double(V::load(x + i) - V::load(mean + p));
                     sum += distance;
                     squares += distance * distance;
                 });
    for (std::int64_t g = 0; g < groups.groups; ++g) {
        const std::int64_t begin = g * groups.channels, end = begin + groups.channels;
        const double off = scratch.of_channels(scratch.first_sums(), begin, end) / groups.count;
        const double spread =
            scratch.of_channels(scratch.second_sums(), begin, end) / groups.count - off * off;
        const double inverse = 1 / std::sqrt((spread > 0 ? spread : 0) + a.epsilon);
        if (a.mean != nullptr) {
            a.mean[n * groups.groups + g] = T(double(mean[begin]) + off);
            a.inverse_deviation[n * groups.groups + g] = T(inverse);
        }
        for (std::int64_t c = begin; c < end; ++c) {
            const double factor = a.gamma != nullptr ? double(a.gamma[c]) * inverse : inverse;
            const double beta = a.beta != nullptr ? double(a.beta[c]) : 0.0;
            scratch.spread(1, c, factor);
            scratch.spread(2, c, beta - off * factor);
        }
    }
    for_elements<T>(flat, 0, flat.groups, [&](auto lanes, std::int64_t i, std::int64_t p) {
        using V = decltype(lanes);
        V::store(y + i,
                 (V::load(x + i) - V::load(mean + p)) * V::load(scale + p) + V::load(shift + p));
    });
}

/// diff_src of a sample; its part of diff_gamma and diff_beta, per channel, goes to `gammas` and
/// `betas`.
template <class T>
void backward_sample(const GroupNormBackwardArguments<T>& a, const Flat& flat,
                     const GroupScratch<T>& scratch, std::int64_t n, double* gammas,
                     double* betas) {
    const ChannelGroups groups(flat, a.groups);
    const T* const x = a.src + n * flat.total;
    const T* const diff = a.diff_dst + n * flat.total;
    T* const result = a.diff_src + n * flat.total;
    const T* const mean = scratch.constant(0);
    const T* const of_diff = scratch.constant(1);
    const T* const of_distance = scratch.constant(2);
    const T* const constant = scratch.constant(3);
    for (std::int64_t c = 0; c < flat.channels; ++c) {
        scratch.spread(0, c, double(a.mean[n * groups.groups + c / groups.channels]));
    }
    scratch.clear_sums();
    add_terms<T>(flat, 0, flat.groups, scratch.first_sums(), scratch.second_sums(),
                 [&](auto lanes, std::int64_t i, std::int64_t p, auto& sum, auto& products) {
                     using V = decltype(lanes);
                     const auto d = V::to_double(V::load(diff + i));
                     sum += d;
                     products += d * V::to_double(V::load(x + i) - V::load(mean + p));
                 });
    for (std::int64_t g = 0; g < groups.groups; ++g) {
        const std::int64_t begin = g * groups.channels, end = begin + groups.channels;
        const auto inverse = double(a.inverse_deviation[n * groups.groups + g]);
        double sum = 0, products = 0;
        for (std::int64_t c = begin; c < end; ++c) {
            const double gamma = a.gamma != nullptr ? double(a.gamma[c]) : 1.0;
            betas[c] = scratch.of_channel(scratch.first_sums(), c);
            gammas[c] = scratch.of_channel(scratch.second_sums(), c) * inverse;
            sum += gamma * betas[c];
            products += gamma * gammas[c];
        }
        for (std::int64_t c = begin; c < end; ++c) {
            const double gamma = a.gamma != nullptr ? double(a.gamma[c]) : 1.0;
            scratch.spread(1, c, gamma * inverse);
            scratch.spread(2, c, -inverse * inverse * products / groups.count);
            scratch.spread(3, c, -inverse * sum / groups.count);
        }
    }
    for_elements<T>(flat, 0, flat.groups, [&](auto lanes, std::int64_t i, std::int64_t p) {
        using V = decltype(lanes);
        const auto distance = V::load(x + i) - V::load(mean + p);
        V::store(result + i, V::load(diff + i) * V::load(of_diff + p) +
                                 (distance * V::load(of_distance + p) + V::load(constant + p)));
    });
}

}  // namespace

DTNN_KERNEL(group_norm_samples, GroupNormArguments) {
    const ImageLayout& image = a.src_layout;
    const Flat flat(image.channels, image.height * image.width);
    team.for_pieces(image.batch, 1, [&](auto begin, auto end, int member) {
        const GroupScratch<T> scratch(a.workspace, flat, member);
        for (std::int64_t n = begin; n < end; ++n)
            forward_sample(a, flat, scratch, n);
    });
}

DTNN_KERNEL(group_norm_backward_samples, GroupNormBackwardArguments) {
    const ImageLayout& image = a.src_layout;
    const Flat flat(image.channels, image.height * image.width);
    const std::int64_t channels = image.channels;
    // Every sample has a place of its own, and places are added in order: the result does not
    // depend on the number of threads.
    double* const gammas = reinterpret_cast<double*>(
        a.workspace + team.size() * group_norm_bytes_of_thread(channels, sizeof(T)));
    double* const betas = gammas + image.batch * channels;
    team.for_pieces(image.batch, 1, [&](auto begin, auto end, int member) {
        const GroupScratch<T> scratch(a.workspace, flat, member);
        for (std::int64_t n = begin; n < end; ++n)
            backward_sample(a, flat, scratch, n, gammas + n * channels, betas + n * channels);
    });
    if (a.gamma == nullptr) return;
    for (std::int64_t c = 0; c < channels; ++c) {
        double diff_gamma = 0, diff_beta = 0;
        for (std::int64_t n = 0; n < image.batch; ++n) {
            diff_gamma += gammas[n * channels + c];
            diff_beta += betas[n * channels + c];
        }
        a.diff_gamma[c] = T(diff_gamma);
        a.diff_beta[c] = T(diff_beta);
    }
}

}  // namespace dtnn::kernels::DTNN_ISA
