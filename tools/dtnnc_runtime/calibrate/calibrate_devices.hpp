#pragma once
/// The measurements of a device by `dtnnc calibrate --target`, and the figures that it makes of it.

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "plan/plan.hpp"
#include "runtime/device/device.hpp"
#include "tools/dtnnc_runtime/calibrate/calibrate.hpp"

namespace dtnn::tools {

using OpenDevice = std::function<std::unique_ptr<runtime::Device>()>;

/// A training program and what a run of it takes, among others.
struct MeasuredProgram {
    plan::Plan plan;
    double seconds = 0;
};

/// Networks, compiled for the device of that name, for: the overhead of steps, memory, copies from
/// the host; products in f32, f64, TF32 and bfloat16. `small` ones take the host no time either.
std::vector<plan::Plan> device_probes(std::string_view device, bool small = false);
/// For so many seconds together.
std::vector<MeasuredProgram> measure_device(const std::vector<plan::Plan>& probes,
                                            const OpenDevice& open, double seconds);
/// The figures with which forecasts take as long as was measured, of probes in the order of
/// device_probes; a rate that the times do not show is 0.
plan::Gpus fit_device(const std::vector<MeasuredProgram>& measured);
/// The forecast for the training program's steps.
double program_seconds(const plan::Plan& plan, const plan::Machine& machine);

}  // namespace dtnn::tools
