#include "plan/rules/parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/saturating.hpp"
#include "plan/layer_types.hpp"
#include "plan/rules/local_steps.hpp"

namespace dtnn::plan {

std::int64_t global_batch(const Plan& plan, int ranks) {
    return saturating_product({plan.training.batch_size, ranks});
}

std::vector<std::string> depends_on_ranks(const Plan& plan) {
    std::vector<std::string> reasons;
    const Parallel& parallel = plan.parallel;
    const bool norms = std::any_of(plan.layers.begin(), plan.layers.end(), [](const Layer& layer) {
        return layer_type(layer.type).sees_batch;
    });
    if (moves_locally(parallel)) reasons.emplace_back("ranks move weights of their own");
    if (norms && parallel.batch_statistics == BatchStatistics::local)
        reasons.emplace_back("batch norm takes statistics of each rank's samples");
    if (parallel.learning_rate_scaling != RateScaling::none)
        reasons.emplace_back("learning rates are multiplied by the ranks or their root");
    if (parallel.compression != Compression::full)
        reasons.emplace_back("gradients are rounded or selected on their way between ranks");
    return reasons;
}

std::int64_t steps_of_pass(std::int64_t samples, std::int64_t batch, int ranks) {
    // Divided twice: the product may be larger than any number of samples.
    const std::int64_t batches = samples / batch + (samples % batch > 0);
    return batches / ranks + (batches % ranks > 0);
}

Part part_of(std::int64_t samples, std::int64_t batch, std::int64_t step, int rank, int ranks) {
    const std::int64_t batches = samples / batch + (samples % batch > 0);
    if (step >= steps_of_pass(samples, batch, ranks)) return {samples, 0};
    const std::int64_t number = step * ranks + rank;
    if (number >= batches) return {samples, 0};
    return {number * batch, std::min(batch, samples - number * batch)};
}

std::int64_t samples_of_steps(std::int64_t samples, std::int64_t batch, std::int64_t first,
                              std::int64_t last, int ranks) {
    const std::int64_t steps = steps_of_pass(samples, batch, ranks);
    const auto before = [&](std::int64_t step) {
        return step >= steps ? samples : part_of(samples, batch, step, 0, ranks).first;
    };
    return std::max<std::int64_t>(0, before(last) - before(first));
}

std::int64_t steps_per_epoch(const Plan& plan, int ranks) {
    if (plan.parallel.private_data) return private_steps(plan);
    if (moves_locally(plan.parallel)) return LocalSteps(plan, ranks).steps();
    const std::int64_t all =
        steps_of_pass(plan.dataset.train_samples, plan.training.batch_size, ranks);
    return limited_steps(plan.training, all);
}

std::int64_t limited_steps(const Training& training, std::int64_t all) {
    return training.whole_epochs ? all : std::min(all, training.steps_per_epoch);
}

double learning_rate_factor(const Parallel& parallel, int ranks) {
    if (parallel.learning_rate_scaling == RateScaling::linear) return ranks;
    if (parallel.learning_rate_scaling == RateScaling::square_root) return std::sqrt(double(ranks));
    return 1;
}

std::string refuses_ranks(const Plan& plan, int ranks) {
    if (!plan.parallel.data && ranks != 1)
        return fmt::format("it is for one rank, and there are {}", ranks);
    if (plan.parallel.data && !plan.parallel.any_ranks && ranks != plan.target.ranks)
        return fmt::format("it is for {} ranks, and there {} {}", plan.target.ranks,
                           ranks == 1 ? "is" : "are", ranks);
    return refuses_local_steps(plan, ranks);
}

}  // namespace dtnn::plan
