#include "runtime/data/transforms/mixing.hpp"

#include <cmath>
#include <numbers>

namespace dtnn::runtime {
namespace {

/// The logarithm of a number drawn from Gamma(alpha, 1): of small alpha the number itself may be
/// too small for a double.
double log_gamma_drawn(double alpha, Draws& draws) {
    // Gamma(alpha) is Gamma(alpha + 1) U^(1 / alpha).
    const double boost = alpha < 1 ? std::log1p(-draws.uniform()) / alpha : 0;
    const double d = (alpha < 1 ? alpha + 1 : alpha) - 1.0 / 3;
    const double c = 1 / std::sqrt(9 * d);
    // Accepts more than 95 in 100; the bound only keeps the loop from being endless on paper.
    for (int attempt = 0; attempt < 64; ++attempt) {
        // Box and Muller's normal number.
        const double radius = std::sqrt(-2 * std::log1p(-draws.uniform()));
        const double x = radius * std::cos(2 * std::numbers::pi * draws.uniform());
        const double u = 1 - draws.uniform();
        const double v = (1 + c * x) * (1 + c * x) * (1 + c * x);
        if (v <= 0) continue;
        if (std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v))
            return std::log(d) + std::log(v) + boost;
    }
    return std::log(d) + boost;
}

}  // namespace

double mixing_share(double alpha, Draws& draws) {
    const double first = log_gamma_drawn(alpha, draws);
    const double second = log_gamma_drawn(alpha, draws);
    return 1 / (1 + std::exp(second - first));
}

template <class Real>
void mix_pair(Real* first, Real* second, std::int64_t width, double share) {
    const Real mine = Real(share), other = Real(1 - share);
    for (std::int64_t k = 0; k < width; ++k) {
        const Real a = first[k], b = second[k];
        first[k] = mine * a + other * b;
        second[k] = mine * b + other * a;
    }
}

template <class Real>
void mix_row(Real* row, const Real* partner, std::int64_t width, double share) {
    const Real mine = Real(share), other = Real(1 - share);
    for (std::int64_t k = 0; k < width; ++k)
        row[k] = mine * row[k] + other * partner[k];
}

template void mix_pair(float*, float*, std::int64_t, double);
template void mix_pair(double*, double*, std::int64_t, double);
template void mix_row(float*, const float*, std::int64_t, double);
template void mix_row(double*, const double*, std::int64_t, double);

}  // namespace dtnn::runtime
