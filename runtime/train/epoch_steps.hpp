#pragma once
/// The steps of an epoch as one rank sees them: which samples it takes in a step, where weights
/// move, and where ranks that move weights of their own make one mean of them.
///
/// Ranks that exchange gradients share each global batch as plan/rules/parallel.hpp deals it out,
/// and hold the same weights in front of every update. Ranks that take local steps
/// (plan/rules/local_steps.hpp) have batches of their own, and hold the same weights behind a
/// synchronisation only.
///
/// Steps of an epoch are counted from 0. A position `step` stands in front of the step of that
/// number; at batches() the epoch is over.

#include <cstdint>
#include <span>
#include <vector>

#include "plan/rules/local_steps.hpp"
#include "runtime/train/learning_rates.hpp"
#include "runtime/train/session.hpp"

namespace dtnn::runtime {

class EpochSteps {
  public:
    /// The session outlives it, and knows the samples of all ranks (Session::set_rank_samples).
    explicit EpochSteps(Session& session);

    std::int64_t epochs() const { return extent_.epochs; }
    std::int64_t batches() const { return extent_.batches; }

    /// Whether ranks move weights of their own between two synchronisations.
    bool local() const { return local_ != nullptr; }
    /// Whether the weights of all ranks are the same here, so that a run can go on from here.
    bool between_updates(std::int64_t step) const;

    /// This rank's samples of a step, as places in the epoch's order.
    plan::Part part(std::int64_t step) const;
    /// This rank's batches of epoch `epoch` (from 0), from a step on, for the pipeline.
    Pass pass(std::span<const std::int64_t> order, std::int64_t epoch, std::int64_t step) const;
    /// The epoch as dropout counts it. What a sample draws follows from its place in the epoch's
    /// order; ranks with data of their own have orders of their own, and epochs 2^32 apart.
    std::int64_t drawing_epoch(std::int64_t epoch) const;
    /// How many samples all ranks together have taken in front of a step.
    std::int64_t samples_before(std::int64_t step) const;
    /// The samples of all batches whose gradients are added up with those of this step: over all
    /// ranks that exchange gradients, or of this rank alone.
    std::int64_t group_samples(std::int64_t step) const;

    /// Whether the step is the last of a group of steps whose gradients are added up.
    bool ends_group(std::int64_t step) const;
    /// Whether this rank runs a program in the step. Without samples it does so only for the
    /// others, which wait for its part of every exchange.
    bool runs(std::int64_t step) const;
    /// Whether this rank's program of the step moves weights.
    bool updates(std::int64_t step) const;
    /// The updates that this rank's weights have seen in front of a step. `shared` is that number
    /// where all ranks update together.
    std::int64_t updates_before(std::int64_t epoch, std::int64_t step, std::int64_t shared) const;

    /// Together, where ranks move weights of their own: if a synchronisation takes place in front
    /// of this step, all weights become their mean. False: none takes place.
    bool synchronise(std::int64_t step);

  private:
    /// The first step of the group that a step is of, and the one behind its last.
    std::int64_t group_begin(std::int64_t step) const;
    std::int64_t group_end(std::int64_t step) const;

    Session& session_;
    const plan::Plan& plan_;
    const TrainingExtent extent_;
    const plan::LocalSteps* local_;  ///< null: ranks exchange gradients
};

}  // namespace dtnn::runtime
