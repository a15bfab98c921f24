#include "plan/audit/statistics.hpp"

#include <fmt/format.h>

#include "plan/rules/exchange_ends.hpp"
#include "plan/rules/named_operators.hpp"

namespace dtnn::plan {

namespace {

/// The operand of batch_norm_training and batch_norm_backward_apply that is of all ranks.
constexpr std::size_t kSums = 5;

}  // namespace

std::vector<std::string> audit_statistics(const Plan& plan, const Program& program) {
    std::vector<std::string> findings;
    const bool wanted =
        plan.parallel.data && plan.parallel.batch_statistics == BatchStatistics::synchronised;
    std::vector<bool> of_all_ranks(program.tensors.size());
    for (const Step& step : program.steps) {
        if (exchange_end_of(step.op) == kAllReduceWait)
            for (const int id : step.destinations)
                of_all_ranks[std::size_t(id)] = true;
        const std::optional<StatisticsOf> takes = statistics_of(step);
        if (takes == StatisticsOf::rank && wanted)
            findings.push_back(
                fmt::format("step `{}` takes the statistics of one rank, not of all", step.name));
        if (takes != StatisticsOf::all_ranks) continue;
        if (!wanted)
            findings.push_back(
                fmt::format("step `{}` takes the statistics of all ranks, not of one", step.name));
        else if (step.sources.size() <= kSums || !of_all_ranks[std::size_t(step.sources[kSums])])
            findings.push_back(fmt::format(
                "step `{}` takes sums that the ranks have not exchanged before", step.name));
    }
    return findings;
}

}  // namespace dtnn::plan
