#pragma once
/// The operators of steps that rules between ranks are about. The compiler places them, and audits
/// look for them in plans that anybody may have made; what else is true of an operator stands in
/// its own file.

#include <optional>

#include "plan/plan.hpp"

namespace dtnn::plan {

/// Multiplies by one number, a rank's share.
inline constexpr const char* kWeigh = "weigh_gradient";
/// The sum of the squares of a gradient, in double.
inline constexpr const char* kSquareSum = "gradient_square_sum";
/// The exchange that adds these sums up over ranks, which is no gradient's.
inline constexpr const char* kNormExchange = "gradient_norm";

/// A copy is elementwise work whose expression is its operand.
inline constexpr const char* kCopy = "elementwise";
inline Attributes copy_attributes() {
    return {{"expression", std::string("x0")}};
}

/// The statistics that a step of batch norm takes: of its rank's samples, or of all.
enum class StatisticsOf : std::uint8_t { rank, all_ranks };
/// Nothing: the step takes none.
std::optional<StatisticsOf> statistics_of(const Step& step);

}  // namespace dtnn::plan
