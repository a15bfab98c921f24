// The measurements of calibration: small networks, through compiler and runtime like any training,
// so that the rates are those of the kernels that plans choose.

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "compiler/driver/compile_job.hpp"
#include "compiler/support/check.hpp"
#include "kernels/catalogue.hpp"
#include "plan/forecast/rates.hpp"
#include "plan/rules/parallel.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/data/pipeline.hpp"
#include "runtime/exec/measure_kernels.hpp"
#include "runtime/train/session.hpp"
#include "tools/dtnnc_runtime/calibrate/calibrate.hpp"

namespace dtnn::tools {
namespace {

constexpr const char* kTail = R"(
dataset: {type: synthetic, shape: SHAPE, classes: 10, train_samples: SAMPLES, test_samples: 64MORE}
training:
  optimizer: {sgd: {learning_rate: 1.0e-9, momentum: 0.9}}
  loss: categorical_cross_entropy
  batch_size: 64
)";

/// Wide convolutions, as in VGG.
constexpr const char* kWide = R"(
kind: job
model:
  input: {shape: [3, 32, 32]}
  layers:
    - conv2d: {filters: 64, kernel: 3, padding: same}
    - relu
    - conv2d: {filters: 64, kernel: 3, padding: same, bias: false}
    - batch_norm
    - relu
    - max_pool2d: {kernel: 2}
    - dropout: {rate: 0.2}
    - conv2d: {filters: 128, kernel: 5, padding: same}
    - relu
    - max_pool2d: {kernel: 2}
    - conv2d: {filters: 256, kernel: 3, padding: same}
    - relu
    - conv2d: {filters: 256, kernel: 3, stride: 2, padding: same}
    - relu
    - conv2d: {filters: 512, kernel: 3, padding: same}
    - relu
    - global_avg_pool2d
    - flatten
    - dense: {units: 512}
    - relu
    - dense: {units: 10}
    - softmax
)";

/// Small images with few channels, normalised and added, as in ResNet.
constexpr const char* kResidual = R"(
kind: job
model:
  input: {shape: [3, 32, 32]}
  layers:
    - conv2d: {filters: 16, kernel: 3, padding: same, bias: false}
    - batch_norm
    - relu
    - add:
        - [conv2d: {filters: 16, kernel: 3, padding: same, bias: false}, batch_norm]
        - []
    - relu
    - add:
        - [conv2d: {filters: 32, kernel: 3, padding: same, stride: 2, bias: false}, batch_norm]
        - [conv2d: {filters: 32, kernel: 1, stride: 2, bias: false}, batch_norm]
    - relu
    - add:
        - [conv2d: {filters: 32, kernel: 3, padding: same, bias: false}, batch_norm]
        - []
    - relu
    - conv2d: {filters: 64, kernel: 3, padding: same, stride: 2, bias: false}
    - batch_norm
    - relu
    - conv2d: {filters: 64, kernel: 3, padding: same, bias: false}
    - batch_norm
    - relu
    - global_avg_pool2d
    - flatten
    - dense: {units: 10}
    - softmax
)";

/// Narrow, pointwise and depthwise convolutions, concatenation and overlapping windows, as in
/// DenseNet, MobileNet and GoogLeNet.
constexpr const char* kNarrow = R"(
kind: job
model:
  input: {shape: [3, 32, 32]}
  layers:
    - conv2d: {filters: 24, kernel: 3, padding: same, bias: false}
    - concat:
        - [batch_norm, relu, conv2d: {filters: 48, kernel: 1, bias: false}, batch_norm, relu,
           conv2d: {filters: 12, kernel: 3, padding: same, bias: false}]
        - []
    - max_pool2d: {kernel: 3, stride: 2, padding: 1}
    - conv2d: {filters: 96, kernel: 1, bias: false}
    - batch_norm
    - sigmoid
    - conv2d: {filters: 96, kernel: 3, padding: same, groups: 96, bias: false}
    - batch_norm
    - relu
    - concat:
        - [conv2d: {filters: 48, kernel: 1, bias: false}, batch_norm, relu,
           conv2d: {filters: 12, kernel: 3, padding: same, bias: false}]
        - []
    - conv2d: {filters: 128, kernel: 3, stride: 2, padding: same}
    - conv2d: {filters: 128, kernel: 3, padding: same, groups: 128, bias: false}
    - batch_norm
    - relu
    - conv2d: {filters: 256, kernel: 1, bias: false}
    - batch_norm
    - relu
    - global_avg_pool2d
    - flatten
    - dense: {units: 10}
    - softmax
)";

