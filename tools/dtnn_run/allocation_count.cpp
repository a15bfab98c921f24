#include "tools/dtnn_run/allocation_count.hpp"

#include <atomic>
#include <cerrno>
#include <cstddef>

namespace {
std::atomic<std::int64_t> count{0};

void note() {
    count.fetch_add(1, std::memory_order_relaxed);
}
}  // namespace

namespace dtnn {
std::int64_t allocation_count() {
    return count.load(std::memory_order_relaxed);
}
}  // namespace dtnn

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

// The sanitizer owns malloc, and tells those who ask. GCC ships the function, but not the header
// that declares it (sanitizer/allocator_interface.h).
extern "C" int __sanitizer_install_malloc_and_free_hooks(  // NOLINT(bugprone-reserved-identifier)
    void (*allocated)(const volatile void*, std::size_t), void (*freed)(const volatile void*));

namespace dtnn {
void begin_allocation_count() {
    __sanitizer_install_malloc_and_free_hooks([](const volatile void*, std::size_t) { note(); },
                                              [](const volatile void*) {});
}
}  // namespace dtnn

#elif defined(__GLIBC__)

// The names that a program's allocations go through, operator new's among them, in front of glibc's
// own entry points, as its headers declare them. What they give is glibc's, so its free() stays as
// it is.
extern "C" {
void* __libc_malloc(std::size_t);                 // NOLINT(bugprone-reserved-identifier)
void* __libc_calloc(std::size_t, std::size_t);    // NOLINT(bugprone-reserved-identifier)
void* __libc_realloc(void*, std::size_t);         // NOLINT(bugprone-reserved-identifier)
void* __libc_memalign(std::size_t, std::size_t);  // NOLINT(bugprone-reserved-identifier)

void* malloc(std::size_t bytes) noexcept {
    note();
    return __libc_malloc(bytes);
}
void* calloc(std::size_t number, std::size_t bytes) noexcept {
    note();
    return __libc_calloc(number, bytes);
}
void* realloc(void* old, std::size_t bytes) noexcept {
    note();
    return __libc_realloc(old, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
    note();
    return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
    note();
    return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** result, std::size_t alignment, std::size_t bytes) noexcept {
    const bool power = alignment != 0 && (alignment & (alignment - 1)) == 0;
    if (!power || alignment % sizeof(void*) != 0) return EINVAL;
    note();
    void* memory = __libc_memalign(alignment, bytes);
    if (memory == nullptr) return ENOMEM;
    *result = memory;
    return 0;
}
}

namespace dtnn {
void begin_allocation_count() {}
}  // namespace dtnn

#else

#include <cstdlib>
#include <new>

// Elsewhere only what C++ asks for is counted.
void* operator new(std::size_t bytes) {
    note();
    if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace dtnn {
void begin_allocation_count() {}
}  // namespace dtnn

#endif
