/// The rates that `dtnnc calibrate --target cuda` makes of times; and that its networks run on a
/// device.

#include <doctest/doctest.h>

#include <cmath>

#include "runtime/device/cuda/cuda_device.hpp"
#include "tests/gpu/host_api.hpp"
#include "tools/dtnnc_runtime/calibrate/calibrate_devices.hpp"

namespace dtnn::calibrate_device_test {
namespace {

/// Within the three digits that are kept, and what is neglected of small terms.
bool near(double a, double b, double bound) {
    return std::fabs(a - b) <= bound * b;
}

TEST_CASE("the figures of a device are those that explain what was measured") {
    plan::Machine machine;
    machine.gpus.count = 1;
    machine.gpus.step_overhead = 3e-6;
    machine.gpus.memory_bandwidth = 2.8e12;
    machine.gpus.f32_rate = 43e12;
    machine.gpus.f64_rate = 33e12;
    machine.gpus.tf32_rate = 250e12;
    machine.gpus.bf16_rate = 400e12;
    std::vector<tools::MeasuredProgram> measured;
    for (const plan::Plan& plan : tools::device_probes("cuda"))
        measured.push_back({plan, tools::program_seconds(plan, machine)});
    measured[2].seconds = 0.01;  // of copies from the host
    const plan::Gpus fitted = tools::fit_device(measured);
    CHECK(near(fitted.step_overhead, 3e-6, 0.05));
    CHECK(near(fitted.memory_bandwidth, 2.8e12, 0.05));
    CHECK(near(fitted.f32_rate, 43e12, 0.05));
    CHECK(near(fitted.f64_rate, 33e12, 0.05));
    CHECK(near(fitted.tf32_rate, 250e12, 0.1));
    CHECK(near(fitted.bf16_rate, 400e12, 0.2));
    CHECK(near(fitted.host_bandwidth, 64.0 * 3 * 512 * 512 * 4 / 0.01, 0.01));
}

TEST_CASE("the networks of a calibration run on a device") {
    runtime::cuda::HostReport report;
    const auto open = [&] {
        return runtime::cuda::make_device(runtime::cuda::make_host_api(report, {}, nullptr));
    };
    for (const tools::MeasuredProgram& one :
         tools::measure_device(tools::device_probes("cuda", true), open, 0.01))
        CHECK(one.seconds > 0);
    CHECK(report.findings == std::vector<std::string>{});
}

}  // namespace
}  // namespace dtnn::calibrate_device_test