/// Matrix products, in and beyond the caches, behind convolutions of few channels.
constexpr const char* kProducts = R"(
kind: job
model:
  input: {shape: [1, 28, 28]}
  layers:
    - conv2d: {filters: 4, kernel: 3, padding: same}
    - relu
    - conv2d: {filters: 8, kernel: 3, padding: same}
    - relu
    - max_pool2d: {kernel: 2}
    - max_pool2d: {kernel: 2}
    - flatten
    - dense: {units: 512}
    - relu
    - dropout: {rate: 0.5}
    - dense: {units: 512}
    - relu
    - dense: {units: 4096}
    - relu
    - dense: {units: 4096}
    - relu
    - dense: {units: 10}
    - softmax
)";

/// Few enough weights that they stay in the caches.
constexpr const char* kCached = R"(
kind: job
model:
  input: {shape: [1, 28, 28]}
  layers:
    - flatten
    - dense: {units: 512}
    - relu
    - dense: {units: 384}
    - relu
    - dense: {units: 10}
    - softmax
)";

struct Probe {
    const char* text;
    const char* shape;
    const char* training = "";  ///< a line of fields more
};
constexpr Probe kProbes[] = {
    {kWide, "[3, 32, 32]"},   {kResidual, "[3, 32, 32]"},
    {kNarrow, "[3, 32, 32]"}, {kProducts, "[1, 28, 28]"},
    {kCached, "[1, 28, 28]"}, {kWide, "[3, 32, 32]", "  compute: bf16_products\n"}};

/// The best instructions of this machine that this program has kernels for.
std::string best_isa() {
    auto isa = kernels::host_isa();
    while (isa > kernels::Isa::baseline && !runtime::has_kernels(isa))
        isa = kernels::Isa(int(isa) - 1);
    return std::string(kernels::name_of(isa));
}

/// `more` are further fields of its dataset.
plan::Plan compile_probe(const Probe& probe, int threads, std::int64_t samples = 64,
                         const std::string& more = "") {
    std::string tail = kTail;
    const auto fill = [&](const std::string& word, const std::string& text) {
        tail.replace(tail.find(word), word.size(), text);
    };
    fill("SHAPE", probe.shape);
    fill("SAMPLES", std::to_string(samples));
    fill("MORE", more);
    const std::string file = "calibration.yaml";
    compiler::LoadOptions load;
    load.texts[file] = probe.text + tail.substr(1) + probe.training;
    compiler::Diagnostics diagnostics;
    auto plan =
        compiler::compile_file(file, load, {.isa = best_isa(), .threads = threads}, diagnostics);
    DTNN_CHECK(plan.has_value(), "a probe's plan: {}", diagnostics.render(false, 1));
    return std::move(*plan);
}

/// Keeps the least time of each step.
class LeastTimes final : public runtime::StepObserver {
  public:
    void begin(const plan::Program&, const plan::Step&) override { watch_.restart(); }
    void end(const plan::Program&, const plan::Step& step) override {
        const double seconds = watch_.seconds();
        const auto [entry, made] = least_.emplace(&step, seconds);
        if (!made) entry->second = std::min(entry->second, seconds);
    }
    double of(const plan::Step& step) const { return least_.at(&step); }

  private:
    runtime::Stopwatch watch_;
    std::map<const plan::Step*, double> least_;
};

