#pragma once
/// Runs the programs of a plan: every step is bound to its kernel and its memory once, then the
/// loop only calls. The steps of a program's collectives are bound to exchanges of a communicator
/// in place of kernels.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/thread_team.hpp"
#include "plan/plan.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/device/arena.hpp"
#include "runtime/exec/shard_states.hpp"

namespace dtnn::kernels {
class BoundKernel;
}

namespace dtnn::runtime {

/// Told of every step that is run, on the thread that runs the program.
class StepObserver {
  public:
    virtual ~StepObserver() = default;
    virtual void begin(const plan::Program&, const plan::Step&) {}
    virtual void end(const plan::Program&, const plan::Step&) {}
};

/// One program, bound. Made by Executor.
class BoundProgram {
  public:
    /// The exchanges of the program's collectives are made here, in their order. The communicator
    /// outlives the program; null: there is one rank, and exchanges change nothing.
    BoundProgram(const plan::Plan& plan, const plan::Program& program, std::byte* arena,
                 Communicator* communicator = nullptr);
    ~BoundProgram();
    BoundProgram(BoundProgram&&) noexcept;
    BoundProgram& operator=(BoundProgram&&) noexcept;

    const plan::Program& program() const { return *program_; }
    std::int64_t batch() const { return program_->batch; }

    /// The memory of an input or output, null when the program has none of this name.
    void* input(const std::string& name) const;
    const void* output(const std::string& name) const;
    /// Which tensor an input is; -1: none.
    int input_tensor(const std::string& name) const;

    /// Before the first batch of a pass over data.
    void run_prologue(kernels::ThreadTeam& team);
    /// One batch. Makes no decision and allocates nothing.
    void run(kernels::ThreadTeam& team);
    /// The same, adding each step's seconds to `seconds` (as many elements as the program has
    /// steps).
    void run_timed(kernels::ThreadTeam& team, std::span<double> seconds);

    /// Tells of every step from now on; null: no longer.
    void observe(StepObserver* observer) { observer_ = observer; }

  private:
    /// One of: a kernel; an exchange to start or to wait for; neither, where there is one rank.
    struct BoundStep {
        std::unique_ptr<kernels::BoundKernel> kernel;
        Exchange* exchange = nullptr;
        bool starts = false;
        std::vector<std::span<std::byte>> cleared;  ///< when it starts
    };

    std::byte* address(int tensor) const;
    std::byte* stretch_of(const plan::Collective& collective) const;
    void bind_exchanges();
    std::unique_ptr<kernels::BoundKernel> bind_kernel(int number, const plan::Step& step) const;
    /// Runs the steps, telling `before(i)` and `after(i)` of each.
    void run_steps(kernels::ThreadTeam& team, std::span<const BoundStep> bound, auto before,
                   auto after);
    void run_observed(kernels::ThreadTeam& team, const std::vector<plan::Step>& steps,
                      std::span<const BoundStep> bound);

    const plan::Plan* plan_;
    const plan::Program* program_;
    std::byte* arena_;
    Communicator* communicator_;
    std::vector<std::unique_ptr<Exchange>>
        exchanges_;  ///< one for each of the program's collectives
    std::vector<BoundStep> prologue_;
    std::vector<BoundStep> steps_;
    StepObserver* observer_ = nullptr;
};

/// The plan's memory, threads and programs. The plan was checked by load_plan and outlives the
/// executor.
class Executor {
  public:
    /// The communicator outlives the executor; null: there is one rank.
    Executor(const plan::Plan& plan, int threads, Communicator* communicator = nullptr);

    /// The program of this kind for batches of `batch` samples, bound on first use; null when the
    /// plan has none.
    BoundProgram* find(plan::ProgramKind kind, std::int64_t batch);

    /// Tells of every step of every program from now on; null: no longer.
    void observe(StepObserver* observer);

    kernels::ThreadTeam& team() { return team_; }
    const plan::Plan& plan() const { return *plan_; }
    std::int64_t arena_bytes() const { return arena_.bytes(); }
    /// The memory of plan().parameters[index].
    std::byte* parameter(std::size_t index) const;

    /// The whole of what ranks have in parts, for those who write and read checkpoints.
    ShardStates& shard_states() { return shard_states_; }
    const ShardStates& shard_states() const { return shard_states_; }
    /// The memory of a tensor of one of plan().programs; this rank's part of a tensor by rank.
    const std::byte* memory(const plan::Tensor& tensor) const;

  private:
    const plan::Plan* plan_;
    Communicator* communicator_;
    Arena arena_;
    kernels::ThreadTeam team_;
    std::vector<std::unique_ptr<BoundProgram>> programs_;  ///< in the plan's order
    StepObserver* observer_ = nullptr;
    ShardStates shard_states_;
};

}  // namespace dtnn::runtime
