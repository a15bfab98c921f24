#include "runtime/device/device.hpp"

#include <fmt/format.h>

#include "runtime/base/run_error.hpp"
#include "runtime/device/cuda/cuda_device.hpp"

namespace dtnn::runtime {

std::unique_ptr<Device> open_device(const std::string& name, int threads, int local_rank) {
    if (name == "cpu") return open_cpu(threads);
    if (name == "cuda") return cuda::open_cuda(local_rank);
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
