#include <fmt/format.h>

#include "base/cache_folder.hpp"
#include "kernels/cuda/plan_store.hpp"
#include "runtime/base/plugin.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/device/code_cache.hpp"
#include "runtime/device/cuda/cuda_device.hpp"
#include "runtime/device/cuda/library.hpp"

namespace dtnn::runtime::cuda {
namespace {

/// Plans of cuDNN, with machine code in them, by what they were made of.
class KeptPlans final : public kernels::cuda::PlanStore {
  public:
    std::optional<std::string> find(const std::string& key) override { return cache_.find(key); }
    void put(const std::string& key, const std::string& plan) override { cache_.put(key, plan); }

  private:
    static CodeCache opened() {
        const std::string folder = cache_folder();
        return CodeCache(folder.empty() ? "" : folder + "/cudnn", std::size_t{8} << 20);
    }
    CodeCache cache_ = opened();
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
    // Never destroyed: kernels may ask it until the end.
    static auto& plans = *new KeptPlans;
    try {
        return make_device(std::unique_ptr<Api>(open(number, &plans)));
    } catch (const ApiFailure& failure) {
        throw RunError(Exit::mismatch,
                       fmt::format("the plan is for the device `cuda`: {} failed: {} ({})",
                                   failure.call, failure.text, failure.code),
                       fmt::format("look at what nvidia-smi says; {}", kOnCpu));
    }
}

}  // namespace dtnn::runtime::cuda
