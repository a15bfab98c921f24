#pragma once
/// The closed set of initializers, the numbers that each takes and what values they make: what
/// compiler, audit and runtime agree on.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn::plan {

struct InitializerKind {
    enum class Values {
        constant,   ///< `constant`, or the number `value`
        uniform,    ///< from `low`, which is less, to `high`
        normal,     ///< of `mean` and `deviation`
        truncated,  ///< the same, cut off two deviations from the mean
        orthogonal,
        scaled_uniform,   ///< over an interval around 0, of the variance gain / fan
        scaled_truncated  ///< normal, cut off, of that variance
    };
    std::string_view name;
    std::vector<std::string_view> numbers;  ///< all of them stand in Initializer::numbers
    Values values;
    bool with_out = false;  ///< the fan is fan_in + fan_out, else fan_in
    double gain = 0;
    double constant = 0;

    bool draws() const { return values != Values::constant; }
};

std::span<const InitializerKind> initializer_kinds();
/// Null when there is no such kind.
const InitializerKind* find_initializer(std::string_view name);

/// What a number of an initializer may be: finite, and no larger than this, so that it fits every
/// floating type of a plan with room for what is computed from it.
inline constexpr double kLargestInitializerNumber = 1e30;

/// Why no values can be made of it (an unknown kind, a number that is missing, unknown or out of
/// its range), or nothing when they can.
std::optional<std::string> mistake_of(const Initializer& initializer);

}  // namespace dtnn::plan
