#include "plan/devices.hpp"

#include <algorithm>

namespace dtnn::plan {

bool DeviceTraits::does(Compute compute) const {
    return compute == Compute::full ||
           std::find(computes.begin(), computes.end(), compute) != computes.end();
}

std::span<const DeviceTraits> devices() {
    static const DeviceTraits list[] = {
        {.name = "cpu",
         .doc = "",
         .own_memory = false,
         .instruction_sets = true,
         .threads = true,
         .computes = {Compute::bf16_products},
         .who = "the cpu does",
         .how = "the cpu computes in the dtype, or rounds the factors of products to bf16",
         .filters_like_images = false,
         .expression_epilogues = true,
         .sums_in_convolutions = true,
         .joins_launches = false,
         .compressed_exchanges = true,
         .tunes_kernels = true},
        {.name = "cuda",
         .doc = "which is for GPUs",
         .own_memory = true,
         .instruction_sets = false,
         .threads = false,
         .computes = {Compute::bf16, Compute::tf32, Compute::fp16},
         .who = "devices do",
         .how = "devices round values",
         .filters_like_images = true,
         .expression_epilogues = false,
         .sums_in_convolutions = false,
         .joins_launches = true,
         .compressed_exchanges = false,
         .tunes_kernels = false},
    };
    return list;
}

std::vector<std::string> device_names() {
    std::vector<std::string> names;
    for (const DeviceTraits& device : devices())
        names.emplace_back(device.name);
    return names;
}

const DeviceTraits* find_device(std::string_view name) {
    for (const DeviceTraits& device : devices())
        if (device.name == name) return &device;
    return nullptr;
}

const DeviceTraits& traits_of(std::string_view device) {
    static const DeviceTraits unknown;
    const DeviceTraits* found = find_device(device);
    return found != nullptr ? *found : unknown;
}

const DeviceTraits* device_that_does(Compute compute) {
    for (const DeviceTraits& device : devices())
        if (device.does(compute)) return &device;
    return nullptr;
}

}  // namespace dtnn::plan
