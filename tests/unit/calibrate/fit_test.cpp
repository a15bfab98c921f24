// Rates and links fitted to times that were made from known ones.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <variant>

#include "plan/forecast/rates.hpp"
#include "plan/rules/exchange_model.hpp"
#include "tools/dtnnc_runtime/calibrate/calibrate.hpp"

namespace dtnn::tools::fit_test {
namespace {

using Times = std::vector<std::pair<std::int64_t, double>>;

Times times_of(const plan::Link& link, int ranks) {
    Times times;
    for (const std::int64_t bytes : {4LL, 16LL << 10, 256LL << 10, 4LL << 20, 16LL << 20})
        times.emplace_back(bytes, plan::all_reduce_seconds(link, ranks, bytes));
    return times;
}

/// Steps of a program that take what a machine of these rates takes for them.
class Measured {
  public:
    /// Measures a program that touches so many bytes.
    explicit Measured(plan::Machine machine, std::int64_t bytes = 2 * plan::kCachedBytes)
        : machine_(std::move(machine)) {
        plan::Tensor samples, filters;
        samples.dims = {64, 64, 8, 8};
        filters.dims = {64, 64, 3, 3};
        plan::Tensor all;
        all.dims = {bytes / 4};
        samples.buffer = filters.buffer = all.buffer = 0;
        program_.tensors = {samples, filters, all};
    }
    void step(plan::KernelClass kernel_class, std::int64_t flops, std::int64_t bytes,
              double slower = 1) {
        plan::Step& step = kept_.emplace_back();
        step.kernel_class = kernel_class;
        step.sources = {0, 1};
        step.destinations = {0};
        step.flops = flops;
        step.bytes = bytes;
        const plan::RankRates rates(machine_, 1, 1, DType::f32);
        steps.push_back({&program_, &step, slower * rates.step_seconds(program_, step, 1)});
    }
    double foreseen(const plan::Machine& machine, std::size_t index) const {
        const plan::RankRates rates(machine, 1, 1, DType::f32);
        return rates.step_seconds(program_, *steps[index].step, 1);
    }
    std::vector<MeasuredStep> steps;

