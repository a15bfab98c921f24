#pragma once
/// The network on which the devices of ranks that are threads meet.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn::runtime::cuda {

/// A rank's part of an exchange waits for the others', of which all are to be the same.
class HostNetwork {
  public:
    explicit HostNetwork(int ranks) : data_(std::size_t(ranks)) {}

    int ranks() const { return int(data_.size()); }
    /// Waits for all ranks; empty, or what went wrong.
    std::string exchange(int rank, plan::CollectiveKind kind, std::byte* data, std::int64_t count,
                         DType dtype);
    /// The rank comes no more.
    void leave();

  private:
    struct What {
        plan::CollectiveKind kind{};
        std::int64_t count = 0;
        DType dtype{};
        bool operator==(const What&) const = default;
    };
    template <class T>
    void carry(const What& what) const;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::byte*> data_;  // by rank
    std::size_t arrived_ = 0;
    std::int64_t done_ = 0;
    std::optional<What> what_;
    std::string problem_;
    bool left_ = false;
};

}  // namespace dtnn::runtime::cuda
