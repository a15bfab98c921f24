#pragma once
/// Mixup (H. Zhang, M. Cisse, Y. Dauphin, D. Lopez-Paz, "mixup: Beyond Empirical Risk
/// Minimization", ICLR 2018): sample i becomes share x_i + (1 - share) x_j, and its targets
/// likewise. Partners are the samples at places 2k and 2k + 1 of the epoch's order, which share one
/// share; the last of an odd number stays as it is. The order is shuffled, so any partner is a
/// random one, and how the order is cut into batches of ranks changes nothing.

#include <cstdint>

#include "runtime/data/transforms/draws.hpp"

namespace dtnn::runtime {

/// Drawn from Beta(alpha, alpha), alpha > 0: G1 / (G1 + G2) of two Gamma(alpha) numbers by the
/// method of G. Marsaglia and W. W. Tsang, "A simple method for generating gamma variables" (2000),
/// with its boost for alpha < 1.
double mixing_share(double alpha, Draws& draws);

/// The place of the partner.
constexpr std::int64_t mixing_partner(std::int64_t place) {
    return place ^ 1;
}

/// Two rows of `width` numbers, mixed in place with each other.
template <class Real>
void mix_pair(Real* first, Real* second, std::int64_t width, double share);

/// A row, mixed in place with a partner that stays as it is: what mix_pair makes of it.
template <class Real>
void mix_row(Real* row, const Real* partner, std::int64_t width, double share);

extern template void mix_pair(float*, float*, std::int64_t, double);
extern template void mix_pair(double*, double*, std::int64_t, double);
extern template void mix_row(float*, const float*, std::int64_t, double);
extern template void mix_row(double*, const double*, std::int64_t, double);

}  // namespace dtnn::runtime
