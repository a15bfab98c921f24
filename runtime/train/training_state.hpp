#pragma once
/// The state that a training goes on from, and who keeps it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/train/watchers.hpp"

namespace dtnn::runtime {

/// A training's position between two updates: with the executor's parameters (weights, moving
/// statistics, optimizer state, averages) all that the rest of it depends on. Random choices are
/// functions of the position. Batches are those of all ranks together, one on each.
struct TrainingState {
    int ranks = 1;
    std::int64_t batch_size = 0;  ///< samples of a batch of one rank; 0: the plan's
    std::int64_t epoch = 0;       ///< epochs finished, with their validation and schedules
    std::int64_t batch = 0;       ///< batches done of the epoch after those
    std::int64_t step = 0;        ///< batches done since the training began
    std::int64_t update = 0;      ///< updates done since the training began
    /// MetricSet::save_sums of the unfinished epoch and the losses of its points (EpochSums), one
    /// rank after another.
    std::vector<std::byte> sums;
    /// MetricSet::save_counts of all ranks together, on rank 0 alone: they can be large, and are as
    /// large for any number of ranks. Do not travel with bytes_of.
    std::vector<std::byte> counts;
    /// The states that each rank has of its own in the executor, one rank after another, without
    /// rank 0, whose is in the parameters (Session::gather_own_states). They do not travel with
    /// bytes_of.
    std::vector<std::byte> own_states;
    /// Within an epoch, on rank 0: what batches carry on, of all ranks (Session::gather_carried).
    /// Does not travel with bytes_of.
    std::vector<std::byte> carried;
    std::vector<std::vector<double>> schedules;  ///< Schedules::state
    std::string stop;          ///< why a schedule has ended the training; empty: it has not
    double epoch_seconds = 0;  ///< spent on the unfinished epoch
    double seconds = 0;        ///< spent on the training
};

/// The state as so many ranks go on from it by the plan. Its batches are the plan's, or the batch
/// of all ranks together is: with other batches and another product it is another training (exit
/// 5). Between two epochs any number of ranks can; within one, the samples seen must be whole
/// batches of the new number of ranks, and whole updates. Otherwise a RunError (exit 5) that names
/// the numbers of ranks that can. Steps and updates count on; the sums stay those of the ranks that
/// made them. Ranks that move weights of their own go on as many as they were (exit 5), and within
/// an epoch whose batches carry states all ranks together have as large a batch as before (exit 5).
TrainingState at_ranks(const plan::Plan& plan, TrainingState state, int ranks);

/// "4 ranks of 6".
std::string sharing_text(int ranks, std::int64_t batch);

/// How so many ranks get a plan whose global batches are of `global` samples, or which numbers of
/// them can.
std::string keep_batch_help(std::int64_t global, int ranks);

/// For a rank that cannot read what another one has read. state_of throws RunError (exit 5) for
/// what is not the bytes of a state.
std::vector<std::byte> bytes_of(const TrainingState& state);
TrainingState state_of(std::span<const std::byte> bytes);

/// Keeps what must outlive the process. What cannot be kept is a RunError that ends the training;
/// what was kept before stays.
class TrainingKeeper {
  public:
    virtual ~TrainingKeeper() = default;
    /// Everything: the state and the executor's parameters.
    virtual void checkpoint(TrainingState state) = 0;
    /// The weights as they are now.
    virtual void keep_best(const BestWeights& best) = 0;
    /// A training begins or goes on with these weights kept. Other weights come from a process that
    /// was killed before it could remove them, or from after what this training goes on from.
    virtual void forget_others(const std::vector<KeptWeights>& kept) = 0;
    /// Makes the executor's weights those that keep_best was given.
    virtual void take_back(const BestWeights& best) = 0;
};

}  // namespace dtnn::runtime
