#pragma once
/// Division by a number that all threads share: a product and a shift, because devices have no
/// instruction for it.

#include <cstdint>

#include "base/device.hpp"

namespace dtnn::kernels::cuda {

/// For numbers below 2^31 Granlund and Montgomery, "Division by invariant integers using
/// multiplication" (PLDI 1994), figure 4.1; for others, or by others, plain division.
class Divider {
  public:
    /// `by` may be 0 where nothing is divided.
    explicit Divider(std::int64_t by) : by_(by) {
        if (by <= 0 || by >= kLimit) return;
        while (std::int64_t(1) << shift_ < by)
            ++shift_;
        const std::uint64_t above = (std::uint64_t(1) << shift_) - std::uint64_t(by);
        magic_ = std::uint32_t((above << 32) / std::uint64_t(by) + 1);
    }
    DTNN_DEVICE std::int64_t by() const { return by_; }
    /// number / by, number >= 0
    DTNN_DEVICE std::int64_t quotient(std::int64_t number) const {
        if (number >= kLimit || magic_ == 0) return number / by_;
        const auto n = std::uint32_t(number);
        return std::int64_t((std::uint32_t(std::uint64_t(n) * magic_ >> 32) + n) >> shift_);
    }
    DTNN_DEVICE std::int64_t remainder(std::int64_t number) const {
        return number - quotient(number) * by_;
    }

  private:
    static constexpr std::int64_t kLimit = std::int64_t(1) << 31;
    std::int64_t by_;
    std::uint32_t magic_ = 0;  ///< 0: none
    int shift_ = 0;
};

}  // namespace dtnn::kernels::cuda
