#pragma once
/// Where a plan's tensors lie and its steps are computed. Who uses a device does not know which one
/// it is.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "kernels/catalogue.hpp"
#include "kernels/thread_team.hpp"

namespace dtnn::runtime {

/// A kernel with its operands.
class DeviceStep {
  public:
    virtual ~DeviceStep() = default;
    /// Puts the work on the device, behind what was put there before; it may be done later.
    virtual void run() = 0;
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

    /// Null where the kernel is not built into this program, or cannot do the problem. Throws
    /// kernels::MissingAttribute.
    virtual std::unique_ptr<DeviceStep> bind(const kernels::KernelInfo& kernel,
                                             const kernels::Problem& problem,
                                             std::span<const void* const> sources,
                                             std::span<void* const> destinations,
                                             std::span<std::byte> workspace) = 0;
    /// Waits until all work is done.
    virtual void finish() = 0;

    /// The host's threads: on the CPU those that compute.
    virtual kernels::ThreadTeam& team() = 0;
};

/// The CPU, with so many threads.
std::unique_ptr<Device> open_cpu(int threads);

/// The device of this name, as a plan's target has it. A RunError (exit 5) that says what is
/// missing where there is none.
std::unique_ptr<Device> open_device(const std::string& name, int threads);

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
