#pragma once
/// Subnormal numbers (below 1.2e-38 in float, 2.2e-308 in double), on which processors work for a
/// hundred cycles or more each: where they are read and made as 0. The mode belongs to a thread.

#include "kernels/architecture.hpp"

namespace dtnn::kernels {

/// The calling thread flushes them while this lives, where its processor can.
class SubnormalsFlushed {
  public:
    explicit SubnormalsFlushed(bool flush) : before_(architecture::number_mode()) {
        if (flush) architecture::set_number_mode(before_ | architecture::kFlushes);
    }
    ~SubnormalsFlushed() { architecture::set_number_mode(before_); }
    SubnormalsFlushed(const SubnormalsFlushed&) = delete;
    SubnormalsFlushed& operator=(const SubnormalsFlushed&) = delete;

  private:
    unsigned before_;
};

}  // namespace dtnn::kernels
