#pragma once
/// The schedules that watch a metric, looked at once an epoch. All their state is saved and
/// restored as numbers, so that a resumed run decides as if never stopped.
///
/// A watched name is "loss" or a metric's (over the training samples), or either behind
/// "validation.". `direction` says what is better: minimize, maximize, or auto: as
/// plan/metrics.def has it of the metric's type; the loss is minimized. A value that is not a
/// number is never better.
///
///     reduce_on_plateau {metric, factor, patience, minimum, direction, cooldown, threshold}
///         After more than `patience` epochs in a row none of which is better than the best by the
///         share `threshold` of it, the rate is multiplied by the factor, down to `minimum` (a
///         learning rate); then nothing is counted for `cooldown` epochs. As PyTorch's
///         ReduceLROnPlateau with threshold_mode rel and eps 0; for negative values the share is of
///         their magnitude.
///     early_stopping {metric, patience, direction, threshold, restore_best}
///         Ends the training after `patience` epochs in a row none of which is better than the best
///         by more than `threshold`. With restore_best the training's end, whatever its reason,
///         takes back the weights of the best epoch.
///     stop_at {metric, threshold, direction}
///         Ends the training when the metric reaches the threshold.
///     model_checkpoint {metric, direction, every_epochs, keep}
///         Every so many epochs, keeps the weights that the metric was measured with if they are
///         among the `keep` best.

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn::runtime {

/// The watched values of an epoch, by name.
using EpochValues = std::map<std::string, double>;

/// The number that a schedule watches, and what counts as better.
struct Watched {
    std::string name;
    bool maximize = false;

    /// Reads `metric` and `direction`. A name that the plan does not compute is a RunError (exit
    /// 5); the compiler refuses it earlier, with its place.
    Watched(const plan::Component& component, const plan::Plan& plan);
    double of(const EpochValues& values) const;
    /// Whether `value` is better than `other` by more than `margin`.
    bool better(double value, double other, double margin = 0) const;
    double worst() const;
};

/// Weights that are to be kept, or taken back: those at the end of `epoch` (from 1).
struct BestWeights {
    std::string key;  ///< which schedule's: a folder's name
    std::int64_t epoch = 0;
    std::string metric;
    double value = 0;
    bool to_restore = false;            ///< kept to be taken back by this training
    std::vector<std::int64_t> dropped;  ///< epochs whose weights are no longer kept
};

/// Weights that are kept: those of a schedule, at the end of an epoch (from 1).
struct KeptWeights {
    std::string key;
    std::int64_t epoch = 0;
};

/// The decisions that an epoch's values lead to.
struct EpochDecision {
    std::vector<BestWeights> keep;
    std::string stop;  ///< why the training ends here, for people; empty: it goes on
};

class Watcher {
  public:
    virtual ~Watcher() = default;
    /// `epoch` from 1.
    virtual void epoch_done(std::int64_t epoch, const EpochValues& values,
                            EpochDecision& decision) = 0;
    virtual double rate_factor() const { return 1; }
    /// Another training takes its state over: what ended the one before counts no more.
    virtual void begin_again() {}
    virtual std::optional<BestWeights> restore_at_end() const { return std::nullopt; }
    /// The weights that it has asked to keep, and not dropped.
    virtual std::vector<KeptWeights> kept() const { return {}; }
    /// All that a later epoch's decision depends on.
    virtual std::vector<double> state() const { return {}; }
    /// False: it is not the state of such a watcher.
    virtual bool set_state(const std::vector<double>& state) { return state.empty(); }
};

/// Null when the component is not one of the above. `key` names what it keeps.
std::unique_ptr<Watcher> make_watcher(const plan::Component& component, const plan::Plan& plan,
                                      const std::string& key);

}  // namespace dtnn::runtime
