#include <cmath>

#include "kernels/arguments/batch_norm_synchronised.hpp"
#include "kernels/cuda/batch_norm_terms.hpp"
#include "kernels/cuda/kernel.hpp"

namespace dtnn::kernels::cuda {
namespace {

/// The places that the sums of a rank go to; those of one without samples are zero, whatever it
/// holds.
template <class T>
struct SumsOfRank {
    const Wide<T>* batch_weight;
    double* sums;
    std::int64_t channels, pixels;

    DTNN_DEVICE void write(std::int64_t c, double first, double second) const {
        const bool idle = !(*batch_weight > 0);
        sums[c] = idle ? 0 : first;
        sums[channels + c] = idle ? 0 : second;
        if (c == 0) sums[2 * channels] = idle ? 0 : double(pixels);
    }
};

/// The same of its moments.
template <class T>
struct MomentsOfRank {
    const Wide<T>* batch_weight;
    double* moments;
    std::int64_t channels, pixels;

    DTNN_DEVICE void write(std::int64_t c, double origin, double sum, double squares) const {
        const bool idle = !(*batch_weight > 0);
        const RankMoments of_channel{moments + c, channels};
        if (idle)
            of_channel.clear();
        else
            of_channel.write(double(pixels), origin, sum, squares);
        if (c == 0) moments[RankMoments::elements(channels) - 1] = idle ? 0 : double(pixels);
    }
};

}  // namespace

DTNN_CUDA_KERNEL_OF_VALUES(batch_norm_sums_columns, BatchNormSumsArguments) {
    const std::int64_t channels = a.src_layout.channels, pixels = a.src_layout.pixels();
    const MomentsOfRank<T> result{a.batch_weight, a.moments, channels, pixels};
    const DenseChannels shape(a.src_layout);
    reduce_columns<2>(
        launch, 1, pixels, channels, reinterpret_cast<Sums<2>*>(a.workspace),
        [=] DTNN_DEVICE(std::int64_t, std::int64_t pixel, std::int64_t c) {
            const double distance =
                double(a.src[shape.place(pixel, c)]) - double(a.src[shape.place(0, c)]);
            return Sums<2>{{distance, distance * distance}};
        },
        [=] DTNN_DEVICE(std::int64_t, std::int64_t c, const Sums<2>& sums) {
            result.write(c, double(a.src[shape.place(0, c)]), sums.of[0], sums.of[1]);
        });
}

DTNN_CUDA_KERNEL_OF_VALUES(batch_norm_backward_sums_columns, BatchNormBackwardSumsArguments) {
    const SumsOfRank<T> result{a.batch_weight, a.sums, a.src_layout.channels,
                               a.src_layout.pixels()};
    sum_gradients<T>(launch, a, reinterpret_cast<Sums<2>*>(a.workspace),
                     [=] DTNN_DEVICE(std::int64_t, std::int64_t c, const Sums<2>& sums) {
                         a.diff_beta[c] = Wide<T>(sums.of[0]);
                         a.diff_gamma[c] = Wide<T>(sums.of[1]);
                         result.write(c, sums.of[0], sums.of[1]);
                     });
}

DTNN_CUDA_KERNEL_OF_VALUES(batch_norm_backward_apply_each, BatchNormBackwardApplyArguments) {
    using Channel = GradientChannel<Wide<T>>;
    const std::int64_t channels = a.src_layout.channels;
    const BatchNormGradient<T> terms = a;
    const Wide<T>* const batch_weight = a.batch_weight;
    const double* const sums = a.sums;
    auto* const of_channels = reinterpret_cast<Channel*>(a.workspace);
    launch.each(channels, [=] DTNN_DEVICE(std::int64_t c) {
        const bool idle = !(*batch_weight > 0);
        const double divisor = idle ? INFINITY : sums[2 * channels];
        of_channels[c] = Channel::of(terms, c, sums[c] / divisor, sums[channels + c] / divisor);
    });
    write_gradients<T>(launch, terms, of_channels, a.diff_src, a.diff_residual);
}

}  // namespace dtnn::kernels::cuda
