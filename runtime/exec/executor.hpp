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

#include "plan/plan.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/device/device.hpp"
#include "runtime/exec/shard_states.hpp"

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
    /// The exchanges of the program's collectives are made here, in their order. The device and the
    /// communicator outlive the program; null: there is one rank, and exchanges change nothing.
    BoundProgram(const plan::Plan& plan, const plan::Program& program, Device& device,
                 std::byte* arena, Communicator* communicator);
    ~BoundProgram();
    BoundProgram(const BoundProgram&) = delete;
    BoundProgram& operator=(const BoundProgram&) = delete;

    const plan::Program& program() const { return *program_; }
    std::int64_t batch() const { return program_->batch; }

    /// The host's memory of an input or output, null when the program has no such one: the
    /// tensor itself, or where the device has memory of its own what goes there before each run,
    /// and comes from there behind it. Programs share their inputs.
    void* input(plan::InputRole role, int index = 0) const;
    const void* output(const std::string& name) const;

    /// Before the first batch of a pass over data.
    void run_prologue();
    /// Before the first step of texts, or the first batch of a pass: nothing is kept of other texts
    /// or carried from other batches.
    void begin_anew();
    /// One batch. Makes no decision and allocates nothing.
    void run();
    /// The same in two halves: start() puts the batch on the device and returns when its inputs may
    /// be written again; wait() waits for the oldest batch that was not waited for, whose outputs
    /// are there then. No more than kRunsAhead wait for that.
    void start();
    /// start() over the inputs that the device has from the batch before.
    void start_again() { device_program_->run_again(); }
    void wait() { device_program_->wait(); }
    /// The same, adding each step's seconds to `seconds` (as many elements as the program has
    /// steps).
    void run_timed(std::span<double> seconds);

    /// Tells of every step from now on; null: no longer.
    void observe(StepObserver* observer) { observer_ = observer; }

  private:
    /// One of: a kernel; an exchange to start or to wait for; neither, where there is one rank.
    struct BoundStep {
        std::unique_ptr<DeviceStep> kernel;
        Exchange* exchange = nullptr;
        bool starts = false;
        std::vector<std::span<std::byte>> cleared;  ///< when it starts
    };

    std::byte* address(int tensor) const;
    Transfer transfer_of(int tensor) const;
    std::span<std::byte> room_for_inputs() const;
    std::byte* stretch_of(const plan::Collective& collective) const;
    void bind_exchanges();
    std::unique_ptr<DeviceStep> bind_kernel(int number, const plan::Step& step) const;
    /// Runs the steps, telling `before(i)` and `after(i)` of each.
    void run_steps(const std::vector<plan::Step>& steps, std::span<const BoundStep> bound,
                   auto before, auto after);
    void run_each(const std::vector<plan::Step>& steps, std::span<const BoundStep> bound,
                  auto before, auto after, std::size_t& at);
    void run_plainly(const std::vector<plan::Step>& steps, std::span<const BoundStep> bound);
    void run_observed(const std::vector<plan::Step>& steps, std::span<const BoundStep> bound);

    const plan::Plan* plan_;
    const plan::Program* program_;
    Device* device_;
    std::byte* arena_;
    Communicator* communicator_;
    std::vector<std::unique_ptr<Exchange>>
        exchanges_;  ///< one for each of the program's collectives
    std::vector<BoundStep> prologue_;
    std::vector<BoundStep> steps_;
    std::vector<int> transfer_of_input_;  ///< by input: its number among those that the host writes
    std::unique_ptr<DeviceProgram> device_program_;
    StepObserver* observer_ = nullptr;
};

/// The plan's memory, threads and programs. The plan was checked by load_plan and outlives the
/// executor.
class Executor {
  public:
    /// On the device of the plan's target. The communicator outlives the executor; null: there is
    /// one rank.
    Executor(const plan::Plan& plan, int threads, Communicator* communicator = nullptr);
    /// On this device.
    Executor(const plan::Plan& plan, std::unique_ptr<Device> device,
             Communicator* communicator = nullptr);

    /// The program of this kind for batches of `batch` samples, bound on first use; null when the
    /// plan has none.
    BoundProgram* find(plan::ProgramKind kind, std::int64_t batch);
    /// plan().programs[index], bound on first use.
    BoundProgram& bound(std::size_t index);

    /// Tells of every step of every program from now on; null: no longer.
    void observe(StepObserver* observer);

    kernels::ThreadTeam& team() { return device_->team(); }
    Device& device() { return *device_; }
    const plan::Plan& plan() const { return *plan_; }
    std::int64_t arena_bytes() const { return plan_->memory.arena; }
    /// plan().parameters[index], as the host sees it.
    HostView parameter_view(std::size_t index,
                            HostView::Access access = HostView::Access::read) const;
    /// Its memory, on a device whose memory is the host's.
    std::byte* parameter(std::size_t index) const;

    /// The whole of what ranks have in parts, for those who write and read checkpoints.
    ShardStates& shard_states() { return shard_states_; }
    const ShardStates& shard_states() const { return shard_states_; }
    /// A tensor of one of plan().programs, as the host sees it; this rank's part of a tensor by
    /// rank.
    HostView view(const plan::Tensor& tensor,
                  HostView::Access access = HostView::Access::read) const;

  private:
    const plan::Plan* plan_;
    Communicator* communicator_;
    std::unique_ptr<Device> device_;
    std::byte* arena_;
    std::vector<std::unique_ptr<BoundProgram>> programs_;  ///< in the plan's order
    StepObserver* observer_ = nullptr;
    ShardStates shard_states_;
};

}  // namespace dtnn::runtime
