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
#include "tests/sanitized.hpp"

namespace dtnn::host_run_test {
namespace {

/// A sanitizer sees in the first steps what it sees in all.
constexpr int kSteps = kSanitized ? 4 : 20;

/// As in tests/equivalence: training amplifies rounding in deep networks with batch norm, which
/// learn slowly here; in float only their first steps are compared, and in double they may be
/// further apart at the end.
struct Subject {
    std::string name;
    std::vector<std::string> settings = {};
    std::int64_t batch = 2;
    bool sensitive = false;
};

constexpr std::size_t kFirstSteps = 3;
constexpr double kFirstStepsBound = 1e-4;
constexpr double kAmplified = 10;

plan::Plan compiled(const Subject& subject, const std::string& device, const std::string& dtype) {
    compiler::Diagnostics diagnostics;
    compiler::LoadOptions options;
    options.spec_path = {"specs"};
    // The last step is that of a tail.
    options.settings = {"training.dtype=" + dtype,
                        fmt::format("training.batch_size={}", subject.batch),
                        "training.epochs=1",
                        fmt::format("training.optimizer={{sgd: {{learning_rate: {}, momentum: "
                                    "0.9}}}}",
                                    subject.sensitive ? "0.000001" : "0.0001"),
                        "training.metrics=[categorical_accuracy]",
                        fmt::format("dataset.train_samples={}", subject.batch * kSteps - 1),
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
    const bool first_only = subject.sensitive && dtype == "f32";
    if (subject.sensitive) bound = first_only ? kFirstStepsBound : kAmplified * bound;
    for (std::size_t i = 0; i < (first_only ? kFirstSteps : wanted.size()); ++i) {
        CAPTURE(subject.name);
        CAPTURE(i);
        CHECK(std::fabs(got[i] - wanted[i]) <= bound * std::fabs(wanted[i]));
    }
}

const std::vector<Subject> kSubjects = {
    {"simplecnn"},
    {"simplemlp"},
    {"residual_small"},
    {"inception_small"},
    {"unet", {"model.input.shape=[1, 32, 32]", "model.parameters.width=4"}},
    {"densenet21k8", {}, 4, true},
    {"resnet20_cifar10", {}, 4, true},
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
