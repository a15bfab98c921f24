#pragma once
/// How fast a machine does the steps of a program: a roofline for each class of kernels.
///
/// A step takes
///
///     overhead + flops / rate + bytes / bandwidth      matrix products and convolutions
///     overhead + bytes / rate                          everything else
///
/// where flops and bytes are the step's (the least traffic: every operand once) and the rate is
/// that of its class, as `dtnnc calibrate` measures it. The roofline of Williams, Waterman and
/// Patterson ("Roofline: an insightful visual performance model", CACM 52(4), 2009) takes the
/// greater of the two times; their sum fits our kernels better, which stream their operands through
/// the same core that computes. What stays in the caches from step to step is in
/// classes of its own.
///
/// Threads: t threads are 1 + (t - 1) * thread_efficiency as fast. The memory of a node is shared:
/// all ranks of a node together read and write at most node_memory_bandwidth. f64 has half the
/// rates of f32.
///
/// A device is modelled by the roofline as it was published, because there another step's operands
/// are on their way while one computes: a step takes
///
///     overhead + max(flops / rate, bytes / bandwidth)
///
/// by the rate of what the plan computes with, and everything but products and convolutions by its
/// memory alone.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "plan/plan.hpp"

namespace dtnn::plan {

enum class RateUnit { flops, bytes };

/// A class that machines may have a rate of its own for: a field of the machine's `kernels`.
struct KernelRate {
    KernelClass kernel_class;
    std::string_view name;  ///< "weight_gradients"
    RateUnit unit;
    KernelClass otherwise;  ///< whose rate counts when the machine does not know this one's
    std::string_view doc;
};
std::span<const KernelRate> kernel_rates();
RateUnit unit_of(KernelClass kernel_class);

/// Programs that touch no more than this keep it in the caches.
inline constexpr std::int64_t kCachedBytes = std::int64_t{16} << 20;

/// The step's class, or its twin for programs that stay in the caches.
KernelClass class_of(const Program& program, const Step& step);

/// The first thing that the machine's spec must say, and does not, before anything can be foreseen
/// on it, as a fact and a remedy; nothing when it says enough.
std::optional<std::string> missing_rates(const Machine& machine, const Target& target);

/// flop/s of products and convolutions on a device, by what the plan computes with; 0: not known.
double device_rate(const Gpus& gpus, const Target& target);

/// A machine as one rank has it.
class RankRates {
  public:
    /// `ranks_on_node` share the node's memory.
    RankRates(const Machine& machine, int threads, int ranks_on_node, DType dtype);
    /// The rates of a rank with a device.
    RankRates(const Machine& machine, const Target& target);

    /// Seconds of a step when it is done for `scale` times its program's batch: what has the batch
    /// as its first axis grows with it, the rest (weights) does not.
    double step_seconds(const Program& program, const Step& step, double scale) const;

    double bandwidth() const { return bandwidth_; }  ///< bytes/s of this rank

  private:
    double rate_of(KernelClass kernel_class) const;
    double device_seconds(KernelClass kernel_class, double flops, double bytes) const;

    const Machine* machine_;
    double device_rate_ = 0;  ///< flop/s; 0: the rank has no device
    double speed_up_ = 1;
    double precision_ = 1;
    double bandwidth_ = 0;
    double node_share_ = 0;  ///< bytes/s; 0: not known
};

}  // namespace dtnn::plan
