#pragma once
/// Where plans of NVIDIA's libraries outlive the process, because making one can take a second
/// (engines that are compiled when they are asked for).

#include <optional>
#include <string>

namespace dtnn::kernels::cuda {

/// There is machine code in what it keeps: whoever has one answers for who could write there. What
/// it loses is made again.
class PlanStore {
  public:
    virtual ~PlanStore() = default;
    /// What was put there under this key, a line of text.
    virtual std::optional<std::string> find(const std::string& key) = 0;
    virtual void put(const std::string& key, const std::string& plan) = 0;
};

}  // namespace dtnn::kernels::cuda
