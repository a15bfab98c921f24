#pragma once
/// The device on which a plan's tensors lie and its steps are computed. Who uses it does not know
/// which one it is.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/catalogue.hpp"
#include "kernels/thread_team.hpp"
#include "plan/plan.hpp"
#include "runtime/base/exchange.hpp"
#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {

/// Runs of a program that may be under way before the outputs of the first are waited for.
inline constexpr std::size_t kRunsAhead = 2;

/// A kernel with its operands. Running it may throw DeviceError.
class DeviceStep {
  public:
    virtual ~DeviceStep() = default;
    /// Puts the work on the device, behind what was put there before; it may be done later.
    virtual void run() = 0;
};

/// A copy to a program's input before a run, or from its output behind it.
struct Transfer {
    std::byte* memory = nullptr;  ///< the device's
    std::int64_t bytes = 0;
    /// The room for an input while the run before reads its own; null where the memory is the
    /// host's. Inputs of all programs lie there as they lie in the plan's memory.
    std::byte* ahead = nullptr;
};

/// The failure of the device at something, from whatever puts work on it; the executor adds which
/// step it was.
struct DeviceError {
    Exit exit = Exit::failed;
    std::string fact, help;
    bool no_such_engine = false;  ///< the step asks for one that its library does not have
};

/// A program's steps between its inputs and its outputs.
class DeviceProgram {
  public:
    virtual ~DeviceProgram() = default;
    /// The memory where the host writes an input and reads an output, by their numbers.
    virtual std::byte* input(std::size_t i) = 0;
    virtual std::byte* output(std::size_t i) = 0;

    /// The inputs go to the device as they are now; the steps are put on it behind what was put
    /// there before, and the outputs come behind them. Inputs may be written again when it returns.
    virtual void run() = 0;
    /// The same, with these steps in place of the program's.
    virtual void run(const std::function<void()>& steps) = 0;
    /// The same, over the inputs that the device has from the run before.
    virtual void run_again() = 0;
    /// Waits for the oldest run that was not waited for yet, whose outputs are the host's then. No
    /// more than kRunsAhead runs wait for that.
    virtual void wait() = 0;
};

/// The ranks of a run, for a device with a network of its own.
struct DeviceRanks {
    int rank = 0;
    int ranks = 1;
    double seconds = 0;  ///< how long a rank waits for another; 0: for ever
    /// Together: rank 0's bytes on all ranks.
    std::function<void(std::span<std::byte>)> broadcast;
};

/// Errors are RunErrors.
class Device {
  public:
    virtual ~Device() = default;

    /// "cpu", or "cuda", as plans and kernels name it.
    virtual std::string_view name() const = 0;

    /// The memory of a plan, zeros: once in the device's life, which it lasts for.
    virtual std::byte* allocate(std::int64_t bytes, const std::string& purpose) = 0;

    /// Whether that memory is the host's own. Otherwise its addresses are nothing but numbers to
    /// the host, which moves what it reads and writes.
    virtual bool is_host() const = 0;
    /// After all work before has been done. Return when the bytes are there.
    virtual void read(std::span<std::byte> to, const std::byte* from) = 0;
    virtual void write(std::byte* to, std::span<const std::byte> from) = 0;
    /// Zeros, behind the work that was put on the device before.
    virtual void clear(std::span<std::byte> memory) = 0;

    /// Null where the kernel is not built into this program, or cannot do the problem. Throws
    /// kernels::MissingAttribute.
    virtual std::unique_ptr<DeviceStep> bind(const kernels::KernelInfo& kernel,
                                             const kernels::Problem& problem,
                                             std::span<const void* const> sources,
                                             std::span<void* const> destinations,
                                             std::span<std::byte> workspace) = 0;
    /// `room` is what inputs have of room ahead, all programs the same; empty where the memory is
    /// the host's.
    virtual std::unique_ptr<DeviceProgram> bind_program(std::vector<Transfer> inputs,
                                                        std::vector<Transfer> outputs,
                                                        std::span<std::byte> room,
                                                        std::function<void()> steps) = 0;
    /// Together, once, before exchanges are bound: what programs exchange goes over the device's
    /// own network, if it has one.
    virtual void join(const DeviceRanks& ranks) = 0;
    /// A sum over all ranks of `count` numbers, in place; or of ranks as many parts of `count`, of
    /// which the rank's own becomes the sum; or a gather of such parts. Bound on all ranks in the
    /// same order. Null: the memory is the host's, and a communicator carries it.
    virtual std::unique_ptr<Exchange> bind_exchange(plan::CollectiveKind kind, std::byte* data,
                                                    std::int64_t count, DType dtype) = 0;
    /// Waits until all work is done.
    virtual void finish() = 0;

    /// The host's threads: on the CPU those that compute.
    virtual kernels::ThreadTeam& team() = 0;
};

/// The CPU, with so many threads.
std::unique_ptr<Device> open_cpu(int threads);

/// Whether this program knows a device of this name. A RunError (exit 5) where it does, and what
/// the device needs is not here.
bool need_device(const std::string& name);

/// The device of this name, as a plan's target has it; of several on the machine the one of this
/// number among the ranks there. A RunError (exit 5) that says what is missing where there is none.
std::unique_ptr<Device> open_device(const std::string& name, int threads, int local_rank = 0);

/// Memory of a device as the host sees it: itself where it is the host's, else a copy.
class HostView {
  public:
    enum class Access { read, write };
    /// With `write` what the view holds at its end is what the memory holds.
    HostView(Device& device, std::byte* memory, std::size_t bytes, Access access);
    ~HostView() noexcept(false);
    HostView(const HostView&) = delete;
    HostView& operator=(const HostView&) = delete;

    std::span<std::byte> bytes() const { return bytes_; }

  private:
    Device& device_;
    std::byte* memory_;
    Access access_;
    std::unique_ptr<std::byte[]> copy_;  ///< null: the memory itself
    std::span<std::byte> bytes_;
};

}  // namespace dtnn::runtime