  private:
    plan::Machine machine_;
    plan::Program program_;
    std::deque<plan::Step> kept_;
};

plan::Machine known() {
    plan::Machine machine;
    machine.product_rate = 80e9;
    machine.convolution_rate = 120e9;
    machine.memory_bandwidth = 10e9;
    machine.step_overhead = 2e-6;
    machine.kernels = {{"updates", 8e9}, {"dropout", 3e9}};
    return machine;
}

constexpr std::int64_t kFlops = 1'000'000'000;

}  // namespace

TEST_CASE("a link is found in the times that the model gives for it") {
    for (const int ranks : {2, 3, 4, 8, 13}) {
        for (const plan::Link& link : {plan::Link{1e-6, 6e9}, plan::Link{20e-6, 1.25e9}}) {
            CAPTURE(ranks);
            const ReductionFit fit = fit_reduction(ranks, times_of(link, ranks));
            CHECK(fit.latency == doctest::Approx(link.latency).epsilon(1e-9));
            CHECK(fit.bandwidth == doctest::Approx(link.bandwidth).epsilon(1e-9));
        }
    }
}

TEST_CASE("a link is found in times that scatter") {
    const plan::Link link{5e-6, 3e9};
    Times times = times_of(link, 2);
    for (std::size_t i = 0; i < times.size(); ++i)
        times[i].second *= i % 2 == 0 ? 1.05 : 0.95;
    const ReductionFit fit = fit_reduction(2, times);
    CHECK(fit.latency == doctest::Approx(link.latency).epsilon(0.1));
    CHECK(fit.bandwidth == doctest::Approx(link.bandwidth).epsilon(0.1));
}

TEST_CASE("times that are no line give a link all the same, too few give none") {
    // Large messages faster than the line through zero: it would begin below zero.
    const ReductionFit bent = fit_reduction(2, {{4, 1e-6}, {1 << 20, 1e-3}, {1 << 24, 9e-3}});
    CHECK(bent.latency > 0);
    CHECK(bent.bandwidth > 0);
    const ReductionFit falling = fit_reduction(2, {{4, 4e-6}, {8, 2e-6}, {16, 1e-6}});
    CHECK(falling.latency > 0);
    CHECK(falling.bandwidth == doctest::Approx(16 / 1e-6));
    for (const ReductionFit& none : {fit_reduction(2, {}), fit_reduction(2, {{4, 1e-6}}),
                                     fit_reduction(1, {{4, 1}, {8, 2}})}) {
        CHECK(none.latency == 0);
        CHECK(none.bandwidth == 0);
    }
}

TEST_CASE("rates are found in the times that they make") {
    const plan::Machine machine = known();
    Measured measured(machine);
    for (int i = 0; i < 3; ++i)
        measured.step(plan::KernelClass::memory, 0, 64);  // nothing but its overhead
    measured.step(plan::KernelClass::products, kFlops, 1'000'000);
    measured.step(plan::KernelClass::products, kFlops / 10, 2'000'000);
    measured.step(plan::KernelClass::convolutions, kFlops, 3'000'000);
    measured.step(plan::KernelClass::updates, 0, 50'000'000);
    measured.step(plan::KernelClass::dropout, 0, 20'000'000);
    plan::Machine fitted;
    fitted.memory_bandwidth = machine.memory_bandwidth;
    fit_rates(measured.steps, fitted);
    CHECK(fitted.step_overhead == doctest::Approx(machine.step_overhead).epsilon(0.01));
    CHECK(fitted.product_rate == doctest::Approx(machine.product_rate).epsilon(0.01));
    CHECK(fitted.convolution_rate == doctest::Approx(machine.convolution_rate).epsilon(0.01));
    CHECK(fitted.memory_bandwidth == machine.memory_bandwidth);
    REQUIRE(fitted.kernels.count("updates") == 1);
    CHECK(std::get<double>(fitted.kernels.at("updates")) == doctest::Approx(8e9).epsilon(0.01));
    CHECK(std::get<double>(fitted.kernels.at("dropout")) == doctest::Approx(3e9).epsilon(0.01));
    CHECK(fitted.kernels.size() == 2);
    // The times come back from the rates, by a forecast.
    for (std::size_t i = 0; i < measured.steps.size(); ++i)
        CHECK(measured.foreseen(fitted, i) ==
              doctest::Approx(measured.steps[i].seconds).epsilon(0.02));
}

TEST_CASE("rates are of the work of all steps, the longer ones counting for more") {
    Measured measured(known());
    measured.step(plan::KernelClass::memory, 0, 64);
    measured.step(plan::KernelClass::products, 9 * kFlops, 4096);
    measured.step(plan::KernelClass::products, kFlops, 4096,
                  10);  // ten times as long as it should take
    plan::Machine fitted;
    fitted.memory_bandwidth = 10e9;
    fit_rates(measured.steps, fitted);
    CHECK(fitted.product_rate == doctest::Approx(80e9 * 10 / 19).epsilon(0.01));
}

TEST_CASE("operands that were in the caches do not make a rate without end") {
    Measured measured(known());
    measured.step(plan::KernelClass::memory, 0, 64);
    measured.step(plan::KernelClass::convolutions, kFlops, 0);
    // As long as the memory would take for its operands alone, though it did not fetch them.
    const_cast<plan::Step*>(measured.steps.back().step)->bytes = 90'000'000;
    plan::Machine fitted;
    fitted.memory_bandwidth = 10e9;
    fit_rates(measured.steps, fitted);
    CHECK(fitted.convolution_rate == doctest::Approx(120e9 / 0.3).epsilon(0.01));
}

TEST_CASE("programs that stay in the caches have rates of their own") {
    plan::Machine machine = known();
    machine.kernels.emplace("cached_products", 200e9);
    machine.kernels.emplace("cached_updates", 150e9);
    for (const bool small : {false, true}) {
        CAPTURE(small);
        Measured measured(machine, small ? plan::kCachedBytes : plan::kCachedBytes + 4);
        measured.step(plan::KernelClass::memory, 0, 64);
        measured.step(plan::KernelClass::products, kFlops, 4096);
        measured.step(plan::KernelClass::updates, 0, 50'000'000);
        plan::Machine fitted;
        fitted.memory_bandwidth = machine.memory_bandwidth;
        fit_rates(measured.steps, fitted);
        CHECK((fitted.product_rate == 0) == small);
        REQUIRE(fitted.kernels.count(small ? "cached_products" : "updates") == 1);
        CHECK(std::get<double>(fitted.kernels.at(small ? "cached_updates" : "updates")) ==
              doctest::Approx(small ? 150e9 : 8e9).epsilon(0.01));
        CHECK(measured.foreseen(fitted, 1) ==
              doctest::Approx(measured.steps[1].seconds).epsilon(0.02));
    }
}

TEST_CASE("what rates miss by is the error of the forecasts made with them") {
    Measured measured(known());
    measured.step(plan::KernelClass::products, kFlops, 4096, 1.25);
    plan::Machine fitted = known();
    CHECK(compute_error_of(measured.steps, fitted) == doctest::Approx(0.25).epsilon(1e-6));
    Measured exact(known());
    exact.step(plan::KernelClass::products, kFlops, 4096);
    CHECK(compute_error_of(exact.steps, fitted) == doctest::Approx(0).epsilon(1e-9));
    CHECK(compute_error_of({}, fitted) == 0);
    const plan::Link link{5e-6, 3e9};
    CHECK(fit_reduction(2, times_of(link, 2)).error == doctest::Approx(0).epsilon(1e-6));
    Times times = times_of(link, 2);
    for (std::size_t i = 0; i < times.size(); ++i)
        times[i].second *= i % 2 == 0 ? 1.1 : 0.9;
    const double error = fit_reduction(2, times).error;
    CHECK(error > 0.05);
    CHECK(error < 0.2);
}

TEST_CASE("a busy machine shows in spread, threads and load") {
    CHECK(busy_signs(1.03, 7.1, 8, 0.3).empty());
    CHECK(busy_signs(1.03, 0, 1, 0.1).empty());
    CHECK(busy_signs(1.4, 7.1, 8, 0.3).size() == 1);
    // As fast as threads that share nothing: the one thread was disturbed.
    CHECK(busy_signs(1.03, 8.0, 8, 0.3).size() == 1);
    CHECK(busy_signs(1.03, 0.9, 8, 0.3).size() == 1);
    CHECK(busy_signs(1.03, 7.1, 8, 5.0).size() == 1);
    CHECK(busy_signs(2, 2, 2, 4).size() == 3);
}

TEST_CASE("nothing measured is nothing known") {
    plan::Machine fitted;
    fitted.memory_bandwidth = 10e9;
    fit_rates({}, fitted);
    CHECK(fitted.product_rate == 0);
    CHECK(fitted.convolution_rate == 0);
    CHECK(fitted.step_overhead == 0);
    CHECK(fitted.kernels.empty());
    CHECK(rounded(0) == 0);
    CHECK(rounded(-1) == 0);
    CHECK(rounded(123456) == doctest::Approx(123000));
    CHECK(rounded(0.0012345) == doctest::Approx(0.00123));
}

}  // namespace dtnn::tools::fit_test
