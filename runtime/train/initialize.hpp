#pragma once
/// First values of parameters.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn::kernels {
class ThreadTeam;
}

namespace dtnn::runtime {

class Executor;

/// Writes the parameter's first values to `memory`, in its physical arrangement. Element i
/// (logical) is a function of (seed, stream, i) alone:
///   uniform kinds: (2u - 1) * limit;  glorot limit = sqrt(6 / (fan_in + fan_out)), he sqrt(6 /
///     fan_in), lecun sqrt(3 / fan_in)
///   normal kinds: a normal number cut off at two standard deviations, scaled so that its own is
///   that
///     of the formula: glorot sqrt(2 / (fan_in + fan_out)), he sqrt(2 / fan_in), lecun sqrt(1 /
///     fan_in)
///   uniform: from low to high; normal: mean + deviation * n; truncated_normal: likewise, n cut off
///     at two of them, so that 0.88 of the standard deviation remain; constant, zeros, ones
///   orthogonal: normal numbers as the matrix of the first extent by all others, made orthonormal
///     (orthonormal.hpp) by rows, or by columns when there are fewer of them, times gain
/// (Glorot and Bengio, 2010; He et al., 2015; LeCun et al., 1998; Saxe, McClelland and Ganguli,
/// 2014.) u is (word + 1/2) / 2^32; normal numbers are the inverse of the distribution function at
/// u, so within 6.4 standard deviations. Throws RunError for what plan::mistake_of finds.
void make_values(const plan::Parameter& parameter, std::uint64_t seed, std::byte* memory,
                 kernels::ThreadTeam& team);

/// All parameters and states of the executor's plan.
void initialize(Executor& executor);
/// Those of these names.
void initialize(Executor& executor, const std::vector<std::string>& names);

/// The inverse of the normal distribution function for 1.4e-11 < p < 1 - 1.4e-11 (algorithm AS 241,
/// PPND16: Wichura, 1988), relative error about 1e-16.
double inverse_normal(double p);

}  // namespace dtnn::runtime
