#include "kernels/arguments/gradient.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {

DTNN_REFERENCE(gradient_square_sum, GradientSquareSumArguments) {
    double sum = 0;
    for (std::int64_t i = 0; i < a.count; ++i)
        sum += double(a.diff[i]) * double(a.diff[i]);
    *a.dst = sum;
}

DTNN_REFERENCE(gradient_scale, GradientScaleArguments) {
    const double shares = a.shares == nullptr ? 1 : double(*a.shares);
    if (shares == 0) {
        *a.dst = T(0);
        return;
    }
    const double divisor = shares * (a.loss_scale == nullptr ? 1 : double(*a.loss_scale));
    double sum = 0;
    for (const double* part : a.square_sums)
        sum += *part;
    if (a.loss_scale != nullptr && !std::isfinite(sum)) {
        *a.dst = std::numeric_limits<T>::quiet_NaN();
        return;
    }
    const double scale = a.clip_norm > 0 ? a.clip_norm / (std::sqrt(sum) / divisor + 1e-6) : 1;
    *a.dst = T((scale > 1 ? 1 : scale) / divisor);
}

DTNN_REFERENCE(adapt_loss_scale, AdaptLossScaleArguments) {
    const T scale = *a.scale, updates = *a.updates + 1;
    const bool grows = updates >= T(a.growth_interval);
    if (std::isnan(*a.factor)) {
        *a.new_scale = std::max(scale / 2, T(kLeastLossScale));
        *a.new_updates = 0;
    } else {
        *a.new_scale = grows ? std::min(scale * 2, T(kMostLossScale)) : scale;
        *a.new_updates = grows ? 0 : updates;
    }
}

DTNN_REFERENCE(accumulate_gradient, GradientSumArguments) {
    for (std::int64_t i = 0; i < a.count; ++i)
        a.new_sum[i] = T(double(a.sum[i]) + double(a.diff[i]));
}

DTNN_REFERENCE(take_gradient_sum, GradientSumArguments) {
    for (std::int64_t i = 0; i < a.count; ++i) {
        a.total[i] = T(double(a.sum[i]) + double(a.diff[i]));
        a.new_sum[i] = T(0);
    }
}

DTNN_REFERENCE(weigh_gradient, WeighGradientArguments) {
    for (std::int64_t i = 0; i < a.count; ++i)
        a.dst[i] = T(double(*a.batch_weight) * double(a.diff[i]));
}

DTNN_REFERENCE(moving_average, MovingAverageArguments) {
    for (std::int64_t i = 0; i < a.count; ++i)
        a.new_average[i] = T(a.decay * double(a.average[i]) + (1 - a.decay) * double(a.weights[i]));
}

}  // namespace dtnn::kernels::reference
