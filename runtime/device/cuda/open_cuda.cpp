#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/cache_folder.hpp"
#include "kernels/cuda/plan_store.hpp"
#include "runtime/base/plugin.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/device/code_cache.hpp"
#include "runtime/device/cuda/cuda_device.hpp"
#include "runtime/device/cuda/library.hpp"

namespace dtnn::runtime::cuda {
namespace {

/// Plans of cuDNN, with machine code in them, by what they were made of. Never destroyed: kernels
/// may ask until the end.
class KeptPlans final : public kernels::cuda::PlanStore {
  public:
    std::optional<std::string> find(const std::string& key) override { return cache_.find(key); }
    void put(const std::string& key, const std::string& plan) override { cache_.put(key, plan); }

    /// Of the process; null: there is no folder to keep them in.
    static KeptPlans* of_process() {
        static KeptPlans* const plans = [] {
            const std::string folder = cache_folder();
            return folder.empty() ? nullptr : new KeptPlans(folder + "/cudnn");
        }();
        return plans;
    }

  private:
    explicit KeptPlans(std::string folder) : cache_(std::move(folder), std::size_t{8} << 20) {}

    CodeCache cache_;
};

constexpr const char* kOnCpu = "or compile the job with --target cpu";

Plugin loaded() {
    Plugin plugin = open_plugin(kLibrary);
    if (plugin.handle != nullptr) return plugin;
    if (!plugin.refused.empty())
        throw RunError(Exit::mismatch, plugin.refused,
                       fmt::format("install the CUDA libraries that it names (cudart, cuDNN 9, "
                                   "cuBLASLt), or put their folders into LD_LIBRARY_PATH; {}",
                                   kOnCpu));
    throw RunError(
        Exit::mismatch,
        fmt::format("the plan is for the device `cuda`, and {} is in none of {}", kLibrary,
                    plugin.looked),
        fmt::format("build where a CUDA compiler, cuDNN and cuBLASLt are found; {}", kOnCpu));
}

}  // namespace

void need_cuda() {
    loaded();
}

std::unique_ptr<Device> open_cuda(int number) {
    const Plugin plugin = loaded();
    check_plugin(plugin, kVersionEntry, kLibraryVersion);
    const auto open = plugin_function<Api*(int, kernels::cuda::PlanStore*)>(plugin, kOpenEntry);
    try {
        return make_device(std::unique_ptr<Api>(open(number, KeptPlans::of_process())));
    } catch (const ApiFailure& failure) {
        throw RunError(Exit::mismatch,
                       fmt::format("the plan is for the device `cuda`: {} failed: {} ({})",
                                   failure.call, failure.text, failure.code),
                       fmt::format("look at what nvidia-smi says; {}", kOnCpu));
    }
}

}  // namespace dtnn::runtime::cuda
