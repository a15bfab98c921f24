#pragma once
/// Normalisation within a sample: layer_norm (Ba, Kiros and Hinton, "Layer normalization", 2016)
/// and group_norm (Wu and He, "Group normalization", ECCV 2018). Over each set of L numbers that
/// are normalised together:
///
///     xhat = (x - mean) * inverse_deviation      inverse_deviation = 1 / sqrt(variance + epsilon),
///                                                biased variance
///     y    = gamma * xhat + beta
///
/// backward, with g = gamma * diff_dst:
///
///     diff_src   = inverse_deviation * (g - sum(g) / L - xhat * sum(g * xhat) / L)
///     diff_gamma = sum(diff_dst * xhat), diff_beta = sum(diff_dst) over all that share a gamma
///
/// layer_norm: the lines along some axes (normalised_axes), with gamma and beta for each place of a
/// line, in the order in which it is stored; mean and inverse deviation are those of the lines, in
/// the order of AxisView. group_norm: the C/groups channels of a group and all pixels of a sample,
/// with [C]; mean and inverse deviation are [N,groups]. dst may be src, diff_src may be diff_dst.

#include "kernels/arguments/arguments.hpp"
#include "kernels/layout.hpp"

namespace dtnn::kernels {

template <class T>
struct LayerNormArguments {
    AxisView src_layout, dst_layout;
    std::int64_t channels = 1;  ///< divides the extent of a line: how long ones are cut
    double epsilon = 0;
    const T* src = nullptr;
    const T *gamma = nullptr, *beta = nullptr;  ///< null: 1 and 0
    T* dst = nullptr;
    T *mean = nullptr, *inverse_deviation = nullptr;  ///< null: not wanted
    std::byte* workspace = nullptr;

    static LayerNormArguments bind(const Problem&, Sources, Destinations, Workspace);
};

template <class T>
struct LayerNormBackwardArguments {
    AxisView src_layout, diff_dst_layout, diff_src_layout;
    std::int64_t channels = 1;
    const T *src = nullptr, *diff_dst = nullptr, *mean = nullptr, *inverse_deviation = nullptr;
    const T* gamma = nullptr;  ///< null: 1, and no diff_gamma and diff_beta
    T *diff_src = nullptr, *diff_gamma = nullptr, *diff_beta = nullptr;
    std::byte* workspace = nullptr;

    static LayerNormBackwardArguments bind(const Problem&, Sources, Destinations, Workspace);
};

template <class T>
struct GroupNormArguments {
    ImageLayout src_layout, dst_layout;
    std::int64_t groups = 1;
    double epsilon = 0;
    const T* src = nullptr;
    const T *gamma = nullptr, *beta = nullptr;  ///< null: 1 and 0
    T* dst = nullptr;
    T *mean = nullptr, *inverse_deviation = nullptr;  ///< null: not wanted
    std::byte* workspace = nullptr;

    static GroupNormArguments bind(const Problem&, Sources, Destinations, Workspace);
};

template <class T>
struct GroupNormBackwardArguments {
    ImageLayout src_layout, diff_dst_layout, diff_src_layout;
    std::int64_t groups = 1;
    const T *src = nullptr, *diff_dst = nullptr, *mean = nullptr, *inverse_deviation = nullptr;
    const T* gamma = nullptr;  ///< null: 1, and no diff_gamma and diff_beta
    T *diff_src = nullptr, *diff_gamma = nullptr, *diff_beta = nullptr;
    std::byte* workspace = nullptr;

    static GroupNormBackwardArguments bind(const Problem&, Sources, Destinations, Workspace);
};

}  // namespace dtnn::kernels
