#pragma once
/// Memory of the device that the host plays.

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/device/cuda/api.hpp"

namespace dtnn::runtime::cuda {

constexpr std::byte kAnything{0xFF};  // not a number, in either precision

/// Memory that work alone may touch: elsewhere it is closed. Where it has room for large pages it
/// lies in them, because every page is opened and closed at every wait.
class DeviceMemory {
  public:
    explicit DeviceMemory(std::int64_t bytes)
        : size_((std::size_t(std::max<std::int64_t>(bytes, 1)) + kPage - 1) / kPage * kPage) {
        const std::size_t room = size_ + kLargePage;
        void* const mapped =
            ::mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapped == MAP_FAILED) throw ApiFailure{"cudaMalloc", 2, "out of memory", true};
        auto* const begin = static_cast<std::byte*>(mapped);
        const std::size_t before =
            kLargePage - std::size_t(reinterpret_cast<std::uintptr_t>(begin) % kLargePage);
        first_ = begin + before;
        // What lies on either side is nobody's.
        ::munmap(begin, before);
        if (before < kLargePage) ::munmap(first_ + size_, kLargePage - before);
        ::madvise(first_, size_, MADV_HUGEPAGE);
        std::memset(first_, int(kAnything), size_);
        open(false);
    }
    ~DeviceMemory() { ::munmap(first_, size_); }
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;

    std::byte* data() const { return first_; }
    void open(bool open) const {
        ::mprotect(first_, size_, open ? PROT_READ | PROT_WRITE : PROT_NONE);
    }

  private:
    static constexpr std::size_t kPage = 4096, kLargePage = std::size_t{1} << 21;

    std::byte* first_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace dtnn::runtime::cuda
