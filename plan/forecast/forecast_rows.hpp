#pragma once
/// Forecasts of a job for several numbers of ranks, and their JSON form.

#include <span>
#include <string>
#include <vector>

#include "plan/forecast/forecast.hpp"

namespace dtnn::plan {

inline constexpr int kMostRanks = 1'000'000;

/// The numbers of ranks that are of interest where nobody asks for others: powers of two that the
/// machine has cores for, all of it, and the plan's own; one alone where ranks do not share the
/// training.
std::vector<int> usual_ranks(const Plan& plan, const Machine& machine, int threads);

/// A row for each number of ranks, all else as the request says.
std::vector<Forecast> forecast_rows(const Plan& plan, const Machine& machine,
                                    std::span<const int> ranks, ForecastRequest request);

/// {"version": 1, "name", "machine", "scaling", "rows": [{"ranks", "step_seconds", ...}]}; a row
/// that is refused has "ranks" and "refused" alone.
std::string forecast_json(const std::vector<Forecast>& rows, const Plan& plan,
                          const Machine& machine, Scaling scaling);

}  // namespace dtnn::plan
