#include <cmath>

#include "kernels/arguments/norm.hpp"
#include "kernels/cuda/kernel.hpp"
#include "kernels/cuda/rows.hpp"

namespace dtnn::kernels::cuda {
namespace {

/// Numbers that are normalised together by one group of threads; more are summed by channel first.
constexpr std::int64_t kLongestNormRow = 8192;

/// A batch, channels last, whose samples have `groups` of channels. Gamma and beta are one number
/// for each channel, or one for each number of a sample.
struct GroupedSamples {
    std::int64_t samples, pixels, channels, groups;
    bool gamma_of_sample;

    std::int64_t elements() const { return samples * pixels * channels; }
    std::int64_t together() const { return pixels * channels / groups; }
    DTNN_DEVICE std::int64_t group_of(std::int64_t n, std::int64_t c) const {
        return n * groups + c / (channels / groups);
    }
    DTNN_DEVICE std::int64_t place(std::int64_t n, std::int64_t pixel, std::int64_t c) const {
        return (n * pixels + pixel) * channels + c;
    }
    /// The place of the gamma of an element.
    DTNN_DEVICE std::int64_t gamma_place(std::int64_t i) const {
        return i % (gamma_of_sample ? pixels * channels : channels);
    }
};

GroupedSamples grouped_samples(const ImageLayout& image, std::int64_t groups) {
    return {image.batch, image.height * image.width, image.channels, groups, false};
}

/// Lines too long for a group of threads, as samples of one group.
bool too_long(const AxisView& lines) {
    return lines.inner == 1 && lines.extent > kLongestNormRow;
}
template <class Arguments>
GroupedSamples long_lines(const Arguments& a) {
    return {a.src_layout.outer, a.src_layout.extent / a.channels, a.channels, 1, true};
}

/// Mean and inverse deviation of sums of distances from an origin and of their squares. An origin
/// among the numbers is at most sqrt(count) deviations away from their mean, so that double loses
/// little where squares cancel. Where they are not centred the origin is 0, and so is the mean.
template <class T>
DTNN_DEVICE Sums<2> normal_of(const NormArguments<T>& a, const Sums<2>& sums, double origin,
                              double count) {
    const double offset = a.centred ? sums.of[0] / count : 0;
    const double variance = sums.of[1] / count - offset * offset;
    return {{origin + offset, 1 / std::sqrt((variance < 0 ? 0 : variance) + a.epsilon)}};
}

/// `normal`: mean and inverse deviation.
template <class T>
DTNN_DEVICE void write(const NormArguments<T>& a, std::int64_t i, std::int64_t place,
                       const Sums<2>& normal) {
    const double scale = a.gamma != nullptr ? double(a.gamma[place]) : 1.0;
    const double shift = a.beta != nullptr ? double(a.beta[place]) : 0.0;
    a.dst[i] = T((double(a.src[i]) - normal.of[0]) * normal.of[1] * scale + shift);
}
template <class T>
DTNN_DEVICE void keep(const NormArguments<T>& a, std::int64_t set, const Sums<2>& normal) {
    if (a.mean == nullptr) return;
    a.mean[set] = T(normal.of[0]);
    a.inverse_deviation[set] = T(normal.of[1]);
}

template <class T>
void normalise_lines(const Launch& launch, const NormArguments<T>& of, const AxisView& lines) {
    sum_rows<2>(
        launch, lines.lines(), lines.extent,
        [=] DTNN_DEVICE(std::int64_t row, std::int64_t k) {
            const std::int64_t first = lines.begin_of(row);
            const double origin = of.centred ? double(of.src[first]) : 0;
            const double distance = double(of.src[first + k * lines.stride]) - origin;
            return Sums<2>{{distance, distance * distance}};
        },
        [=] DTNN_DEVICE(std::int64_t row, Sums<2> & sums) {
            const double origin = of.centred ? double(of.src[lines.begin_of(row)]) : 0;
            sums = normal_of(of, sums, origin, double(lines.extent));
            keep(of, row, sums);
        },
        [=] DTNN_DEVICE(std::int64_t row, std::int64_t k, const Sums<2>& normal) {
            write(of, lines.begin_of(row) + k * lines.stride, k, normal);
        });
}

template <class T>
void normalise_groups(const Launch& launch, const NormArguments<T>& of, const GroupedSamples& shape,
                      std::byte* workspace) {
    auto* const of_channel = reinterpret_cast<Sums<2>*>(workspace);
    Sums<2>* const of_group = of_channel + shape.samples * shape.channels;
    const std::int64_t groups = shape.groups, each = shape.channels / groups;
    const auto together = double(shape.together());
    reduce_columns<2>(
        launch, shape.samples, shape.pixels, shape.channels, of_group + shape.samples * groups,
        [=] DTNN_DEVICE(std::int64_t n, std::int64_t pixel, std::int64_t c) {
            const double origin =
                of.centred ? double(of.src[shape.place(n, 0, c / each * each)]) : 0;
            const double distance = double(of.src[shape.place(n, pixel, c)]) - origin;
            return Sums<2>{{distance, distance * distance}};
        },
        [=] DTNN_DEVICE(std::int64_t n, std::int64_t c, const Sums<2>& sums) {
            of_channel[n * shape.channels + c] = sums;
        });
    sum_rows<2>(
        launch, shape.samples * groups, each,
        [=] DTNN_DEVICE(std::int64_t group, std::int64_t k) {
            return of_channel[group * each + k];
        },
        [=] DTNN_DEVICE(std::int64_t group, Sums<2> & sums) {
            const std::int64_t n = group / groups, c = group % groups * each;
            const double origin = of.centred ? double(of.src[shape.place(n, 0, c)]) : 0;
            of_group[group] = normal_of(of, sums, origin, together);
            keep(of, group, of_group[group]);
        },
        [=] DTNN_DEVICE(std::int64_t, std::int64_t, const Sums<2>&) {});
    launch.each(shape.elements(), [=] DTNN_DEVICE(std::int64_t i) {
        const std::int64_t n = i / (shape.pixels * shape.channels), c = i % shape.channels;
        write(of, i, shape.gamma_place(i), of_group[shape.group_of(n, c)]);
    });
}

template <class T>
DTNN_DEVICE double normalised(const NormBackwardArguments<T>& a, std::int64_t i, std::int64_t set) {
    return (double(a.src[i]) - double(a.mean[set])) * double(a.inverse_deviation[set]);
}
template <class T>
DTNN_DEVICE double norm_gradient(const NormBackwardArguments<T>& a, std::int64_t i,
                                 std::int64_t place) {
    return (a.gamma != nullptr ? double(a.gamma[place]) : 1.0) * double(a.diff_dst[i]);
}
/// diff_dst and its product with xhat: the terms of gamma's and beta's gradients.
template <class T>
DTNN_DEVICE Sums<2> own_terms(const NormBackwardArguments<T>& a, std::int64_t i, std::int64_t set) {
    return {{double(a.diff_dst[i]), double(a.diff_dst[i]) * normalised(a, i, set)}};
}
template <class T>
DTNN_DEVICE Sums<2> terms(const NormBackwardArguments<T>& a, std::int64_t i, std::int64_t place,
                          std::int64_t set) {
    const double g = norm_gradient(a, i, place);
    return {{g, g * normalised(a, i, set)}};
}
template <class T>
DTNN_DEVICE void keep(const NormBackwardArguments<T>& a, std::int64_t place, const Sums<2>& sums) {
    if (a.diff_beta != nullptr) a.diff_beta[place] = T(sums.of[0]);
    a.diff_gamma[place] = T(sums.of[1]);
}
/// `means`: of the terms over the set.
template <class T>
DTNN_DEVICE void write(const NormBackwardArguments<T>& a, std::int64_t i, std::int64_t place,
                       std::int64_t set, const Sums<2>& means) {
    const double mean = a.centred ? means.of[0] : 0;
    const double value = norm_gradient(a, i, place) - mean - normalised(a, i, set) * means.of[1];
    a.diff_src[i] = T(double(a.inverse_deviation[set]) * value);
}

/// The gradients of the gammas and betas that the lines share, each its own.
template <class T>
void gamma_gradients_of_lines(const Launch& launch, const NormBackwardArguments<T>& of,
                              const AxisView& lines, Sums<2>* of_chunks) {
    reduce_columns<2>(
        launch, 1, lines.lines(), lines.extent, of_chunks,
        [=] DTNN_DEVICE(std::int64_t, std::int64_t row, std::int64_t k) {
            return own_terms(of, lines.begin_of(row) + k * lines.stride, row);
        },
        [=] DTNN_DEVICE(std::int64_t, std::int64_t k, const Sums<2>& sums) { keep(of, k, sums); });
}

template <class T>
void source_gradients_of_lines(const Launch& launch, const NormBackwardArguments<T>& of,
                               const AxisView& lines) {
    sum_rows<2>(
        launch, lines.lines(), lines.extent,
        [=] DTNN_DEVICE(std::int64_t row, std::int64_t k) {
            return terms(of, lines.begin_of(row) + k * lines.stride, k, row);
        },
        [=] DTNN_DEVICE(std::int64_t, Sums<2> & sums) {
            const auto count = double(lines.extent);
            sums = Sums<2>{{sums.of[0] / count, sums.of[1] / count}};
        },
        [=] DTNN_DEVICE(std::int64_t row, std::int64_t k, const Sums<2>& means) {
            write(of, lines.begin_of(row) + k * lines.stride, k, row, means);
        });
}

/// diff_src; and the gradients of gammas and betas that are one number for each channel.
template <class T>
void gradients_of_groups(const Launch& launch, const NormBackwardArguments<T>& of,
                         const GroupedSamples& shape, std::byte* workspace) {
    auto* const of_channel = reinterpret_cast<Sums<2>*>(workspace);
    Sums<2>* const of_group = of_channel + shape.samples * shape.channels;
    const std::int64_t channels = shape.channels, each = channels / shape.groups;
    Sums<2>* const of_chunks = of_group + shape.samples * shape.groups;
    const bool by_channel = of.gamma != nullptr && !shape.gamma_of_sample;
    const auto together = double(shape.together());
    reduce_columns<2>(
        launch, shape.samples, shape.pixels, channels, of_chunks,
        [=] DTNN_DEVICE(std::int64_t n, std::int64_t pixel, std::int64_t c) {
            const std::int64_t i = shape.place(n, pixel, c), group = shape.group_of(n, c);
            return by_channel ? own_terms(of, i, group) : terms(of, i, shape.gamma_place(i), group);
        },
        [=] DTNN_DEVICE(std::int64_t n, std::int64_t c, const Sums<2>& sums) {
            of_channel[n * channels + c] = sums;
        });
    if (by_channel) {
        reduce_columns<2>(
            launch, 1, shape.samples, channels, of_chunks,
            [=] DTNN_DEVICE(std::int64_t, std::int64_t n, std::int64_t c) {
                return of_channel[n * channels + c];
            },
            [=] DTNN_DEVICE(std::int64_t, std::int64_t c, const Sums<2>& sums) {
                keep(of, c, sums);
            });
    }
    sum_rows<2>(
        launch, shape.samples * shape.groups, each,
        [=] DTNN_DEVICE(std::int64_t group, std::int64_t k) {
            const Sums<2> sums = of_channel[group * each + k];
            const double gamma = by_channel ? double(of.gamma[(group * each + k) % channels]) : 1.0;
            return Sums<2>{{gamma * sums.of[0], gamma * sums.of[1]}};
        },
        [=] DTNN_DEVICE(std::int64_t group, Sums<2> & sums) {
            of_group[group] = Sums<2>{{sums.of[0] / together, sums.of[1] / together}};
        },
        [=] DTNN_DEVICE(std::int64_t, std::int64_t, const Sums<2>&) {});
    launch.each(shape.elements(), [=] DTNN_DEVICE(std::int64_t i) {
        const std::int64_t n = i / (shape.pixels * channels), c = i % channels;
        const std::int64_t group = shape.group_of(n, c);
        write(of, i, shape.gamma_place(i), group, of_group[group]);
    });
}

}  // namespace

DTNN_CUDA_KERNEL(layer_norm_rows, LayerNormArguments) {
    if (too_long(a.src_layout)) {
        normalise_groups(launch, a, long_lines(a), a.workspace);
    } else {
        normalise_lines(launch, a, a.src_layout);
    }
}

// gamma's gradient reads all of diff_dst before diff_src is written, which may lie on it.
DTNN_CUDA_KERNEL(layer_norm_backward_rows, LayerNormBackwardArguments) {
    if (a.gamma != nullptr)
        gamma_gradients_of_lines(launch, a, a.src_layout, reinterpret_cast<Sums<2>*>(a.workspace));
    if (too_long(a.src_layout)) {
        gradients_of_groups(launch, a, long_lines(a), a.workspace);
    } else {
        source_gradients_of_lines(launch, a, a.src_layout);
    }
}

DTNN_CUDA_KERNEL(group_norm_columns, GroupNormArguments) {
    normalise_groups(launch, a, grouped_samples(a.src_layout, a.groups), a.workspace);
}

DTNN_CUDA_KERNEL(group_norm_backward_columns, GroupNormBackwardArguments) {
    gradients_of_groups(launch, a, grouped_samples(a.src_layout, a.groups), a.workspace);
}

}  // namespace dtnn::kernels::cuda
