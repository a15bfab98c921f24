#include "plan/forecast/rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "plan/rules/parallel.hpp"

namespace dtnn::plan {
namespace {

constexpr std::array kKernelRates = {
#define KERNEL_CLASS(name, unit, otherwise, doc) \
    KernelRate{KernelClass::name, #name, RateUnit::unit, KernelClass::otherwise, doc},
#include "plan/forecast/rates.def"
#undef KERNEL_CLASS
};

/// Null: of the general classes.
const KernelRate* rate_named(KernelClass kernel_class) {
    const auto found =
        std::find_if(kKernelRates.begin(), kKernelRates.end(),
                     [&](const KernelRate& one) { return one.kernel_class == kernel_class; });
    return found == kKernelRates.end() ? nullptr : &*found;
}

std::int64_t bytes_of(const Tensor& tensor) {
    return element_count(tensor.dims) * size_of(tensor.dtype);
}

/// Whether all that a program touches fits the caches of the cores that are built today; so what it
/// wrote at the step before is still there.
bool stays_in_caches(const Program& program) {
    std::vector<std::int64_t> ends;  // by buffer
    std::int64_t all = 0;
    for (const Tensor& tensor : program.tensors) {
        if (tensor.buffer < 0) continue;
        const auto buffer = std::size_t(tensor.buffer);
        if (buffer >= ends.size()) ends.resize(buffer + 1);
        const std::int64_t end = tensor.offset + bytes_of(tensor);
        if (end <= ends[buffer]) continue;
        all += end - ends[buffer];
        ends[buffer] = end;
        if (all > kCachedBytes) return false;
    }
    return true;
}

/// The machine's own number for the class; 0: not known.
double measured(const Machine& machine, std::string_view name) {
    const auto found = machine.kernels.find(std::string(name));
    if (found == machine.kernels.end()) return 0;
    const auto* real = std::get_if<double>(&found->second);
    return real == nullptr ? 0 : *real;
}

}  // namespace

std::span<const KernelRate> kernel_rates() {
    return kKernelRates;
}

RateUnit unit_of(KernelClass kernel_class) {
    if (const KernelRate* rate = rate_named(kernel_class)) return rate->unit;
    return kernel_class == KernelClass::memory ? RateUnit::bytes : RateUnit::flops;
}

KernelClass class_of(const Program& program, const Step& step) {
    if (step.kernel_class == KernelClass::products && stays_in_caches(program))
        return KernelClass::cached_products;
    if (step.kernel_class == KernelClass::updates && stays_in_caches(program))
        return KernelClass::cached_updates;
    return step.kernel_class;
}

double device_rate(const Gpus& gpus, const Target& target) {
    if (target.dtype == DType::f64) return gpus.f64_rate;
    switch (target.compute) {
        case Compute::full:
            return gpus.f32_rate;
        case Compute::tf32:
            return gpus.tf32_rate;
        case Compute::bf16_products:
        case Compute::bf16:
        case Compute::fp16:
            break;
    }
    return gpus.bf16_rate;
}

std::optional<std::string> missing_rates(const Machine& machine, const Target& target) {
    if (has_own_memory(target)) {
        if (machine.gpus.count > 0 && machine.gpus.memory_bandwidth > 0 &&
            device_rate(machine.gpus, target) > 0)
            return std::nullopt;
        return fmt::format(
            "the machine `{}` has no `gpus` with a memory_bandwidth and a rate of {}\nhelp: give "
            "its spec both; specs/machines has some of NVIDIA's",
            machine.name, numbers_of(target));
    }
    const char* missing = nullptr;
    if (machine.product_rate <= 0 && machine.convolution_rate <= 0) missing = "product_rate";
    if (machine.memory_bandwidth <= 0) missing = "memory_bandwidth";
    if (missing == nullptr) return std::nullopt;
    return fmt::format(
        "the machine `{}` has no {}\nhelp: `dtnnc calibrate -o machine.yaml`, run there, measures "
        "it",
        machine.name, missing);
}

RankRates::RankRates(const Machine& machine, int threads, int ranks_on_node, DType dtype)
    : machine_(&machine) {
    const double efficiency = machine.thread_efficiency > 0 ? machine.thread_efficiency : 1;
    speed_up_ = 1 + (std::max(threads, 1) - 1) * efficiency;
    precision_ = dtype == DType::f64 ? 0.5 : 1;
    node_share_ = machine.node_memory_bandwidth / std::max(ranks_on_node, 1);
    bandwidth_ = machine.memory_bandwidth * speed_up_;
    if (node_share_ > 0) bandwidth_ = std::min(bandwidth_, node_share_);
}

RankRates::RankRates(const Machine& machine, const Target& target)
    : machine_(&machine),
      device_rate_(plan::device_rate(machine.gpus, target)),
      bandwidth_(machine.gpus.memory_bandwidth) {}

double RankRates::device_seconds(KernelClass kernel_class, double flops, double bytes) const {
    const double moving = bytes / bandwidth_;
    const bool computes = unit_of(kernel_class) == RateUnit::flops;
    return machine_->gpus.step_overhead +
           (computes ? std::max(flops / device_rate_, moving) : moving);
}

double RankRates::rate_of(KernelClass kernel_class) const {
    const Machine& machine = *machine_;
    while (const KernelRate* rate = rate_named(kernel_class)) {
        if (const double given = measured(machine, rate->name); given > 0) return given;
        kernel_class = rate->otherwise;
    }
    if (kernel_class == KernelClass::memory) return machine.memory_bandwidth;
    double rate = machine.product_rate, other = machine.convolution_rate;
    if (kernel_class == KernelClass::convolutions) std::swap(rate, other);
    return rate > 0 ? rate : other;
}

double RankRates::step_seconds(const Program& program, const Step& step, double scale) const {
    const double overhead =
        device_rate_ > 0 ? machine_->gpus.step_overhead : machine_->step_overhead;
    if (is_collective(step.op)) return overhead;
    double flops = double(step.flops), bytes = double(step.bytes);
    if (scale != 1) {
        double of_batch = 0, all = 0;
        for (const std::vector<int>* list : {&step.sources, &step.destinations}) {
            for (const int index : *list) {
                const Tensor& tensor = program.tensors[std::size_t(index)];
                const auto size = double(bytes_of(tensor));
                all += size;
                if (!tensor.dims.empty() && tensor.dims[0] == program.batch) of_batch += size;
            }
        }
        const double share = all > 0 ? of_batch / all : 0;
        bytes *= 1 - share + share * scale;
        if (of_batch > 0) flops *= scale;
    }
    if (device_rate_ > 0) return device_seconds(step.kernel_class, flops, bytes);
    const KernelClass kernel_class = class_of(program, step);
    const double rate = rate_of(kernel_class) * speed_up_ * precision_;
    const bool computes = unit_of(kernel_class) == RateUnit::flops;
    if (computes) return overhead + flops / rate + bytes / bandwidth_;
    // A rate in bytes of a class is the same in f64 as in f32: f64 has twice the bytes.
    double class_rate = rate / precision_;
    if (node_share_ > 0) class_rate = std::min(class_rate, node_share_);
    return overhead + bytes / class_rate;
}

}  // namespace dtnn::plan
