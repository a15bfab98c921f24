// Rates and links from times: no more than arithmetic, so that made-up times can test it.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "plan/forecast/rates.hpp"
#include "tools/dtnnc_runtime/calibrate/calibrate.hpp"

namespace dtnn::tools {
namespace {

/// Steps that move no more than this show what a step costs that does nothing.
constexpr std::int64_t kIdleBytes = 2048;
/// The least share of a step's time that is computing, whatever its bytes would take: they may have
/// been in the caches.
constexpr double kLeastComputing = 0.3;

struct Sum {
    double work = 0;  ///< flops or bytes
    double seconds = 0;
    double rate() const { return seconds > 0 ? work / seconds : 0; }
};

double idle_seconds(const std::vector<MeasuredStep>& steps) {
    std::vector<double> times;
    for (const MeasuredStep& one : steps)
        if (one.step->bytes <= kIdleBytes) times.push_back(one.seconds);
    if (times.empty()) return 0;
    std::nth_element(times.begin(), times.begin() + std::ptrdiff_t(times.size() / 2), times.end());
    return times[times.size() / 2];
}

double error_of(const std::vector<double>& ratios) {
    double sum = 0;
    for (const double ratio : ratios)
        sum += std::log(ratio) * std::log(ratio);
    return ratios.empty() ? 0 : std::exp(std::sqrt(sum / double(ratios.size()))) - 1;
}

/// Repetitions of a step on a machine of one's own differ by some hundredths.
constexpr double kMostSpread = 1.15;
constexpr double kMostLoad = 0.25;  ///< of a core

}  // namespace

double rounded(double value) {
    if (!(value > 0)) return 0;
    const double unit = std::pow(10, std::floor(std::log10(value)) - 2);
    return std::round(value / unit) * unit;
}

void fit_rates(const std::vector<MeasuredStep>& steps, plan::Machine& machine) {
    const double idle = idle_seconds(steps);
    machine.step_overhead = idle;
    std::map<plan::KernelClass, Sum> classes;
    for (const MeasuredStep& one : steps) {
        const plan::KernelClass kernel_class = plan::class_of(*one.program, *one.step);
        if (kernel_class == plan::KernelClass::memory) continue;  // memory's own bandwidth
        const bool computes = plan::unit_of(kernel_class) == plan::RateUnit::flops;
        Sum& sum = classes[kernel_class];
        const double busy = std::max(one.seconds - idle, 0.1 * one.seconds);
        if (computes) {
            const double moving = double(one.step->bytes) / machine.memory_bandwidth;
            sum.work += double(one.step->flops);
            sum.seconds += std::max(busy - moving, kLeastComputing * busy);
        } else if (one.step->bytes > kIdleBytes) {
            sum.work += double(one.step->bytes);
            sum.seconds += busy;
        }
    }
    machine.product_rate = rounded(classes[plan::KernelClass::products].rate());
    machine.convolution_rate = rounded(classes[plan::KernelClass::convolutions].rate());
    machine.step_overhead = rounded(idle);
    machine.kernels.clear();
    for (const plan::KernelRate& one : plan::kernel_rates())
        if (const Sum& sum = classes[one.kernel_class]; sum.rate() > 0)
            machine.kernels.emplace(std::string(one.name), rounded(sum.rate()));
}

ReductionFit fit_reduction(int ranks, const std::vector<std::pair<std::int64_t, double>>& times) {
    ReductionFit fit;
    if (ranks < 2 || times.size() < 2) return fit;
    const double rounds = 2 * std::bit_width(unsigned(ranks) - 1);
    const double share = 2.0 * (ranks - 1) / ranks;
    // t = rounds alpha + share bytes beta, by least squares of the relative errors.
    double aa = 0, ab = 0, bb = 0, at = 0, bt = 0;
    for (const auto& [bytes, seconds] : times) {
        const double a = rounds / seconds, b = share * double(bytes) / seconds;
        aa += a * a, ab += a * b, bb += b * b, at += a, bt += b;
    }
    const double determinant = aa * bb - ab * ab;
    if (determinant > 0) {
        fit.latency = (at * bb - bt * ab) / determinant;
        fit.bandwidth = determinant / (bt * aa - at * ab);
    }
    // Times that are no line give these: the smallest is latency, the largest bandwidth.
    if (!(fit.latency > 0)) fit.latency = times.front().second / rounds;
    if (!(fit.bandwidth > 0))
        fit.bandwidth = share * double(times.back().first) / times.back().second;
    std::vector<double> ratios;
    for (const auto& [bytes, seconds] : times)
        ratios.push_back((rounds * fit.latency + share * double(bytes) / fit.bandwidth) / seconds);
    fit.error = error_of(ratios);
    return fit;
}

double compute_error_of(const std::vector<MeasuredStep>& steps, const plan::Machine& machine) {
    std::map<const plan::Program*, std::pair<double, double>> programs;  // foreseen and measured
    const plan::RankRates rates(machine, 1, 1, DType::f32);
    for (const MeasuredStep& one : steps) {
        auto& [foreseen, measured] = programs[one.program];
        foreseen += rates.step_seconds(*one.program, *one.step, 1);
        measured += one.seconds;
    }
    std::vector<double> ratios;
    for (const auto& [program, seconds] : programs)
        if (seconds.second > 0) ratios.push_back(seconds.first / seconds.second);
    return error_of(ratios);
}

std::vector<std::string> busy_signs(double spread, double speed_up, int cores, double load) {
    std::vector<std::string> signs;
    if (spread > kMostSpread)
        signs.push_back(
            fmt::format("the same steps took {:.2f} times their least time in the median", spread));
    if (cores > 1 && speed_up > 0 && speed_up <= 1)
        signs.push_back(
            fmt::format("{} threads were {:.2f} times as fast as one", cores, speed_up));
    // Threads share caches and memory: as many times as fast is more than there can be, so that the
    // one thread was disturbed.
    if (cores > 1 && speed_up >= cores)
        signs.push_back(
            fmt::format("{} threads were {:.2f} times as fast as one, more than cores "
                        "that share anything can be",
                        cores, speed_up));
    if (load > kMostLoad * cores)
        signs.push_back(
            fmt::format("{:.1f} processes wanted the {} cores before it began", load, cores));
    return signs;
}

}  // namespace dtnn::tools
