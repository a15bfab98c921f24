#include "plan/forecast/forecast_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/json_text.hpp"

namespace dtnn::plan {

std::vector<int> usual_ranks(const Plan& plan, const Machine& machine, int threads) {
    const int per_node = usual_ranks_per_node(machine, plan.target, threads, kMostRanks);
    const std::int64_t most = std::int64_t{per_node} * std::max(machine.nodes, 1);
    std::set<int> ranks = {1};
    if (plan.parallel.data) {
        for (std::int64_t n = 2; n <= std::min<std::int64_t>(most, kMostRanks); n *= 2)
            ranks.insert(int(n));
        ranks.insert(int(std::clamp<std::int64_t>(most, 1, kMostRanks)));
        ranks.insert(std::max(plan.target.ranks, 1));
    }
    return {ranks.begin(), ranks.end()};
}

std::vector<Forecast> forecast_rows(const Plan& plan, const Machine& machine,
                                    std::span<const int> ranks, ForecastRequest request) {
    std::vector<Forecast> rows;
    for (const int count : ranks) {
        request.ranks = count;
        rows.push_back(forecast(plan, machine, request));
        rows.back().ranks = count;
    }
    return rows;
}

namespace {

std::string row_json(const Forecast& row) {
    if (!row.refused.empty())
        return fmt::format("{{\"ranks\": {}, \"refused\": {}}}", row.ranks, json_text(row.refused));
    return fmt::format(
        "{{\"ranks\": {}, \"threads\": {}, \"nodes\": {}, \"ranks_per_node\": {}, \"batch\": {}, "
        "\"global_batch\": {}, \"step_seconds\": {}, \"compute_seconds\": {}, \"exposed_seconds\": "
        "{}, \"input_seconds\": {}, \"step_error_seconds\": {}, \"communication_seconds\": {}, "
        "\"samples_per_second\": {}, \"efficiency\": {}, \"sent_bytes\": {}, \"memory_bytes\": {}, "
        "\"memory_is_bound\": {}, \"steps_per_epoch\": {}, \"epoch_seconds\": {}, "
        "\"validation_seconds\": {}, \"test_seconds\": {}, \"job_seconds\": {}, \"notes\": {}}}",
        row.ranks, row.threads, row.nodes, row.ranks_per_node, row.batch, row.global_batch,
        row.step(), row.compute, row.exposed, row.input, row.error, row.communication,
        row.samples_per_second, row.efficiency, row.wire_bytes, row.memory, row.memory_is_bound,
        row.steps_per_epoch, row.epoch_seconds, row.validation_seconds, row.test_seconds,
        row.job_seconds, json_text(row.notes));
}

}  // namespace

std::string forecast_json(const std::vector<Forecast>& rows, const Plan& plan,
                          const Machine& machine, Scaling scaling) {
    std::string list;
    for (const Forecast& row : rows)
        list += fmt::format("{}\n    {}", list.empty() ? "" : ",", row_json(row));
    return fmt::format(
        "{{\n  \"version\": 1,\n  \"name\": {},\n  \"machine\": {},\n  \"scaling\": {},\n  "
        "\"rows\": [{}\n  ]\n}}\n",
        json_text(plan.name), json_text(machine.name), json_text(name_of(scaling)), list);
}

}  // namespace dtnn::plan
