#pragma once
/// Mixup (H. Zhang, M. Cisse, Y. Dauphin, D. Lopez-Paz, "mixup: Beyond Empirical Risk
/// Minimization", ICLR 2018) on a batch that is ready: sample i becomes share x_i + (1 - share)
/// x_j, and its targets likewise, where j is the sample as far from the batch's end as i is from
/// its beginning. Batches are shuffled, so any partner is a random one; this one needs no copy.

#include <cstdint>

#include "runtime/data/transforms/draws.hpp"

namespace dtnn::runtime {

/// Drawn from Beta(alpha, alpha), alpha > 0: G1 / (G1 + G2) of two Gamma(alpha) numbers by the
/// method of G. Marsaglia and W. W. Tsang, "A simple method for generating gamma variables" (2000),
/// with its boost for alpha < 1.
double mixing_share(double alpha, Draws& draws);

/// Rows of `width` numbers, one for each of `samples`, mixed in place.
template <class Real>
void mix_rows(Real* rows, std::int64_t samples, std::int64_t width, double share);

extern template void mix_rows(float*, std::int64_t, std::int64_t, double);
extern template void mix_rows(double*, std::int64_t, std::int64_t, double);

}  // namespace dtnn::runtime
