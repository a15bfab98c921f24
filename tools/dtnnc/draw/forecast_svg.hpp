#pragma once
/// A forecast as a picture.

#include <string>
#include <vector>

#include "plan/forecast/forecast.hpp"

namespace dtnn::tools {

/// A picture of the rows that are not refused: the step's parts over the number of ranks, and the
/// efficiency below; whiskers show by what the steps may be wrong, where the machine's calibration
/// says it, and the legend says so where it does not.
std::string forecast_svg(const std::vector<plan::Forecast>& rows, const std::string& title);

}  // namespace dtnn::tools
