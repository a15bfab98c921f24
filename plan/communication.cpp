#include "plan/communication.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plan/exchange_model.hpp"
#include "plan/json_text.hpp"
#include "plan/saturating.hpp"
#include "plan/summary.hpp"

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

}  // namespace

std::string seconds_text(double seconds) {
    if (seconds >= 1 || seconds <= 0) return fmt::format("{:.1f} s", seconds);
    if (seconds >= 1e-3) return fmt::format("{:.1f} ms", seconds * 1e3);
    return fmt::format("{:.1f} us", seconds * 1e6);
}

Communication communication_of(const Plan& plan) {
    Communication result;
    result.global_batch = saturating_product(
        {plan.training.batch_size, plan.training.accumulation, plan.target.ranks});
    const Program* train = find_program(plan, "train");
    if (!train) return result;
    for (const Collective& collective : train->collectives) {
        result.exchanges.push_back(collective.bytes);
        result.bytes = saturating_sum({result.bytes, collective.bytes});
        result.seconds += collective.seconds;
    }
    // Anybody's plan: what passes 64 bits stays within them.
    result.wire_bytes =
        std::llround(std::min(all_reduce_wire_bytes(plan.target.ranks, result.bytes), 0x1p62));
    return result;
}

std::string parallel_words(const Plan& plan) {
    const Parallel& parallel = plan.parallel;
    const int ranks = plan.target.ranks;
    std::string text =
        fmt::format("data: {} rank{}{}, a global batch of {} samples", ranks, ranks == 1 ? "" : "s",
                    parallel.any_ranks ? " or any other number" : "",
                    grouped(communication_of(plan).global_batch));
    text += parallel.reduction == "blocking" ? "; exchanges behind the backward part"
                                             : "; exchanges overlap the backward part";
    text += fmt::format("; {} batch statistics", parallel.batch_statistics);
    if (parallel.learning_rate_scaling != "none")
        text +=
            fmt::format("; learning rate scaled by the {}ranks",
                        parallel.learning_rate_scaling == "linear" ? "" : "square root of the ");
    return text;
}

std::string exchange_words(const Plan& plan) {
    const Communication all = communication_of(plan);
    if (all.exchanges.empty()) return "none";
    std::string text = fmt::format("{} for an update, {}; each rank sends {}", all.exchanges.size(),
                                   sizes_words(all.exchanges), bytes_text(all.wire_bytes));
    if (plan.target.ranks > 1)
        text += fmt::format(
            "; {} foreseen, {}", seconds_text(all.seconds),
            plan.machine.name.empty() ? "on a network that is not known" : plan.machine.name);
    return text;
}

std::string parallel_json(const Plan& plan) {
    const Communication all = communication_of(plan);
    return fmt::format(
        "{{\"ranks\": {}, \"any_ranks\": {}, \"reduction\": {}, \"batch_statistics\": {}, "
        "\"learning_rate_scaling\": {}, \"global_batch\": {}, \"exchanges\": {}, \"bytes\": {}, "
        "\"wire_bytes\": {}, \"seconds\": {}}}",
        plan.target.ranks, plan.parallel.any_ranks, json_text(plan.parallel.reduction),
        json_text(plan.parallel.batch_statistics), json_text(plan.parallel.learning_rate_scaling),
        all.global_batch, json_text(all.exchanges), all.bytes, all.wire_bytes,
        json_text(all.seconds));
}

}  // namespace dtnn::plan
