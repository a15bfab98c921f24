#include "tests/gpu/host_device.hpp"

#include <sys/mman.h>

#include <cstring>
#include <utility>

#include "kernels/cuda/dispatch.hpp"
#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {
namespace {

class Memory {
  public:
    ~Memory() {
        if (first_ != nullptr) ::munmap(first_, size_);
    }
    std::byte* map(std::size_t bytes) {
        size_ = bytes > 0 ? bytes : 1;
        void* const mapped = ::mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapped == MAP_FAILED)
            throw RunError(Exit::failed, "no memory for a device", "use a smaller plan");
        first_ = static_cast<std::byte*>(mapped);
        return first_;
    }
    /// While a kernel or a copy runs.
    class Use {
      public:
        explicit Use(Memory& memory) : memory_(memory) {
            ::mprotect(memory.first_, memory.size_, PROT_READ | PROT_WRITE);
        }
        ~Use() { ::mprotect(memory_.first_, memory_.size_, PROT_NONE); }
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;

      private:
        Memory& memory_;
    };

  private:
    std::byte* first_ = nullptr;
    std::size_t size_ = 0;
};

class HostStep final : public DeviceStep {
  public:
    HostStep(std::unique_ptr<kernels::cuda::BoundDeviceKernel> kernel, Memory& memory)
        : kernel_(std::move(kernel)), memory_(memory) {}
    void run() override {
        const Memory::Use use(memory_);
        // In another order each time: what depends on it has a race.
        using kernels::cuda::HostOrder;
        order_ = order_ == HostOrder::forward ? HostOrder::backward : HostOrder::forward;
        kernel_->run(order_);
    }

  private:
    std::unique_ptr<kernels::cuda::BoundDeviceKernel> kernel_;
    Memory& memory_;
    kernels::cuda::HostOrder order_ = kernels::cuda::HostOrder::backward;
};

class HostDevice final : public Device {
  public:
    std::string_view name() const override { return "cuda"; }
    std::byte* allocate(std::int64_t bytes, const std::string&) override {
        return memory_.map(std::size_t(bytes));
    }
    bool is_host() const override { return false; }
    void read(std::span<std::byte> to, const std::byte* from) override {
        const Memory::Use use(memory_);
        std::memcpy(to.data(), from, to.size());
    }
    void write(std::byte* to, std::span<const std::byte> from) override {
        const Memory::Use use(memory_);
        std::memcpy(to, from.data(), from.size());
    }
    std::unique_ptr<DeviceStep> bind(const kernels::KernelInfo& kernel,
                                     const kernels::Problem& problem,
                                     std::span<const void* const> sources,
                                     std::span<void* const> destinations,
                                     std::span<std::byte> workspace) override {
        auto bound = kernels::cuda::bind(kernel, problem, sources, destinations, workspace);
        if (!bound) return nullptr;
        return std::make_unique<HostStep>(std::move(bound), memory_);
    }
    void finish() override {}
    kernels::ThreadTeam& team() override { return team_; }

  private:
    Memory memory_;
    kernels::ThreadTeam team_{1};
};

}  // namespace

std::unique_ptr<Device> open_host_device() {
    return std::make_unique<HostDevice>();
}

}  // namespace dtnn::runtime
