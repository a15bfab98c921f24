/// The device layer over the API that the host plays: what its streams put in order, what becomes
/// of calls that fail, what may be captured.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/run_error.hpp"
#include "runtime/checkpoint/weights.hpp"
#include "runtime/device/cuda/cuda_device.hpp"
#include "runtime/exec/executor.hpp"
#include "runtime/train/initialize.hpp"
#include "tests/gpu/host_api.hpp"
#include "tests/gpu/plans.hpp"

namespace dtnn::device_test {
namespace {

using runtime::cuda::HostFaults;
using runtime::cuda::HostReport;

constexpr std::int64_t kBatch = 3;

const plan::Plan& small_plan() {
    static const plan::Plan plan =
        gpu_plans::compiled("tests/gpu/tiny.yaml",
                            {fmt::format("training.batch_size={}", kBatch),
                             "training.optimizer={sgd: {momentum: 0.9}}", "training.metrics=[]"},
                            "cuda");
    return plan;
}

/// Fills the inputs with what depends on the step.
void fill(runtime::BoundProgram& program, int step) {
    for (const plan::Input& input : program.program().inputs) {
        const plan::Tensor& tensor = program.program().tensors[std::size_t(input.tensor)];
        auto* const to = static_cast<std::byte*>(program.input(input.role, input.index));
        const std::int64_t count = element_count(tensor.dims);
        for (std::int64_t i = 0; i < count; ++i) {
            if (tensor.dtype == DType::f32) {
                const float value = input.role == plan::InputRole::feature
                                        ? float((i * 7 + step * 3) % 11) / 11
                                    : input.role == plan::InputRole::learning_rate ? 0.01F
                                                                                   : 1.0F;
                std::memcpy(to + i * 4, &value, 4);
            } else if (tensor.dtype == DType::i32) {
                const auto label = std::int32_t((i + step) % 10);
                std::memcpy(to + i * 4, &label, 4);
            } else {
                const std::int64_t number = step;
                std::memcpy(to + i * 8, &number, 8);
            }
        }
    }
}

/// Steps of which one is under way while the host takes the results of the one before; the losses.
std::vector<float> run_ahead(const plan::Plan& plan, HostReport& report, int steps,
                             const HostFaults& faults = {}) {
    runtime::Executor executor(
        plan, runtime::cuda::make_device(runtime::cuda::make_host_api(report, faults)));
    runtime::initialize(executor);
    runtime::BoundProgram& program = *executor.find(plan::ProgramKind::train, kBatch);
    program.run_prologue();
    std::vector<float> losses;
    const auto take = [&] {
        program.wait();
        losses.push_back(*static_cast<const float*>(program.output("loss")));
    };
    for (int step = 0; step < steps; ++step) {
        fill(program, step);
        program.start();
        if (step > 0) take();
    }
    take();
    // Behind everything: what a checkpoint reads.
    executor.parameter_view(0);
    return losses;
}

std::vector<float> run_one_by_one(const plan::Plan& plan, int steps) {
    HostReport report;
    runtime::Executor executor(plan,
                               runtime::cuda::make_device(runtime::cuda::make_host_api(report)));
    runtime::initialize(executor);
    runtime::BoundProgram& program = *executor.find(plan::ProgramKind::train, kBatch);
    program.run_prologue();
    std::vector<float> losses;
    for (int step = 0; step < steps; ++step) {
        fill(program, step);
        program.run();
        losses.push_back(*static_cast<const float*>(program.output("loss")));
    }
    return losses;
}

}  // namespace

TEST_CASE("runs ahead give the bits of runs one by one, in one launch each") {
    constexpr int kSteps = 8;
    HostReport report;
    const std::vector<float> losses = run_ahead(small_plan(), report, kSteps);
    CHECK(losses == run_one_by_one(small_plan(), kSteps));
    CHECK(report.findings == std::vector<std::string>{});
    CHECK(report.launches == kSteps - 1);
}

TEST_CASE("every wait is needed: without it there is a race") {
    constexpr int kSteps = 16;
    HostReport sound;
    run_ahead(small_plan(), sound, kSteps);
    REQUIRE(sound.findings.empty());
    // Two for each step; the first is for what has never been.
    REQUIRE(sound.waits == 2 * kSteps);
    int found = 0;
    for (std::int64_t lost = 1; lost < sound.waits; ++lost) {
        CAPTURE(lost);
        HostReport report;
        run_ahead(small_plan(), report, kSteps, {.lost_wait = lost});
        CHECK(!report.findings.empty());
        found += int(!report.findings.empty());
    }
    CHECK(found >= 20);
}

TEST_CASE("whichever call fails, the run ends with its name, and nothing is kept") {
    constexpr int kSteps = 3;
    HostReport sound;
    run_ahead(small_plan(), sound, kSteps);
    REQUIRE(sound.findings.empty());
    int named_steps = 0;
    for (std::size_t failing = 0; failing < sound.calls.size(); ++failing) {
        // Every fourth call of one name in a row is tried.
        if (failing % 4 != 0 && failing > 0 && sound.calls[failing] == sound.calls[failing - 1])
            continue;
        CAPTURE(failing);
        CAPTURE(sound.calls[failing]);
        HostReport report;
        std::string told;
        try {
            run_ahead(small_plan(), report, kSteps, {.failing_call = std::int64_t(failing)});
        } catch (const runtime::RunError& error) {
            told = error.what();
            CHECK(error.exit() == runtime::Exit::failed);
            CHECK(!error.help().empty());
        }
        // A program's end that waits in vain is no news: nobody reads its results.
        const bool end = told.empty() && sound.calls[failing] == "cudaStreamSynchronize";
        CHECK((end || told.find(sound.calls[failing]) != std::string::npos));
        named_steps += int(told.starts_with("program `train`, step"));
        CHECK(report.findings == std::vector<std::string>{});
    }
    // The first run puts every kernel on the stream by itself, and the second captures it.
    CHECK(named_steps >= 5);
}

TEST_CASE("what may not be captured is told") {
    using namespace runtime::cuda;
    HostReport report;
    const auto api = make_host_api(report);
    const Owned<Stream> stream(*api, api->make_stream()), other(*api, api->make_stream());
    const Owned<Event> before(*api, api->make_event()), inside(*api, api->make_event());
    api->record(before.get(), other.get());
    std::byte* const memory = api->allocate(64);

    const auto findings_of = [&](const std::function<void()>& captured) {
        report.findings.clear();
        api->begin_capture(stream.get());
        try {
            captured();
        } catch (const ApiFailure&) {
            CHECK(!report.findings.empty());
        }
        try {
            const Owned<Graph> graph(*api, api->end_capture(stream.get()));
        } catch (const ApiFailure&) {
            CHECK(!report.findings.empty());
        }
        return report.findings.size();
    };
    CHECK(findings_of([&] { api->clear(memory, 64, stream.get()); }) == 0);
    CHECK(findings_of([&] { api->release(api->allocate(64)); }) == 2);
    CHECK(findings_of([&] { api->synchronize(other.get()); }) == 1);
    CHECK(findings_of([&] { api->synchronize(before.get()); }) == 1);
    CHECK(findings_of([&] { api->wait(stream.get(), before.get()); }) == 1);
    CHECK(findings_of([&] { api->begin_capture(other.get()); }) == 1);
    const auto fork = [&] {
        api->record(inside.get(), stream.get());
        api->wait(other.get(), inside.get());
        api->clear(memory, 64, other.get());
    };
    CHECK(findings_of(fork) == 1);
    CHECK(findings_of([&] {
              fork();
              api->record(inside.get(), other.get());
              api->wait(stream.get(), inside.get());
          }) == 0);
    api->release(memory);
}

TEST_CASE("forks of a graph that meet the same bytes are a race in every launch") {
    using namespace runtime::cuda;
    HostReport report;
    const auto api = make_host_api(report);
    const Owned<Stream> stream(*api, api->make_stream()), other(*api, api->make_stream());
    const Owned<Event> fork(*api, api->make_event()), join(*api, api->make_event());
    std::byte* const memory = api->allocate(128);
    for (const std::int64_t bytes : {64, 65}) {
        api->begin_capture(stream.get());
        api->record(fork.get(), stream.get());
        api->wait(other.get(), fork.get());
        api->clear(memory + 64, 64, other.get());
        api->clear(memory, bytes, stream.get());
        api->record(join.get(), other.get());
        api->wait(stream.get(), join.get());
        const Owned<Graph> graph(*api, api->end_capture(stream.get()));
        report.findings.clear();
        api->launch(graph.get(), stream.get());
        api->launch(graph.get(), stream.get());
        api->synchronize(stream.get());
        CHECK(report.findings.size() == (bytes == 64 ? 0 : 2));
    }
    api->release(memory);
}

TEST_CASE("the host cannot touch the device's memory") {
    HostReport report;
    const auto api = runtime::cuda::make_host_api(report);
    std::byte* const memory = api->allocate(64);
    int ends[2] = {};
    REQUIRE(::pipe(ends) == 0);
    errno = 0;
    CHECK(::write(ends[1], memory, 64) == -1);
    CHECK(errno == EFAULT);
    ::close(ends[0]);
    ::close(ends[1]);
    api->release(memory);
}

TEST_CASE("weights go from a device to the CPU and back") {
    const plan::Plan& plan = small_plan();
    const std::string path = (std::filesystem::temp_directory_path() /
                              fmt::format("dtnn_gpu_{}.safetensors", ::getpid()))
                                 .string();
    HostReport report;
    const auto open = [&] {
        return runtime::cuda::make_device(runtime::cuda::make_host_api(report));
    };
    plan::Plan on_cpu = gpu_plans::compiled("tests/gpu/tiny.yaml", {"training.metrics=[]"}, "cpu");
    {
        runtime::Executor device(plan, open());
        runtime::initialize(device);
        runtime::save_weights(device, path, "made on a device");
        runtime::Executor cpu(on_cpu, 1);
        runtime::load_weights(cpu, path);
        runtime::save_weights(cpu, path + ".cpu", "made on a device");
        runtime::Executor again(plan, open());
        runtime::load_weights(again, path + ".cpu");
        for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
            if (plan.parameters[i].kind != plan::ParameterKind::weight) continue;
            CAPTURE(plan.parameters[i].name);
            const runtime::HostView a = device.parameter_view(i), b = again.parameter_view(i);
            CHECK(std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin()));
        }
    }
    CHECK(report.findings == std::vector<std::string>{});
    std::filesystem::remove(path);
    std::filesystem::remove(path + ".cpu");
}

}  // namespace dtnn::device_test
