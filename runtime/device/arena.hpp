#pragma once
/// The one region of memory that a run's tensors live in.

#include <cstddef>
#include <cstdint>
#include <string>

namespace dtnn::runtime {

/// `bytes` of zeros, aligned to a page at least and backed by huge pages where the system has them.
/// The mapping is rounded up, what is handed out is not. Failure is a RunError that names the
/// bytes.
class Arena {
  public:
    Arena() = default;
    /// `purpose` is for messages: "the plan's arena".
    Arena(std::int64_t bytes, const std::string& purpose);
    ~Arena();
    Arena(Arena&& other) noexcept;
    Arena& operator=(Arena&& other) noexcept;

    std::byte* data() const { return data_; }
    std::int64_t bytes() const { return bytes_; }

  private:
    std::byte* data_ = nullptr;
    std::int64_t bytes_ = 0;
    std::int64_t mapped_ = 0;
    std::byte* mapping_ = nullptr;
};

}  // namespace dtnn::runtime
