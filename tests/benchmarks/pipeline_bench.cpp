// Whether one worker keeps a training step fed, and whether memory stays within the plan's figure:
//
//     pipeline_bench [FOLDER] [WORKERS]      FOLDER: CIFAR-10's binary files; without, made-up ones
//
// Prints what a sample costs when nobody waits, then ten epochs of batches of 64 with flip, padded
// crop and normalize against a step of 2 ms that does nothing: how long the loop waited, and how
// the process grew.

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "runtime/base/clock.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/pipeline.hpp"
#include "runtime/data/sampler.hpp"
#include "runtime/data/sources/cifar.hpp"

namespace dtnn::runtime {
namespace {

constexpr double kStepSeconds = 0.002;
constexpr int kEpochs = 10;

/// Bytes in memory, as Cifar has them.
class MadeUp final : public SampleSource {
  public:
    MadeUp() : bytes_(50'000 * kSample) {
        for (std::size_t i = 0; i < bytes_.size(); ++i)
            bytes_[i] = std::uint8_t(i * 2654435761u >> 13);
    }
    void load(Split, std::int64_t index, Sample& sample) const override {
        sample.input().set_image({3, 32, 32}, bytes_.data() + index * kSample);
        sample.target().set_class(std::int32_t(index % 10));
    }
    std::int64_t size(Split split) const override { return split == Split::train ? 50'000 : 0; }
    std::uint64_t content_hash() const override { return 0; }
    std::int64_t resident_bytes() const override { return std::int64_t(bytes_.size()); }

  private:
    static constexpr std::int64_t kSample = 3 * 32 * 32;
    std::vector<std::uint8_t> bytes_;
};

plan::Plan plan_of(int workers) {
    plan::Plan plan;
    plan.target.data_workers = workers;
    plan.training.batch_size = 64;
    plan.training.seed = 1;
    plan.dataset.input().dims = plan.dataset.input().stored_dims = {3, 32, 32};
    plan.dataset.target().classes = 10;
    plan.dataset.train_samples = plan.dataset.source_train_samples = 50'000;
    plan.dataset.test_samples = 10'000;
    plan.dataset.transforms = {{"normalize", {{"constants", std::string("cifar10")}}}};
    plan.dataset.augmentations = {
        {"flip", {{"probability", 0.5}}},
        {"random_crop", {{"padding", std::vector<std::int64_t>{4, 4}}, {"fill", 0.0}}}};
    return plan;
}

/// Bytes that the process holds of its own: heap, stacks and mappings, not its program's files.
std::int64_t resident() {
    std::ifstream file("/proc/self/status");
    for (std::string word; file >> word;) {
        std::int64_t kibibytes = 0;
        if (word == "RssAnon:" && file >> kibibytes) return kibibytes * 1024;
    }
    return 0;
}

void spin(double seconds) {
    const Stopwatch watch;
    while (watch.seconds() < seconds) {
    }
}

int bench(const std::string& folder, int workers) {
    const plan::Plan plan = plan_of(workers);
    const std::int64_t before = resident();
    std::unique_ptr<SampleSource> source;
    if (folder.empty())
        source = std::make_unique<MadeUp>();
    else
        source = std::make_unique<Cifar>(Cifar::Kind::ten, folder, 50'000, 10'000);
    const std::int64_t figure = source->resident_bytes() + plan::staging_bytes(plan);
    Sampler sampler(plan.dataset, plan.training);
    // As a network on a processor has its input: channels last.
    Pipeline pipeline(*source, plan, Arrangement({3, 32, 32}, {1, 2, 0}));
    std::vector<float> pixels(64 * 3 * 32 * 32);
    std::vector<std::int32_t> labels(64);
    double waited = 0, copied = 0;
    std::int64_t late = 0, batches = 0;
    const auto epoch = [&](std::int64_t number, double step) {
        pipeline.start({.order = sampler.epoch_order(number), .batch = 64, .epoch = number});
        while (true) {
            Stopwatch watch;
            if (pipeline.wait() == 0) return;
            const double seconds = watch.seconds();
            watch.restart();
            pipeline.take({{pixels.data()}, labels.data(), true});
            copied += watch.seconds();
            waited += seconds;
            late += seconds > 0.1 * kStepSeconds;
            ++batches;
            if (step > 0) spin(step);
        }
    };
    epoch(0, 0);
    const Stopwatch free_run;
    epoch(1, 0);
    const double sample = free_run.seconds() / 50'000;
    fmt::print(
        "{} worker(s): {:.2f} us a sample, {:.3f} ms a batch of 64; the step of {:.0f} ms "
        "leaves {:.2f} us a sample\n",
        workers, sample * 1e6, sample * 64e3, kStepSeconds * 1e3, kStepSeconds / 64 * 1e6);
    waited = copied = 0;
    late = batches = 0;
    std::int64_t grown = 0;
    for (int number = 0; number < kEpochs; ++number) {
        epoch(number, kStepSeconds);
        if (number == 0) grown = resident();
    }
    const std::int64_t after = resident();
    fmt::print(
        "{} epochs of steps of {:.0f} ms: {} batches; a step waited {:.4f} ms for its batch "
        "and copied it in {:.3f} ms; {} waited more than a tenth of the step\n",
        kEpochs, kStepSeconds * 1e3, batches, waited / double(batches) * 1e3,
        copied / double(batches) * 1e3, late);
    const auto own = std::int64_t(pixels.size() * sizeof(float));
    fmt::print(
        "memory: {:.2f} MiB over the process before, the batch in use taken off; the plan's "
        "figure is {:.2f} MiB; grown by {} KiB from the first epoch to the last\n",
        double(after - before - own) / 1048576, double(figure) / 1048576, (after - grown) / 1024);
    return 0;
}

}  // namespace
}  // namespace dtnn::runtime

int main(int argc, char** argv) {
    try {
        return dtnn::runtime::bench(argc > 1 ? argv[1] : "", argc > 2 ? std::atoi(argv[2]) : 1);
    } catch (const dtnn::runtime::RunError& error) {
        fmt::print(stderr, "{}", error.render(false));
        return int(error.exit());
    }
}
