#pragma once
/// Decisions that ranks take together: a signal, a clock or a mistake of one of them must lead all
/// of them to the same step, or they wait for each other for ever.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "runtime/base/run_error.hpp"
#include "runtime/comm/communicator.hpp"

namespace dtnn::runtime {

/// A mistake that all ranks throw at the same place, with the same words: it is printed once, by
/// rank 0, and nobody has to be stopped.
class SharedRunError : public RunError {
  public:
    explicit SharedRunError(const RunError& error) : RunError(error) {}
};

/// The findings of one rank, or of any of all.
struct Findings {
    bool stop = false;        ///< a stop was requested
    bool checkpoint = false;  ///< a checkpoint is due by the clock
    bool enough = false;      ///< the time that was given is over
    bool broken = false;      ///< a NaN or an infinity was met
};

/// Tells what the ranks have found, without waiting: what is told at one update is known to all at
/// the next. Allocates nothing behind its constructor. With one rank it is known at once, and
/// nothing is exchanged.
class Agreement {
  public:
    /// The communicator outlives it.
    explicit Agreement(Communicator& communicator);

    /// Begins to tell what this rank has found, and gives what all had when they told last. Every
    /// rank calls it at the same places.
    Findings tell(const Findings& mine);
    /// Waits for what was told last, if that is under way. One rank: nothing.
    Findings settle();
    /// Both: waits for what all have found now.
    Findings agree(const Findings& mine);

    /// Whether a stop was requested of any rank, as far as all know.
    bool stopped() const;

    /// Asks what goes on in this session to stop, as a signal asks all of the process. On the
    /// thread that the session is used by.
    void ask_to_stop() { asked_ = true; }
    /// Takes that back.
    void forget_to_stop() { asked_ = false; }
    /// Whether this rank was asked to stop, by a signal or by ask_to_stop().
    bool asked_to_stop() const;

  private:
    Communicator& communicator_;
    std::array<std::int64_t, 4> flags_{};  ///< the communicator's while it is under way
    std::unique_ptr<Exchange> exchange_;   ///< null: one rank
    bool under_way_ = false;
    bool stopped_ = false;
    bool asked_ = false;
};

/// Does `work` on every rank, and waits until all have. Where it has failed on any, all throw: what
/// all have found alike as it is, otherwise what the first rank has found, with its name.
void together(Communicator& communicator, const std::string& name,
              const std::function<void()>& work);

}  // namespace dtnn::runtime
