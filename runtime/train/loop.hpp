#pragma once
/// The training loop.

#include <cstdint>

#include "runtime/train/session.hpp"

namespace dtnn::runtime {

struct EpochResult {
    std::int64_t epoch = 0;  ///< counted from 1
    std::int64_t step = 0;   ///< steps done since the run began
    double learning_rate = 0;
    Means train;
    Means validation;               ///< no samples: there is no validation split
    double samples_per_second = 0;  ///< of training alone
    double seconds = 0;             ///< with validation
};

/// Where the loop stands, after each step.
struct Progress {
    std::int64_t epoch = 0;  ///< counted from 1
    std::int64_t epochs = 0;
    std::int64_t step = 0;  ///< in the epoch, counted from 1
    std::int64_t steps = 0;
    double seconds = 0;  ///< since the epoch began
    const Means& train;  ///< of the epoch so far
};

/// What the loop tells. Called between steps, on the loop's thread.
class TrainingObserver {
  public:
    virtual ~TrainingObserver() = default;
    virtual void first_step() {}  ///< the run's first step is done
    virtual void step(const Progress&) {}
    virtual void epoch(const EpochResult&) {}
};

struct TrainingResult {
    std::int64_t epoch = 0;    ///< epochs finished
    std::int64_t step = 0;     ///< steps done
    bool interrupted = false;  ///< a stop was requested; the parameters are those after `step`
};

/// Runs the plan's epochs. A loss that is not a number is a RunError (exit 6) that names epoch and
/// step.
TrainingResult train(Session& session, TrainingObserver& observer);

}  // namespace dtnn::runtime
