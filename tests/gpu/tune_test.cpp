/// Engines that are chosen by measuring, on a device that the host plays.

#include "runtime/exec/tune.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "plan/json/json.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/sample_source.hpp"
#include "runtime/device/cuda/cuda_device.hpp"
#include "runtime/train/session.hpp"
#include "tests/gpu/host_api.hpp"
#include "tests/gpu/plans.hpp"

namespace dtnn::tune_test {
namespace {

std::unique_ptr<runtime::Device> played(runtime::cuda::HostReport& report) {
    return runtime::cuda::make_device(runtime::cuda::make_host_api(report, {}, nullptr));
}

TEST_CASE("every engine of every problem is measured once, and a plan says which is taken") {
    plan::Plan plan = gpu_plans::compiled("tests/gpu/tiny.yaml", {}, "cuda", 1);
    runtime::cuda::HostReport report;
    const auto device = played(report);
    const std::vector<runtime::TunedSteps> tuned = runtime::tune(plan, *device, 2);
    CHECK(report.findings == std::vector<std::string>{});
    REQUIRE(tuned.size() >= 4);
    int steps = 0;
    for (const runtime::TunedSteps& one : tuned) {
        CAPTURE(one.name);
        CHECK(one.engines == 3);  // as many as are played
        CHECK(one.seconds <= one.first_seconds);
        steps += one.steps;
    }
    CHECK(steps > int(tuned.size()));  // evaluation and training share problems
    // The plan that was written reads back, and another engine is no other computation.
    const plan::ReadResult read = plan::read_plan(plan::to_json(plan));
    REQUIRE_MESSAGE(read.plan.has_value(), read.error);
    CHECK(read.plan->programs.size() == plan.programs.size());
}

TEST_CASE("an engine that the library does not have ends the run with the step's name") {
    plan::Plan plan = gpu_plans::compiled("tests/gpu/tiny.yaml", {}, "cuda", 1);
    for (plan::Program& program : plan.programs)
        for (plan::Step& step : program.steps)
            if (step.kernel == "cudnn") step.attributes["engine"] = std::int64_t{7};
    runtime::cuda::HostReport report;
    const auto alone = runtime::make_self();
    runtime::Session session(plan, played(report), runtime::made_up_source(plan.dataset), *alone);
    const runtime::BatchProgram& batch = session.train_program(plan.training.batch_size);
    try {
        batch.program->run();
        FAIL_CHECK("it ran");
    } catch (const runtime::RunError& error) {
        const std::string text = std::string(error.what()) + error.help();
        CHECK(error.exit() == runtime::Exit::mismatch);
        CHECK(text.find("conv2d") != std::string::npos);
        CHECK(text.find("tune it here") != std::string::npos);
    }
}

}  // namespace
}  // namespace dtnn::tune_test
