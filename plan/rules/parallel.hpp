#pragma once
/// How the samples of a training are shared between ranks: pure functions of plan and ranks, the
/// same for compiler, runtime and forecast.
///
/// A global step takes batch_size * ranks samples of the epoch's order, rank r the r-th batch of
/// them. Of the last, smaller global step the first ranks take whole batches, one takes what is
/// left over (train_samples % batch_size, whatever the number of ranks), the others none. So the
/// programs of one rank serve any number of ranks.

#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "plan/rules/exchange_ends.hpp"

namespace dtnn::plan {

/// Samples of one batch: positions in the order of a pass.
struct Part {
    std::int64_t first = 0;
    std::int64_t count = 0;  ///< zero: the rank has none in this step
    bool operator==(const Part&) const = default;
};

/// Samples of a step of so many ranks.
std::int64_t global_batch(const Plan& plan, int ranks);

/// The settings, other than the global batch, that depend on how many ranks share it, for people:
/// "learning rates are multiplied by the ranks". Empty: the same updates are made but for rounding.
std::vector<std::string> depends_on_ranks(const Plan& plan);

/// Steps of a pass over `samples` samples: each of them takes a batch on every rank.
std::int64_t steps_of_pass(std::int64_t samples, std::int64_t batch, int ranks);

/// The samples that `rank` takes in step `step` of a pass.
Part part_of(std::int64_t samples, std::int64_t batch, std::int64_t step, int rank, int ranks);

/// Samples that all ranks together take of the steps first <= step < last.
std::int64_t samples_of_steps(std::int64_t samples, std::int64_t batch, std::int64_t first,
                              std::int64_t last, int ranks);

/// Steps of an epoch of the plan's training on so many ranks.
std::int64_t steps_per_epoch(const Plan& plan, int ranks);

/// Those of an epoch, where the samples would make `all`: the job may limit them.
std::int64_t limited_steps(const Training& training, std::int64_t all);

/// The factor of every learning rate: 1, ranks, or its square root.
double learning_rate_factor(const Parallel& parallel, int ranks);

/// Why the plan cannot run on so many ranks, in lower case; empty: it can.
std::string refuses_ranks(const Plan& plan, int ranks);

}  // namespace dtnn::plan
