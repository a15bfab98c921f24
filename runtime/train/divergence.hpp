#pragma once
/// Watches a training for a NaN or an infinity, and ends it with what made the first one.

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/exec/number_check.hpp"
#include "runtime/train/loop.hpp"
#include "runtime/train/not_a_number.hpp"
#include "runtime/train/session.hpp"

namespace dtnn::runtime {

/// A training's finished batches, as messages count them.
struct TrainingPlace {
    std::int64_t epoch = 0;  ///< from 1
    std::int64_t step = 0;   ///< from 1, over the training
};

/// With several ranks, a rank that has found a NaN or an infinity goes on until all know of it
/// (Findings::broken), as the others would wait for it; then all call report() together.
class Divergence {
  public:
    /// All of them outlive it. With request.check_numbers every result of every step is looked at.
    Divergence(Session& session, TrainingObserver& observer, const TrainingRequest& request);

    /// The check that looks at every result; null: only losses are looked at.
    NumberCheck* check() { return check_ ? &*check_ : nullptr; }
    /// Whether this rank has found something that the others do not know yet.
    bool found() const { return found_.has_value(); }

    /// Looks at a training batch that was run: at its loss, and at what the check has found. One
    /// rank: reports at once.
    void look_at_batch(double loss, const TrainingPlace& place);
    /// Looks at a validation, whose values are the same on all ranks. Together: reports a loss that
    /// is not finite. What the check has found on this rank waits for the others.
    void look_at_validation(const PassValues& validation, const TrainingPlace& place);

    /// Together: throws SharedRunError (exit 6) about what any rank has found. Unless every result
    /// was looked at, the steps since request.rewind's state are repeated first to find the result
    /// that was not finite.
    [[noreturn]] void report(const TrainingPlace& place);
    /// Likewise, about `mine`, which was not found by looking at a batch.
    [[noreturn]] void report(const NotANumber& mine, const TrainingPlace& place);

  private:
    NotANumber validated_again(NotANumber found);
    std::string search(std::int64_t until_step);

    Session& session_;
    TrainingObserver& observer_;
    const TrainingRequest& request_;
    std::optional<NumberCheck> check_;
    std::optional<NotANumber> found_;
};

}  // namespace dtnn::runtime
