#pragma once
/// The closed set of initializers and the numbers that each takes: what compiler, audit and runtime
/// agree on.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn::plan {

struct InitializerKind {
    std::string_view name;
    std::vector<std::string_view> numbers;  ///< all of them stand in Initializer::numbers
    bool draws = true;                      ///< random numbers
    bool is_interval = false;               ///< of `low` and `high`, the first less than the second
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
