#pragma once
/// The loss and the metrics over an epoch's training batches, of all ranks: each rank adds up its
/// own, and they are joined at the epoch's end and kept in checkpoints.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/train/metrics.hpp"
#include "runtime/train/session.hpp"

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
    PassValues values() const { return session_.joined(mine_); }

    /// Together: the sums of all ranks, one after the other, as TrainingState keeps them.
    std::vector<std::byte> save() const;
    /// Goes on from the sums that `ranks` ranks have saved; none: from nothing. As many ranks as
    /// now: each takes its own. Another number of ranks: rank 0 takes all of them, so that nothing
    /// is lost, and the others begin with nothing.
    void restore(std::span<const std::byte> saved, int ranks);

  private:
    Session& session_;
    MetricSet mine_;
};

}  // namespace dtnn::runtime
