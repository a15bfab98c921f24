#include "plan/rules/communication.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json_text.hpp"
#include "base/quantity_text.hpp"
#include "base/saturating.hpp"
#include "base/text.hpp"
#include "plan/rules/compression.hpp"
#include "plan/rules/local_steps.hpp"
#include "plan/rules/named_operators.hpp"
#include "plan/summary/summary.hpp"

namespace dtnn::plan {

namespace {

constexpr std::size_t kMostListed = 8;

std::string sizes_words(const std::vector<std::int64_t>& bytes) {
    if (bytes.size() > kMostListed) {
        const auto [least, most] = std::minmax_element(bytes.begin(), bytes.end());
        return fmt::format("of {} to {}", bytes_text(*least), bytes_text(*most));
    }
    std::string text = "of ";
    for (const std::int64_t one : bytes)
        text += (text.size() > 3 ? ", " : "") + bytes_text(one);
    return text;
}

std::string local_words(const Parallel& parallel) {
    std::string text =
        fmt::format("; each rank moves weights of its own, averaged ({}) every {}",
                    name_of(parallel.average), count_text(parallel.local_steps, "update"));
    text += parallel.participation == Participation::all
                ? "; an epoch ends with the rank that has the fewest batches"
                : "; an epoch goes on with the ranks that have data left";
    if (parallel.min_avail > 0)
        text += fmt::format(", and averages while {} have", parallel.min_avail);
    if (parallel.private_data) text += "; each rank has a dataset of its own";
    return text;
}

std::string wire_words(const Parallel& parallel) {
    if (parallel.compression == Compression::top_k)
        return fmt::format(
            "; of the gradients the largest travel, {:g} % of them, and the others later, which "
            "changes the mathematics",
            100 * parallel.density);
    return fmt::format("; gradients travel as {}, rounded twice, which changes the mathematics",
                       name_of(parallel.compression));
}

/// Members behind others; none where gradients travel as they are.
std::string wire_json(const Parallel& parallel) {
    if (parallel.compression == Compression::full) return "";
    const std::string density = parallel.compression == Compression::top_k
                                    ? fmt::format(", \"density\": {}", json_text(parallel.density))
                                    : "";
    return fmt::format(", \"wire\": {}{}", json_text(name_of(parallel.compression)), density);
}

/// Members behind others; none where gradients are exchanged.
std::string local_json(const Parallel& parallel) {
    if (!moves_locally(parallel)) return "";
    return fmt::format(
        ", \"synchronise\": {{\"every\": {}, \"average\": {}, \"participation\": {}, "
        "\"min_avail\": {}, \"private_data\": {}}}",
        parallel.local_steps, json_text(name_of(parallel.average)),
        json_text(name_of(parallel.participation)), parallel.min_avail, parallel.private_data);
}

}  // namespace

bool exchanges_statistics(const Plan& plan, const Collective& collective) {
    return plan.parallel.batch_statistics == BatchStatistics::synchronised &&
           collective.kind == CollectiveKind::all_reduce && collective.parameters.empty() &&
           collective.name != kNormExchange;
}

Communication communication_of(const Plan& plan) {
    Communication result;
    result.global_batch = saturating_product(
        {plan.training.batch_size, plan.training.accumulation, plan.target.ranks});
    const bool local = moves_locally(plan.parallel);
    if (local) result.every = plan.parallel.local_steps;
    const Program* train =
        find_program(plan, local ? ProgramKind::synchronise : ProgramKind::train);
    if (!train) return result;
    double wire_bytes = 0;
    for (const Collective& collective : train->collectives) {
        // Each batch of an update has its own statistics.
        const bool statistics = exchanges_statistics(plan, collective);
        const std::int64_t times = statistics ? plan.training.accumulation : 1;
        if (statistics)
            result.statistics = saturating_sum({result.statistics, times});
        else
            result.exchanges.push_back(collective.bytes);
        result.bytes =
            saturating_sum({result.bytes, saturating_product({times, collective.bytes})});
        result.seconds += double(times) * collective.seconds;
        wire_bytes += double(times) * wire_bytes_of(collective, plan.target.ranks);
    }
    // Anybody's plan: what passes 64 bits stays within them.
    result.wire_bytes = std::llround(std::min(wire_bytes, 0x1p62));
    if (local) {
        result.bytes /= result.every;
        result.wire_bytes /= result.every;
        result.seconds /= double(result.every);
    }
    return result;
}

std::string parallel_words(const Plan& plan) {
    const Parallel& parallel = plan.parallel;
    const int ranks = plan.target.ranks;
    std::string text =
        fmt::format("data: {}{}, a global batch of {} samples", count_text(ranks, "rank"),
                    parallel.any_ranks ? " or any other number" : "",
                    grouped(communication_of(plan).global_batch));
    if (moves_locally(parallel))
        text += local_words(parallel);
    else
        text += parallel.reduction == ReductionMode::blocking
                    ? "; exchanges behind the backward part"
                    : "; exchanges overlap the backward part";
    if (!plan.shards.empty())
        text += fmt::format("; each rank has 1/{} of the optimizer's state", ranks);
    if (parallel.compression != Compression::full) text += wire_words(parallel);
    text += fmt::format("; {} batch statistics", name_of(parallel.batch_statistics));
    if (parallel.learning_rate_scaling != RateScaling::none)
        text += fmt::format(
            "; learning rate scaled by the {}ranks",
            parallel.learning_rate_scaling == RateScaling::linear ? "" : "square root of the ");
    return text;
}

std::string exchange_words(const Plan& plan) {
    const Communication all = communication_of(plan);
    if (all.exchanges.empty()) return "none";
    std::string text = fmt::format(
        "{} for {}, {}{}; each rank sends {}{}", all.exchanges.size(),
        all.every > 1 ? fmt::format("an average every {} updates", all.every) : "an update",
        sizes_words(all.exchanges),
        all.statistics > 0
            ? fmt::format(", and {} of batch statistics, which layers wait for", all.statistics)
            : "",
        bytes_text(all.wire_bytes), all.every > 1 ? " an update" : "");
    if (plan.target.ranks > 1)
        text += fmt::format(
            "; {} foreseen, {}", seconds_text(all.seconds),
            plan.machine.name.empty() ? "on a network that is not known" : plan.machine.name);
    return text;
}

std::string parallel_json(const Plan& plan) {
    const Communication all = communication_of(plan);
    const std::string statistics =
        all.statistics > 0 ? fmt::format(", \"statistics_exchanges\": {}", all.statistics) : "";
    return fmt::format(
        "{{\"ranks\": {}, \"any_ranks\": {}, \"reduction\": {}, \"batch_statistics\": {}, "
        "\"learning_rate_scaling\": {}, \"optimizer\": {}, \"global_batch\": {}, \"exchanges\": "
        "{}, \"bytes\": {}, \"wire_bytes\": {}, \"seconds\": {}{}{}{}}}",
        plan.target.ranks, plan.parallel.any_ranks, json_text(name_of(plan.parallel.reduction)),
        json_text(name_of(plan.parallel.batch_statistics)),
        json_text(name_of(plan.parallel.learning_rate_scaling)),
        json_text(name_of(plan.parallel.optimizer)), all.global_batch, json_text(all.exchanges),
        all.bytes, all.wire_bytes, json_text(all.seconds), statistics, wire_json(plan.parallel),
        local_json(plan.parallel));
}

}  // namespace dtnn::plan
