// The measurements of a device by calibration: whole programs, because their steps are one launch,
// on networks that each show one of its figures.

#include "tools/dtnnc_runtime/calibrate/calibrate_devices.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>

#include "compiler/driver/compile_job.hpp"
#include "compiler/support/check.hpp"
#include "plan/forecast/rates.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/data/sample_source.hpp"
#include "runtime/train/session.hpp"

namespace dtnn::tools {
namespace {

/// Many steps of few numbers.
constexpr const char* kMany = R"(
kind: job
model:
  input: {shape: [8, 1, 1]}
  layers:
    - flatten
    - repeat: {times: COUNT, layers: [dense: {units: 8}, softmax]}
    - dense: {units: 10}
    - softmax
)";

/// Long passes over memory.
constexpr const char* kMoving = R"(
kind: job
model:
  input: {shape: [CHANNELS, SIZE, SIZE]}
  layers:
    - batch_norm
    - sigmoid
    - dropout: {rate: 0.5}
    - max_pool2d: {kernel: 3, stride: 1, padding: 1}
    - tanh
    - global_avg_pool2d
    - flatten
    - dense: {units: 10}
    - softmax
)";

/// Wide convolutions and products.
constexpr const char* kWideConvolutions = R"(
kind: job
model:
  input: {shape: [CHANNELS, SIZE, SIZE]}
  layers:
    - repeat: {times: COUNT, layers: [conv2d: {filters: CHANNELS, kernel: 3, padding: same}, relu]}
    - global_avg_pool2d
    - flatten
    - dense: {units: 10}
    - softmax
)";

/// Large samples that little is done with.
constexpr const char* kComing = R"(
kind: job
model:
  input: {shape: [CHANNELS, SIZE, SIZE]}
  layers:
    - max_pool2d: {kernel: 8, stride: 8}
    - flatten
    - dense: {units: 10}
    - softmax
)";

constexpr const char* kRestOfJob = R"(
dataset: {type: synthetic, shape: SHAPE, classes: 10, train_samples: BATCH, test_samples: 1}
training:
  optimizer: {sgd: {learning_rate: 1.0e-9, momentum: 0.9}}
  loss: categorical_cross_entropy
  batch_size: BATCH
  dtype: DTYPE
  compute: COMPUTE
)";

struct Extents {
    std::int64_t batch, channels, size, count;
};

plan::Plan compile_probe(std::string_view device, const char* model, const Extents& extents,
                         const char* dtype, plan::Compute compute) {
    std::string text = model + std::string(kRestOfJob).substr(1);
    const auto fill = [&](const std::string& word, const std::string& with) {
        for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at))
            text.replace(at, word.size(), with);
    };
    const std::string shape = extents.size == 0 ? "[8, 1, 1]" : "[CHANNELS, SIZE, SIZE]";
    fill("SHAPE", shape);
    fill("BATCH", std::to_string(extents.batch));
    fill("CHANNELS", std::to_string(extents.channels));
    fill("SIZE", std::to_string(extents.size));
    fill("COUNT", std::to_string(extents.count));
    fill("DTYPE", dtype);
    fill("COMPUTE", plan::name_of(compute));
    const std::string file = "calibration.yaml";
    compiler::LoadOptions load;
    load.texts[file] = text;
    compiler::Diagnostics diagnostics;
    auto plan = compiler::compile_file(file, load, {.device = std::string(device)}, diagnostics);
    DTNN_CHECK(plan.has_value(), "a probe's plan: {}", diagnostics.render(false, 1));
    return std::move(*plan);
}

/// The mean of a run of the training program, many of which follow each other.
double seconds_of(const plan::Plan& plan, const OpenDevice& open, double seconds) {
    const auto alone = runtime::make_self();
    runtime::Session session(plan, open(), runtime::made_up_source(plan.dataset), *alone);
    const runtime::BatchProgram& batch = session.train_program(plan.training.batch_size);
    const std::int64_t bytes = plan.training.batch_size * element_count(plan.dataset.input().dims) *
                               size_of(plan.target.dtype);
    std::memset(batch.inputs.features[0], 0, std::size_t(bytes));
    std::fill_n(static_cast<std::int32_t*>(batch.inputs.target), plan.training.batch_size, 0);
    batch.set_learning_rate(1e-9, plan.target.dtype);
    batch.set_batch_weight(1, plan.target.dtype);
    runtime::BoundProgram& program = *batch.program;
    program.run_prologue();
    for (int i = 0; i < 3; ++i)
        program.run();  // alone, captured, launched
    const runtime::Stopwatch watch;
    std::int64_t runs = 0;
    program.start();
    do {
        program.start();
        program.wait();
        ++runs;
    } while (runs < 3 || watch.seconds() < seconds);
    const double taken = watch.seconds();
    program.wait();
    return taken / double(runs);
}