/// Samples as CIFAR-10's: bytes in memory.
class ByteSource final : public runtime::SampleSource {
  public:
    explicit ByteSource(std::int64_t samples)
        : samples_(samples), bytes_(std::size_t(samples * kBytes)) {
        std::minstd_rand numbers;
        for (std::uint8_t& byte : bytes_)
            byte = std::uint8_t(numbers() >> 8);
    }
    void load(runtime::Split, std::int64_t index, runtime::Sample& sample) const override {
        sample.input().set_image({3, 32, 32}, bytes_.data() + index * kBytes);
        sample.target().set_class(std::int32_t(index % 10));
    }
    std::int64_t size(runtime::Split) const override { return samples_; }
    std::uint64_t content_hash() const override { return 0; }
    std::int64_t resident_bytes() const override { return samples_ * kBytes; }

  private:
    static constexpr std::int64_t kBytes = 3 * 32 * 32;
    std::int64_t samples_;
    std::vector<std::uint8_t> bytes_;
};

}  // namespace

std::vector<plan::Plan> probe_plans(int threads) {
    std::vector<plan::Plan> plans;
    for (const Probe& probe : kProbes)
        plans.push_back(compile_probe(probe, threads));
    return plans;
}

std::vector<MeasuredStep> measure_steps(const plan::Plan& plan, int threads, double seconds,
                                        double* spread) {
    runtime::Session session(plan, threads, runtime::made_up_source(plan.dataset));
    const runtime::BatchProgram& batch = session.train_program(plan.training.batch_size);
    auto* pixels = static_cast<float*>(batch.inputs.features[0]);
    std::minstd_rand numbers;
    const std::int64_t count = plan.training.batch_size * element_count(plan.dataset.input().dims);
    for (std::int64_t i = 0; i < count; ++i)
        pixels[i] = float(numbers() % 256) / 255;
    std::fill_n(static_cast<std::int32_t*>(batch.inputs.target), plan.training.batch_size, 0);
    batch.set_learning_rate(1e-9, plan.target.dtype);
    batch.set_batch_weight(1, plan.target.dtype);
    batch.program->run_prologue();
    batch.program->run();  // which touches the memory first
    LeastTimes times;
    session.executor().observe(&times);
    const runtime::Stopwatch watch;
    std::vector<double> rounds;
    do {
        const runtime::Stopwatch round;
        batch.program->run();
        rounds.push_back(round.seconds());
    } while (rounds.size() < 3 || watch.seconds() < seconds);
    if (spread != nullptr) {
        std::sort(rounds.begin(), rounds.end());
        *spread = std::max(*spread, rounds[rounds.size() / 2] / std::max(rounds.front(), 1e-9));
    }
    std::vector<MeasuredStep> result;
    const plan::Program& program = batch.program->program();
    for (const plan::Step& step : program.steps)
        if (!plan::is_collective(step.op)) result.push_back({&program, &step, times.of(step)});
    return result;
}

double measure_decoding() {
    constexpr std::int64_t kSamples = 4096;
    const plan::Plan plan =
        compile_probe(kProbes[0], 1, kSamples,
                      ", transforms: [{normalize: {mean: [0.5, 0.5, 0.5], deviation: [0.25, 0.25, "
                      "0.25]}}], augmentations: "
                      "[flip, {random_crop: {padding: 4}}]");
    const ByteSource source(kSamples);
    runtime::Pipeline pipeline(source, plan,
                               runtime::Arrangement(plan.dataset.input().dims, {1, 2, 0}));
    std::vector<std::int64_t> order(kSamples);
    for (std::int64_t i = 0; i < kSamples; ++i)
        order[std::size_t(i)] = i;
    double best = 0;
    for (int round = 0; round < 6; ++round) {
        pipeline.start({.order = order, .batch = 64, .epoch = round});
        std::int64_t samples = 0;
        const runtime::Stopwatch watch;
        while (const std::int64_t batch = pipeline.wait()) {
            pipeline.take({});
            samples += batch;
        }
        best = std::max(best, double(samples) / watch.seconds());
    }
    pipeline.stop();
    return best;
}

}  // namespace dtnn::tools
