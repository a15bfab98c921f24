#pragma once
/// The training loop.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/run_error.hpp"
#include "runtime/train/session.hpp"
#include "runtime/train/training_state.hpp"

namespace dtnn::runtime {

/// A point of the loss's curve: some steps of an epoch.
struct CurvePoint {
    std::int64_t step = 0;     ///< the last of them, since the training began
    double loss = 0;           ///< the mean over their samples, of all ranks
    double learning_rate = 0;  ///< of that step
};

struct EpochResult {
    std::int64_t epoch = 0;    ///< counted from 1
    std::int64_t step = 0;     ///< steps done since the training began
    double learning_rate = 0;  ///< the one of the epoch's last step
    PassValues train;
    PassValues validation;          ///< no samples: there is no validation split
    std::vector<CurvePoint> curve;  ///< of the training (plan/rules/history_points.hpp)
    double samples_per_second = 0;  ///< of all ranks, while they train in this process
    double seconds = 0;             ///< with validation
};

/// The loop's position, after each step.
struct Progress {
    std::int64_t epoch = 0;  ///< counted from 1
    std::int64_t epochs = 0;
    std::int64_t step = 0;  ///< in the epoch, counted from 1
    std::int64_t steps = 0;
    double seconds = 0;             ///< since this process began with the epoch
    std::int64_t first_step = 0;    ///< steps of the epoch that an earlier process has done
    std::int64_t first_sample = 0;  ///< samples likewise
    std::int64_t samples = 0;       ///< all ranks' in the epoch so far
    const MetricSet& train;         ///< the epoch so far, over this rank's samples
};

/// The samples that this rank is about to train on.
struct BatchSamples {
    std::int64_t epoch = 0;  ///< counted from 1
    std::int64_t step = 0;   ///< over the training, counted from 1
    /// Places as in Pass::order; none where the step has no samples for this rank.
    std::span<const std::int64_t> samples;
};

/// A listener to the loop. Called between steps, on the loop's thread.
class TrainingObserver {
  public:
    virtual ~TrainingObserver() = default;
    virtual void batch(const BatchSamples&) {}
    virtual void first_step() {}  ///< the first step of this process is done
    virtual void step(const Progress&) {}
    virtual void epoch(const EpochResult&) {}
    /// The loss is NaN or infinite: the steps since the state are repeated to find what made it.
    virtual void searching(const TrainingState& /*from*/, std::int64_t /*until_step*/) {}
};

/// How a training is run; nothing of it has to be set.
struct TrainingRequest {
    const TrainingState* from = nullptr;  ///< null: from the beginning
    TrainingKeeper* keeper = nullptr;     ///< null: nothing is kept
    /// Looks at every result of every step; slow.
    bool check_numbers = false;
    /// Makes the executor's parameters those of a state that the training went through, and gives
    /// that state. Empty: what made a NaN is not searched for. With several ranks,
    /// all have one and call it together; the parameters count on rank 0, the state on all.
    std::function<TrainingState()> rewind;
    std::int64_t until_step = 0;  ///< ends after this step, if the training does not; 0: no
    /// Ends when so many epochs are done, with their validation and schedules; 0: no.
    std::int64_t until_epoch = 0;
    double until_seconds = 0;  ///< ends after the step in which they are over; 0: no
};

struct TrainingResult {
    std::int64_t epoch = 0;               ///< epochs finished
    std::int64_t step = 0;                ///< steps done
    bool interrupted = false;             ///< a stop was requested; `state` can be gone on from
    std::string stop;                     ///< why a schedule has ended it; empty: it has not
    std::optional<BestWeights> restored;  ///< the weights are those at the end of this epoch
    /// Why the best weights could not be taken back, if they were to be: the weights are the end's.
    std::optional<RunError> not_restored;
    TrainingState state;  ///< the end's, before anything was restored
};

/// Runs the plan's epochs from where the request says. With several ranks, every rank calls it with
/// a like request, begins with the parameters of rank 0, and has the same results: losses and
/// metrics are of all samples. A request to stop on any rank stops all at the same step, one update
/// after they have told each other; the clock of rank 0 counts. Keeps checkpoints as the plan's
/// rule asks, between two updates, and one when a stop is requested.
///
/// A loss that is NaN or infinite is a RunError (exit 6) that names epoch and step, and, found by
/// repeating the steps since `rewind`'s state, for at most kSearchSeconds, the first result that
/// was not finite: operator, layer, line of the spec. With several ranks it is known one update
/// later, to all of them (SharedRunError), and the search repeats the steps on all.
TrainingResult train(Session& session, TrainingObserver& observer,
                     const TrainingRequest& request = {});

}  // namespace dtnn::runtime
