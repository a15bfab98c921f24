#include "tests/kernel/device_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

#include "kernels/cuda/plan_store.hpp"
#include "runtime/base/plugin.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/device/cuda/api.hpp"
#include "runtime/device/cuda/library.hpp"

namespace dtnn::kernels::conformance {
namespace {

using namespace runtime::cuda;

/// Of operands: what plans have, and no more (plan::kAlignment). The room begins at a multiple of
/// 256, so the first one does not.
constexpr std::int64_t kAlignment = 64;
/// For the operands of one kernel.
constexpr std::int64_t kRoom = std::int64_t{3} << 30;
constexpr std::int64_t kPinned = std::int64_t{256} << 20;

/// The device, for the life of the program.
struct Opened {
    std::unique_ptr<Api> api;
    std::byte* room = nullptr;
    std::byte* pinned = nullptr;
    Stream stream{};
    std::string problem;

    Opened() {
        try {
            const Plugin plugin = open_plugin(kLibrary);
            if (plugin.handle == nullptr) {
                problem = plugin.refused.empty() ? fmt::format("{} was not built", kLibrary)
                                                 : plugin.refused;
                return;
            }
            runtime::check_plugin(plugin, kVersionEntry, kLibraryVersion);
            api.reset(runtime::plugin_function<Api*(int, cuda::PlanStore*)>(plugin, kOpenEntry)(
                0, nullptr));
            room = api->allocate(kRoom);
            pinned = api->allocate_pinned(kPinned);
            stream = api->make_stream();
        } catch (const runtime::RunError& error) {
            problem = error.what();
        } catch (const ApiFailure& failure) {
            problem = fmt::format("{} failed: {} ({})", failure.call, failure.text, failure.code);
        }
    }
};

Opened& opened() {
    // Never destroyed: a device's library may be gone at the end of the program.
    static Opened* const one = new Opened;
    return *one;
}

class Run final : public OnDevice {
  public:
    void run() override {
        Opened& device = opened();
        for (const auto& [host, block] : blocks_) {
            std::memcpy(device.pinned, host, std::size_t(block.bytes));
            device.api->copy_to_device(block.device, device.pinned, block.bytes, device.stream);
            device.api->synchronize(device.stream);
        }
        kernel_->run(device.stream);
        for (const auto& [host, block] : blocks_) {
            device.api->copy_to_host(device.pinned, block.device, block.bytes, device.stream);
            device.api->synchronize(device.stream);
            std::memcpy(host, device.pinned, std::size_t(block.bytes));
        }
    }

  private:
    friend class OnDevice;
    struct Block {
        std::byte* device = nullptr;
        std::int64_t bytes = 0;
    };

    /// Its place on the device: the same for what is the same on the host.
    std::byte* place(const void* operand, std::int64_t bytes, std::int64_t guard) {
        auto* const host = static_cast<std::byte*>(const_cast<void*>(operand)) - guard;
        const auto [found, fresh] = blocks_.try_emplace(host);
        Block& block = found->second;
        if (fresh) {
            block.device = opened().room + used_;
            block.bytes = bytes + 2 * guard;
            used_ += (block.bytes + kAlignment - 1) / kAlignment * kAlignment;
        }
        return block.device + guard;
    }

    std::map<std::byte*, Block> blocks_;  // by the host's memory
    std::int64_t used_ = kAlignment;
    std::unique_ptr<ApiKernel> kernel_;
};

}  // namespace

const std::string& no_device() {
    return opened().problem;
}

bool launches_only() {
    return std::getenv("DTNN_LAUNCHES_ONLY") != nullptr;
}

std::unique_ptr<OnDevice> OnDevice::bind(const KernelInfo& kernel, const Problem& problem,
                                         std::span<const void* const> sources,
                                         std::span<void* const> destinations,
                                         std::span<std::byte> workspace, std::int64_t guard) {
    auto bound = std::make_unique<Run>();
    std::vector<const void*> from;
    std::vector<void*> to;
    for (std::size_t i = 0; i < sources.size(); ++i)
        from.push_back(bound->place(sources[i], problem.sources[i].bytes(), guard));
    for (std::size_t i = 0; i < destinations.size(); ++i)
        to.push_back(bound->place(destinations[i], problem.destinations[i].bytes(), guard));
    std::byte* const scratch =
        bound->place(workspace.data(), std::int64_t(workspace.size()), guard);
    bound->kernel_ = opened().api->bind(kernel, problem, from, to, {scratch, workspace.size()});
    if (!bound->kernel_) return nullptr;
    return bound;
}

}  // namespace dtnn::kernels::conformance
