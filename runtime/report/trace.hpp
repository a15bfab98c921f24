#pragma once
/// The trace of where the time of a run goes: every step of its first batches, for Perfetto and
/// Chrome, and a table by operator.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/thread_team.hpp"
#include "plan/plan.hpp"
#include "runtime/exec/executor.hpp"

namespace dtnn::runtime {

/// Records while it is attached to an executor. Memory is taken once, for `most_events`; what comes
/// after that is counted in the table but not kept, and the file says so.
class Trace final : public StepObserver, public kernels::ShareObserver {
  public:
    Trace(Executor& executor, std::size_t most_events = std::size_t{1} << 18);
    ~Trace() override;
    Trace(const Trace&) = delete;
    Trace& operator=(const Trace&) = delete;

    void begin(const plan::Program& program, const plan::Step& step) override;
    void end(const plan::Program& program, const plan::Step& step) override;
    void share(int member, std::int64_t begin, std::int64_t end) override;

    /// The trace event format (JSON object form): a complete event ("X") for every step on lane 0,
    /// named OPERATOR of LAYER (SPEC:LINE), with kernel, phase, work and traffic as arguments, and
    /// one for every other thread's share of it on that thread's lane. Times are microseconds from
    /// the first event.
    /// (https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU)
    std::string json() const;

    /// By operator, the slowest first: steps run, milliseconds, share of the whole, GFLOP/s, GB/s.
    std::string table() const;

    bool full() const { return dropped_ > 0; }

  private:
    struct Event {
        const plan::Step* step = nullptr;
        std::int64_t begin = 0;  ///< nanoseconds of the steady clock
        std::int64_t end = 0;
        int lane = 0;
    };
    struct Sum {
        std::int64_t runs = 0;
        std::int64_t nanoseconds = 0;
        std::int64_t flops = 0;
        std::int64_t bytes = 0;
    };

    void keep(int lane, const plan::Step* step, std::int64_t begin, std::int64_t end);

    Executor& executor_;
    std::size_t most_per_lane_;
    std::vector<std::vector<Event>> lanes_;  ///< each written by its own thread
    std::vector<std::int64_t> dropped_of_lane_;
    std::int64_t dropped_ = 0;  ///< steps
    std::int64_t began_ = 0;
    const plan::Step* running_ = nullptr;
    std::map<std::string, Sum, std::less<>> by_operator_;
};

}  // namespace dtnn::runtime
