#pragma once
/// The loss and the metrics over an epoch's training batches, of all ranks: each rank adds up its
/// own, and they are joined at the epoch's end and kept in checkpoints.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "runtime/train/metrics.hpp"
#include "runtime/train/session.hpp"
#include "runtime/train/training_state.hpp"

namespace dtnn::runtime {

class EpochSums {
  public:
    /// The session outlives it. An epoch has so many batches. Everything that adding takes is
    /// allocated here.
    EpochSums(Session& session, std::int64_t batches);

    /// Begins an epoch.
    void reset();
    /// Adds the batch that this rank has run last: which one of the epoch from 0, and which step
    /// of the training from 1.
    void add(const BatchOutputs& batch, std::int64_t samples, std::int64_t number,
             std::int64_t step);
    /// This rank's sums so far, for lines of progress.
    const MetricSet& mine() const { return mine_; }
    /// Together: the epoch so far, over the samples of all ranks.
    PassValues values() {
        JoinedValues joined = mine_.joined(session_.communicator());
        return {std::move(joined.values), joined.samples};
    }

    /// Some batches of the epoch that follow one another (plan/rules/history_points.hpp).
    struct Point {
        std::int64_t batches = 0;  ///< of the epoch, up to its end
        std::int64_t step = 0;     ///< the last one, since the training began
        double loss = 0;           ///< the mean over their samples, of all ranks
    };
    /// Together: the epoch's points, without those that have no samples.
    std::vector<Point> points() const;

    /// Together: into a state, as TrainingState keeps them. Counts are rank 0's.
    void save(TrainingState& state);
    /// Goes on from the sums of a state; none: from nothing. As many ranks as now: each takes its
    /// own sums. Another number of ranks: rank 0 takes all of them, so that nothing is lost, and
    /// the others begin with nothing.
    void restore(const TrainingState& state);

  private:
    /// What a rank has of a point.
    struct PointSums {
        MetricSet::WeightedLoss loss;
        std::int64_t step = 0;  ///< the last one with samples

        void add(const PointSums& other);
    };

    void add_points(std::span<const std::byte> saved);

    Session& session_;
    MetricSet mine_;
    std::int64_t batches_;
    std::int64_t steps_of_point_;
    std::vector<PointSums> points_;  ///< this rank's
};

}  // namespace dtnn::runtime
