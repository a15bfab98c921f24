#pragma once
/// The loss and the metrics over an epoch's training batches, of all ranks: each rank adds up its
/// own, and they are joined at the epoch's end and kept in checkpoints.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "runtime/train/metrics.hpp"
#include "runtime/train/session.hpp"
#include "runtime/train/training_state.hpp"

namespace dtnn::runtime {

class EpochSums {
  public:
    /// The session outlives it. Everything that adding takes is allocated here.
    explicit EpochSums(Session& session);

    /// Begins an epoch.
    void reset() { mine_.reset(); }
    /// Adds the batch that this rank has run last.
    void add(const BatchOutputs& batch, std::int64_t samples) { mine_.add(batch, samples); }
    /// This rank's sums so far, for lines of progress.
    const MetricSet& mine() const { return mine_; }
    /// Together: the epoch so far, over the samples of all ranks.
    PassValues values() {
        JoinedValues joined = mine_.joined(session_.communicator());
        return {std::move(joined.values), joined.samples};
    }

    /// Together: into a state, as TrainingState keeps them. Counts are rank 0's.
    void save(TrainingState& state);
    /// Goes on from the sums of a state; none: from nothing. As many ranks as now: each takes its
    /// own sums. Another number of ranks: rank 0 takes all of them, so that nothing is lost, and
    /// the others begin with nothing.
    void restore(const TrainingState& state);

  private:
    Session& session_;
    MetricSet mine_;
};

}  // namespace dtnn::runtime
