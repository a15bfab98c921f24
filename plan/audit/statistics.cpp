#include "plan/audit/statistics.hpp"

#include <fmt/format.h>

#include <variant>

#include "plan/rules/exchange_ends.hpp"

namespace dtnn::plan {

namespace {

/// The operand of batch_norm_training and batch_norm_backward_apply that is of all ranks.
constexpr std::size_t kSums = 5;

bool is_synchronised(const Step& step) {
    const auto found = step.attributes.find("synchronised");
    const bool* value =
        found == step.attributes.end() ? nullptr : std::get_if<bool>(&found->second);
    return value && *value;
}

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
        const bool applies = step.op == "batch_norm_backward_apply" ||
                             (step.op == "batch_norm_training" && is_synchronised(step));
        const bool local = step.op == "batch_norm_backward" ||
                           (step.op == "batch_norm_training" && !is_synchronised(step));
        if (local && wanted)
            findings.push_back(
                fmt::format("step `{}` takes the statistics of one rank, not of all", step.name));
        if (!applies) continue;
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