/// The largest rate with which the forecast takes as long as was measured.
double fitted_rate(const MeasuredProgram& measured, plan::Gpus gpus, double plan::Gpus::*rate) {
    plan::Machine machine;
    const auto foreseen = [&](double value) {
        gpus.*rate = value;
        machine.gpus = gpus;
        return program_seconds(measured.plan, machine);
    };
    double low = 1e3, high = 1e18;
    if (foreseen(high) >= measured.seconds) return 0;  // it is not arithmetic that takes the time
    for (int i = 0; i < 200 && high / low > 1.0001; ++i) {
        const double middle = std::sqrt(low * high);
        (foreseen(middle) > measured.seconds ? low : high) = middle;
    }
    return high;
}

std::int64_t bytes_of(const plan::Program& program) {
    std::int64_t bytes = 0;
    for (const plan::Step& step : program.steps)
        bytes += step.bytes;
    return bytes;
}

const plan::Program& trained(const plan::Plan& plan) {
    const plan::Program* program = plan::find_program(plan, plan::ProgramKind::train);
    DTNN_CHECK(program != nullptr, "a probe that does not train");
    return *program;
}

}  // namespace

double program_seconds(const plan::Plan& plan, const plan::Machine& machine) {
    const plan::RankRates rates(machine, plan.target);
    const plan::Program& program = trained(plan);
    double seconds = 0;
    for (const plan::Step& step : program.steps)
        seconds += rates.step_seconds(program, step, 1);
    return seconds;
}

std::vector<plan::Plan> device_probes(std::string_view device, bool small) {
    using plan::Compute;
    const Extents many = small ? Extents{2, 8, 0, 2} : Extents{16, 8, 0, 100};
    const Extents moving = small ? Extents{2, 4, 8, 0} : Extents{64, 64, 112, 0};
    const Extents wide = small ? Extents{2, 8, 4, 1} : Extents{64, 256, 28, 4};
    const Extents coming = small ? Extents{2, 1, 16, 0} : Extents{64, 3, 512, 0};
    return {compile_probe(device, kMany, many, "f32", Compute::full),
            compile_probe(device, kMoving, moving, "f32", Compute::full),
            compile_probe(device, kComing, coming, "f32", Compute::full),
            compile_probe(device, kWideConvolutions, wide, "f32", Compute::full),
            compile_probe(device, kWideConvolutions, wide, "f64", Compute::full),
            compile_probe(device, kWideConvolutions, wide, "f32", Compute::tf32),
            compile_probe(device, kWideConvolutions, wide, "f32", Compute::bf16)};
}

std::vector<MeasuredProgram> measure_device(const std::vector<plan::Plan>& probes,
                                            const OpenDevice& open, double seconds) {
    std::vector<MeasuredProgram> measured;
    for (const plan::Plan& plan : probes)
        measured.push_back({plan, seconds_of(plan, open, seconds / double(probes.size()))});
    return measured;
}

plan::Gpus fit_device(const std::vector<MeasuredProgram>& measured) {
    DTNN_CHECK(measured.size() == 7, "{} probes were measured", measured.size());
    plan::Gpus gpus;
    gpus.count = 1;
    const plan::Program& many = trained(measured[0].plan);
    gpus.step_overhead = measured[0].seconds / double(many.steps.size());
    const plan::Program& moving = trained(measured[1].plan);
    const double overhead = gpus.step_overhead * double(moving.steps.size());
    // The rest says nothing where even long passes are mostly overhead.
    const double rest = std::max(measured[1].seconds - overhead, measured[1].seconds / 10);
    gpus.memory_bandwidth = double(bytes_of(moving)) / rest;
    const plan::Plan& coming = measured[2].plan;
    const std::int64_t batch = coming.training.batch_size *
                               element_count(coming.dataset.input().dims) *
                               size_of(coming.target.dtype);
    gpus.host_bandwidth = double(batch) / measured[2].seconds;
    gpus.f32_rate = fitted_rate(measured[3], gpus, &plan::Gpus::f32_rate);
    gpus.f64_rate = fitted_rate(measured[4], gpus, &plan::Gpus::f64_rate);
    gpus.tf32_rate = fitted_rate(measured[5], gpus, &plan::Gpus::tf32_rate);
    gpus.bf16_rate = fitted_rate(measured[6], gpus, &plan::Gpus::bf16_rate);
    for (double plan::Gpus::*figure :
         {&plan::Gpus::step_overhead, &plan::Gpus::memory_bandwidth, &plan::Gpus::host_bandwidth,
          &plan::Gpus::f32_rate, &plan::Gpus::f64_rate, &plan::Gpus::tf32_rate,
          &plan::Gpus::bf16_rate})
        gpus.*figure = rounded(gpus.*figure);
    return gpus;
}

}  // namespace dtnn::tools
