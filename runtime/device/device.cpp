#include "runtime/device/device.hpp"

#include <fmt/format.h>

#include "runtime/base/run_error.hpp"
#include "runtime/device/cuda/cuda_device.hpp"

namespace dtnn::runtime {

namespace {

/// The devices that this program can open, by their names in plan/devices.cpp.
struct KnownDevice {
    std::string_view name;
    void (*need)();
    std::unique_ptr<Device> (*open)(int threads, int local_rank);
};

constexpr KnownDevice kKnownDevices[] = {
    {"cpu", [] {}, [](int threads, int) { return open_cpu(threads); }},
    {"cuda", cuda::need_cuda, [](int, int local_rank) { return cuda::open_cuda(local_rank); }},
};

const KnownDevice* known_device(std::string_view name) {
    for (const KnownDevice& device : kKnownDevices)
        if (device.name == name) return &device;
    return nullptr;
}

}  // namespace

bool need_device(const std::string& name) {
    const KnownDevice* device = known_device(name);
    if (device != nullptr) device->need();
    return device != nullptr;
}

std::unique_ptr<Device> open_device(const std::string& name, int threads, int local_rank) {
    if (const KnownDevice* device = known_device(name)) return device->open(threads, local_rank);
    throw RunError(Exit::mismatch, fmt::format("this program has no device `{}`", name),
                   "compile the job with --target cpu");
}

HostView::HostView(Device& device, std::byte* memory, std::size_t bytes, Access access)
    : device_(device), memory_(memory), access_(access), bytes_(memory, bytes) {
    if (device.is_host()) return;
    copy_ = std::make_unique<std::byte[]>(bytes);
    bytes_ = {copy_.get(), bytes};
    device.read(bytes_, memory_);
}

HostView::~HostView() noexcept(false) {
    if (copy_ && access_ == Access::write) device_.write(memory_, bytes_);
}

}  // namespace dtnn::runtime
