#pragma once
/// The schedules whose factor depends on the position only: pure functions, so that a resumed run
/// needs nothing to go on with them.
///
/// The position counts updates: with `accumulation` batches to an update, all batches of a group
/// see the rate of its first. Fractions of an epoch are counted in updates of the epoch, so a
/// schedule that is continuous acts per update. With N updates an epoch, update n of the run has
/// t = n / N:
///
///     warm_up {epochs, batches, from}       from + (1 - from) t / epochs, then 1. Where `batches`
///                                           is above 0, it counts batches in place of epochs;
///                                           both 0: 1 at once
///     multistep {epochs: [..], factor}      factor ^ (how many of the epochs have begun)
///     reduce_every_n_epochs {epochs, factor, minimum}      factor ^ floor(t / epochs)
///     exponential {begin, factor, minimum}  factor ^ (t - begin)
///     cosine {begin, epochs, minimum}       (1 + cos(pi (t - begin) / epochs)) / 2 of what is
///                                           above the minimum
///     polynomial {begin, epochs, power, minimum}      (1 - (t - begin) / epochs) ^ power of it
///     one_cycle {epochs, rise, start_divisor, end_divisor, shape}      below
///     formula {factor}                      the expression (postfix) of x0 = epochs done, x1 =
///                                           updates done, x2 and x3 = those of the training
///
/// Before `begin` the factor is 1; behind begin + epochs it stays. `epochs: 0` is all epochs of the
/// training behind `begin`. `minimum` is a learning rate, not a factor. The values are those of
/// PyTorch's LinearLR, MultiStepLR, StepLR, ExponentialLR, CosineAnnealingLR, PolynomialLR and
/// OneCycleLR, stepped once an update (once an epoch for the second and third).
///
/// one_cycle: the optimizer's learning rate is the highest of the cycle (PyTorch's max_lr). With
/// T = epochs N and p = rise T - 1, update n has the share n / p of the way from 1 / start_divisor
/// to 1, then (n - p) / (T - 1 - p) of the way from 1 to 1 / (start_divisor end_divisor), by a half
/// cosine or a line. Momentum is not cycled. (L. N. Smith, N. Topin, "Super-Convergence", 2018;
/// torch.optim.lr_scheduler.OneCycleLR with three_phase=False.)

#include <cstdint>
#include <functional>
#include <optional>

#include "plan/plan.hpp"

namespace dtnn::runtime {

/// How the batches of a training are divided. With several ranks a batch is the global one: what
/// all of them take in a step.
struct TrainingExtent {
    std::int64_t epochs = 1;
    std::int64_t batches = 1;       ///< batches of an epoch
    std::int64_t accumulation = 1;  ///< batches of an update; an epoch's last group may be smaller

    std::int64_t updates() const { return (batches + accumulation - 1) / accumulation; }
};
TrainingExtent extent_of(const plan::Plan& plan, int ranks = 1);

/// A batch's position; both numbers from 0.
struct BatchPosition {
    std::int64_t epoch = 0;
    std::int64_t batch = 0;  ///< in the epoch
};

/// The factor that a schedule multiplies the base learning rate with.
using RateFactor = std::function<double(const BatchPosition&)>;

/// Whether the schedule's factors depend on how many epochs the training has: it spans all of them
/// (`epochs: 0`), or is a formula that reads x2 or x3.
bool spans_training(const plan::Component& component);

/// The factor of a component; nothing when it is not one of the above. `base` is the optimizer's
/// learning rate.
std::optional<RateFactor> rate_factor(const plan::Component& component,
                                      const TrainingExtent& extent, double base);

}  // namespace dtnn::runtime
