#pragma once
/// `dtnnc forecast`: what a job takes before it starts.

#include <string>
#include <vector>

#include "plan/forecast/forecast.hpp"
#include "tools/dtnnc/commands.hpp"

namespace CLI {
class App;
}

namespace dtnn::tools {

struct ForecastCommand {
    std::string machine;           ///< a file, or a name on the spec path; empty: the job's
    std::string ranks;             ///< "1,2,4,...,64"; empty: powers of two that the machine has
    int threads = 0;               ///< of a rank; 0: the plan's
    int ranks_per_node = 0;        ///< 0: as many as have cores
    std::string scaling = "weak";  ///< or strong
    std::string svg;               ///< a file to draw; empty: none
};

/// Its options. Not those that all commands on specs have: its --ranks are numbers to foretell, not
/// what a spec is compiled for.
void add_forecast(CLI::App& command, ForecastCommand& forecast, CommonOptions& options);

/// Prints a row for each number of ranks.
int forecast(const std::string& spec_or_plan, const ForecastCommand& command,
             const CommonOptions& options);

/// "1,2,4,...,64": numbers of ranks; dots go on as the two numbers before them, by their quotient
/// where it is whole and else by their difference. Throws UsageError.
std::vector<int> parse_rank_list(const std::string& text);

/// A picture of the rows that are not refused: the step's parts over the number of ranks, and the
/// efficiency below.
std::string forecast_svg(const std::vector<plan::Forecast>& rows, const std::string& title);

}  // namespace dtnn::tools
