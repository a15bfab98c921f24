#pragma once
/// A plan's schedules: the learning rate of every batch, and when to stop and what to keep.
/// Formulas: learning_rates.hpp (functions of the position), watchers.hpp (functions of the history
/// of watched metrics).

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/train/learning_rates.hpp"
#include "runtime/train/watchers.hpp"

namespace dtnn::runtime {

class Schedules {
  public:
    /// A schedule that is unknown, or watches what the plan does not compute, is a RunError (exit
    /// 5). The plan is not needed afterwards.
    explicit Schedules(const plan::Plan& plan, int ranks = 1);

    /// The optimizer's learning rate times all factors, and times the plan's factor of the ranks:
    /// a schedule's `minimum` is meant for one rank. Allocates nothing.
    double learning_rate(const BatchPosition& position) const;

    /// Once after each epoch (from 1), validated if there is validation. The names of the values:
    /// watchers.hpp.
    EpochDecision epoch_done(std::int64_t epoch, const EpochValues& values);

    /// The weights that the end of the training takes back, if any.
    std::optional<BestWeights> restore_at_end() const;

    /// The weights that schedules have asked to keep, and not dropped.
    std::vector<KeptWeights> kept() const;

    /// Another training takes the state over: an early stopping waits as long again as at the
    /// beginning; what was best stays.
    void begin_again();

    /// The state that epoch_done has learned, a list of numbers for each schedule in the plan's
    /// order.
    std::vector<std::vector<double>> state() const;
    /// False, and nothing changed, when it is not the state of these schedules.
    bool set_state(const std::vector<std::vector<double>>& state);

  private:
    double base_;
    std::vector<RateFactor> factors_;
    std::vector<std::unique_ptr<Watcher>> watchers_;  ///< null where the schedule is a factor
};

}  // namespace dtnn::runtime
