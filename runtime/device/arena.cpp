#include "runtime/device/arena.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <system_error>
#include <utility>

#include "base/quantity_text.hpp"
#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {
namespace {
constexpr std::int64_t kHugePage = std::int64_t{2} << 20;
}

Arena::Arena(std::int64_t bytes, const std::string& purpose) : bytes_(bytes) {
    if (bytes <= 0) return;
    const auto failure = [&](int error) {
        return RunError(
            Exit::failed,
            fmt::format("cannot allocate {} for {}: {}", bytes_text(double(bytes)), purpose,
                        std::error_code(error, std::generic_category()).message()),
            "run on a machine with more free memory, raise the limit (ulimit -v), or "
            "compile with a smaller training.batch_size");
    };
    if (bytes > std::numeric_limits<std::int64_t>::max() - 2 * kHugePage) throw failure(ENOMEM);
    // Small regions stay on ordinary pages: half a huge page wasted would be more than they are.
    const bool huge = bytes >= kHugePage;
    const std::int64_t page = huge ? kHugePage : std::int64_t(::sysconf(_SC_PAGESIZE));
    mapped_ = (bytes + page - 1) / page * page + (huge ? kHugePage : 0);
    void* mapping = ::mmap(nullptr, std::size_t(mapped_), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) {
        mapped_ = 0;
        throw failure(errno);
    }
    mapping_ = static_cast<std::byte*>(mapping);
    data_ = mapping_;
    if (huge) {
        const auto address = reinterpret_cast<std::uintptr_t>(mapping_);
        data_ += (std::uintptr_t(kHugePage) - address % std::uintptr_t(kHugePage)) %
                 std::uintptr_t(kHugePage);
        // A wish; without it the run is slower, not wrong.
        ::madvise(data_, std::size_t(mapped_ - (data_ - mapping_)), MADV_HUGEPAGE);
    }
}

Arena::~Arena() {
    if (mapping_ != nullptr) ::munmap(mapping_, std::size_t(mapped_));
}

Arena::Arena(Arena&& other) noexcept {
    *this = std::move(other);
}

Arena& Arena::operator=(Arena&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(mapped_, other.mapped_);
    std::swap(mapping_, other.mapping_);
    return *this;
}

}  // namespace dtnn::runtime
