#pragma once
/// Finds the first step whose result holds something that is not a finite number.

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/exec/executor.hpp"

namespace dtnn::runtime {

/// The shortest digits that read back; one word for a NaN, whatever its sign.
std::string number_text(double value);

/// The first number that was found not to be finite.
struct NotFinite {
    std::string place;  ///< the step, with layer and spec line; or the input
    std::string
        fact;  ///< "3 of the 640 numbers of `dense_1.weights` are not finite, the first is inf"
};

/// While it is attached, looks at every result of every step that the executor runs.
///
/// An infinite number may be a sound intermediate (1 / (1 + exp(x)) of a large x); it matters when
/// it leads to a NaN, or stays in a parameter. So the first result of a run that
/// is not finite is remembered, and `found` tells of it once it, or a later one, holds a NaN or is
/// a parameter's; a caller that sees a loss that is not finite asks for `suspect`.
class NumberCheck final : public StepObserver {
  public:
    /// Attaches itself. `next` is told of every step too; may be null.
    explicit NumberCheck(Executor& executor, StepObserver* next = nullptr);
    ~NumberCheck() override;
    NumberCheck(const NumberCheck&) = delete;
    NumberCheck& operator=(const NumberCheck&) = delete;

    /// Before a program runs: forgets the last run and looks at what this one reads.
    void begin_run(const plan::Program& program);

    void begin(const plan::Program& program, const plan::Step& step) override;
    void end(const plan::Program& program, const plan::Step& step) override;

    /// The first result of the run that was not finite, once it matters.
    const std::optional<NotFinite>& found() const { return matters_ ? suspect_ : none_; }
    /// The first result of the run that was not finite.
    const std::optional<NotFinite>& suspect() const { return suspect_; }

  private:
    void look(const plan::Program& program, int tensor, const plan::Step* step);

    Executor& executor_;
    StepObserver* next_;
    std::optional<NotFinite> suspect_;
    const std::optional<NotFinite> none_;
    bool matters_ = false;
};

/// The first of the executor's parameters that holds a number that is not finite: its name and the
/// fact.
std::optional<NotFinite> parameter_not_finite(const Executor& executor);

}  // namespace dtnn::runtime
