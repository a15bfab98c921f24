#include "kernels/arguments/batch_norm_synchronised.hpp"

#include "kernels/reference/batch_norm_gradient.hpp"
#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {

DTNN_REFERENCE(batch_norm_sums, BatchNormSumsArguments) {
    const ImageLayout& image = a.src_layout;
    for (std::int64_t c = 0; c < image.channels; ++c) {
        const RankMoments result = a.of_channel(c);
        if (a.idle()) {
            // The sums of such a rank do not count, be they no numbers at all.
            result.clear();
        } else if (a.statistics != nullptr) {
            result.write(a.count(), a.statistics[2 * image.channels + c], a.statistics[c],
                         a.statistics[image.channels + c]);
        } else {
            const auto origin = double(a.src[image.at(0, c, 0, 0)]);
            double sum = 0, squares = 0;
            for_pixels(image, [&](auto n, auto h, auto w) {
                const double distance = double(a.src[image.at(n, c, h, w)]) - origin;
                sum += distance;
                squares += distance * distance;
            });
            result.write(a.count(), origin, sum, squares);
        }
    }
    a.set_count(a.idle() ? 0 : a.count());
}

DTNN_REFERENCE(batch_norm_backward_sums, BatchNormBackwardSumsArguments) {
    const ImageLayout& image = a.src_layout;
    for (std::int64_t c = 0; c < image.channels; ++c) {
        double diff_beta = 0, diff_gamma = 0;
        add_gradients(a, c, diff_beta, diff_gamma);
        a.diff_beta[c] = T(diff_beta);
        a.diff_gamma[c] = T(diff_gamma);
        a.sums[c] = a.idle() ? 0 : diff_beta;
        a.sums[image.channels + c] = a.idle() ? 0 : diff_gamma;
    }
    a.sums[2 * image.channels] = a.idle() ? 0 : a.count();
}

DTNN_REFERENCE(batch_norm_backward_apply, BatchNormBackwardApplyArguments) {
    const ImageLayout& image = a.src_layout;
    for (std::int64_t c = 0; c < image.channels; ++c) {
        const double scale = double(a.gamma[c]) * double(a.inverse_deviation[c]);
        const double mean_diff = a.sums[c] / a.divisor();
        const double mean_product = a.sums[image.channels + c] / a.divisor();
        write_gradients(a, c, [&](double g, double xhat) {
            return scale * (g - mean_diff - xhat * mean_product);
        });
    }
}

}  // namespace dtnn::kernels::reference
