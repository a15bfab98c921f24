/// Plans for CUDA, run from end to end by a device that the host plays: the losses of 20 steps and
/// of an evaluation are those of the plan for the CPU.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "compiler/driver/compile_job.hpp"
#include "plan/audit/audit.hpp"
#include "plan/json/json.hpp"
#include "runtime/data/sample_source.hpp"
#include "runtime/train/loop.hpp"
#include "runtime/train/session.hpp"
#include "tests/gpu/host_device.hpp"

namespace dtnn::host_run_test {
namespace {

constexpr int kSteps = 20;

struct Subject {
    std::string name;
    std::vector<std::string> settings;
};

plan::Plan compiled(const Subject& subject, const std::string& device, const std::string& dtype) {
    compiler::Diagnostics diagnostics;
    compiler::LoadOptions options;
    options.spec_path = {"specs"};
    // The last step is that of a tail.
    options.settings = {"training.dtype=" + dtype,
                        "training.batch_size=2",
                        "training.epochs=1",
                        "training.optimizer={sgd: {learning_rate: 0.0001, momentum: 0.9}}",
                        "training.metrics=[categorical_accuracy]",
                        fmt::format("dataset.train_samples={}", 2 * kSteps - 1),
                        "dataset.test_samples=3"};
    options.settings.insert(options.settings.end(), subject.settings.begin(),
                            subject.settings.end());
    const compiler::JobSpec job = compiler::load_job(subject.name, options, diagnostics);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.render(false));
    const auto plan = compiler::compile_job(
        job, {.device = device, .threads = device == "cpu" ? 1 : 0}, diagnostics);
    REQUIRE_MESSAGE(plan.has_value(), diagnostics.render(false));
    // Through the file's text, as a run gets it.
    plan::ReadResult read = plan::read_plan(plan::to_json(*plan));
    REQUIRE_MESSAGE(read.plan.has_value(), read.error);
    CHECK(plan::audit(*read.plan).empty());
    return *read.plan;
}

class Losses final : public runtime::TrainingObserver {
  public:
    void step(const runtime::Progress& progress) override {
        all.push_back(progress.train.running_value(0));
    }
    std::vector<double> all;
};

std::vector<double> losses(const plan::Plan& plan) {
    const auto alone = runtime::make_self();
    auto device = plan.target.device == "cpu" ? runtime::open_cpu(1) : runtime::open_host_device();
    runtime::Session session(plan, std::move(device), runtime::made_up_source(plan.dataset),
                             *alone);
    Losses observer;
    runtime::train(session, observer);
    observer.all.push_back(session.evaluate(runtime::Split::test, session.sampler().test()).loss());
    return observer.all;
}

void check_same(const Subject& subject, const std::string& dtype, double bound) {
    const std::vector<double> wanted = losses(compiled(subject, "cpu", dtype));
    const std::vector<double> got = losses(compiled(subject, "cuda", dtype));
    REQUIRE(wanted.size() == kSteps + 1);
    REQUIRE(got.size() == wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        CAPTURE(subject.name);
        CAPTURE(i);
        CHECK(std::fabs(got[i] - wanted[i]) <= bound * std::fabs(wanted[i]));
    }
}

const std::vector<Subject> kSubjects = {
    {"simplecnn", {}},
    {"simplemlp", {}},
    {"resnet20_cifar10", {}},
};

}  // namespace

TEST_CASE("a plan for cuda trains as the cpu's does, in double") {
    for (const Subject& subject : kSubjects)
        check_same(subject, "f64", 1e-11);
}

TEST_CASE("a plan for cuda trains as the cpu's does, in float") {
    for (const Subject& subject : kSubjects)
        check_same(subject, "f32", 1e-5);
}

}  // namespace dtnn::host_run_test
