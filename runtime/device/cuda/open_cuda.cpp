#include <fmt/format.h>

#include "runtime/base/plugin.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/device/cuda/cuda_device.hpp"
#include "runtime/device/cuda/library.hpp"

namespace dtnn::runtime::cuda {
namespace {

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
    const auto open = plugin_function<Api*(int)>(plugin, kOpenEntry);
    try {
        return make_device(std::unique_ptr<Api>(open(number)));
    } catch (const ApiFailure& failure) {
        throw RunError(Exit::mismatch,
                       fmt::format("the plan is for the device `cuda`: {} failed: {} ({})",
                                   failure.call, failure.text, failure.code),
                       fmt::format("look at what nvidia-smi says; {}", kOnCpu));
    }
}

}  // namespace dtnn::runtime::cuda
