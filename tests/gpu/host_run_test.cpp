/// Plans for CUDA, run from end to end by a device that the host plays: the losses of 20 steps and
/// of an evaluation are those of the plan for the CPU.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "compiler/ops/op.hpp"
#include "kernels/catalogue.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/sample_source.hpp"
#include "runtime/device/cuda/cuda_device.hpp"
#include "runtime/train/loop.hpp"
#include "runtime/train/session.hpp"
#include "tests/gpu/host_api.hpp"
#include "tests/gpu/plans.hpp"
#include "tests/ranks/threads/in_process.hpp"
#include "tests/sanitized.hpp"

namespace dtnn::host_run_test {
namespace {

/// A sanitizer sees in the first steps what it sees in all.
constexpr int kSteps = kSanitized ? 4 : 20;

/// The reference kernels that answer for cuDNN take minutes for 20 steps of the larger networks:
/// DTNN_GPU_ALL_STEPS=1 takes them all, and
/// every network in both precisions.
bool takes_all_steps() {
    const char* const value = std::getenv("DTNN_GPU_ALL_STEPS");
    return value != nullptr && *value != '\0';
}

/// As in tests/equivalence: training amplifies rounding in deep networks with batch norm, which
/// learn slowly here; in float only their first steps are compared, and in double they may be
/// further apart at the end.
struct Subject {
    std::string name;
    std::vector<std::string> settings = {};
    std::int64_t batch = 2;
    bool sensitive = false;
    int usual_steps = kSteps;
    bool in_float = false;  ///< as a rule, too

    int steps() const { return takes_all_steps() ? kSteps : std::min(usual_steps, kSteps); }
};

constexpr std::size_t kFirstSteps = 3;
constexpr double kFirstStepsBound = 1e-4;
constexpr double kAmplified = 10;

plan::Plan compiled(const Subject& subject, const std::string& device, const std::string& dtype,
                    int ranks, const std::vector<std::string>& disabled_passes = {}) {
    // The last step is that of a tail.
    std::vector<std::string> settings = {
        "training.dtype=" + dtype,
        fmt::format("training.batch_size={}", subject.batch / ranks),
        "training.epochs=1",
        fmt::format("training.optimizer={{sgd: {{learning_rate: {}, momentum: 0.9}}}}",
                    subject.sensitive ? "0.000001" : "0.0001"),
        "training.metrics=[categorical_accuracy]",
        fmt::format("dataset.train_samples={}", subject.batch * subject.steps() - 1),
        "dataset.test_samples=3"};
    settings.insert(settings.end(), subject.settings.begin(), subject.settings.end());
    return gpu_plans::compiled(subject.name, settings, device, ranks, disabled_passes);
}

/// Means so far, as far as this rank has samples.
class Losses final : public runtime::TrainingObserver {
  public:
    void step(const runtime::Progress& progress) override {
        all.push_back(progress.train.running_value(0));
    }
    std::vector<double> all;
    std::int64_t launches = 0;  ///< of kernels, in the first run of each program and its capture
};

/// Trains one rank, and at the end tests samples of all ranks.
void train_rank(const plan::Plan& plan, runtime::Communicator& ranks,
                std::shared_ptr<runtime::cuda::HostNetwork> network, int steps, Losses& losses) {
    const bool host = plan.target.device == "cpu";
    runtime::cuda::HostReport report;
    {
        auto device = host ? runtime::open_cpu(1)
                           : runtime::cuda::make_device(
                                 runtime::cuda::make_host_api(report, {}, std::move(network)));
        runtime::Session session(plan, std::move(device), runtime::made_up_source(plan.dataset),
                                 ranks);
        runtime::train(session, losses);
        losses.all.push_back(
            session.evaluate(runtime::Split::test, session.sampler().test()).loss());
    }
    losses.launches = report.kernel_launches;
    if (host) return;
    CHECK(report.findings == std::vector<std::string>{});
    // All steps but the first of each program are one launch, exchanges and all.
    const int programs = plan.training.accumulation > 1 ? 3 : 2;
    CHECK(report.launches >= steps - programs);
    CHECK((report.exchanges > 0) == (ranks.ranks() > 1));
}

std::vector<double> losses(const plan::Plan& plan, int ranks, int steps) {
    std::vector<Losses> observers(static_cast<std::size_t>(ranks));
    if (ranks == 1) {
        const auto alone = runtime::make_self();
        train_rank(plan, *alone, nullptr, steps, observers[0]);
        return observers[0].all;
    }
    const auto network = std::make_shared<runtime::cuda::HostNetwork>(ranks);
    const auto all = runtime::make_in_process(ranks);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&, rank] {
            runtime::Communicator& own = *all[std::size_t(rank)];
            own.set_time_limit(120);
            try {
                train_rank(plan, own, network, steps, observers[std::size_t(rank)]);
            } catch (const runtime::RunError& error) {
                FAIL_CHECK(error.what());
                network->leave();
                try {
                    own.abort(1, error.what());
                } catch (const runtime::RunError&) {  // NOLINT(bugprone-empty-catch)
                }
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    std::vector<double> of_all;
    for (const Losses& one : observers)
        of_all.insert(of_all.end(), one.all.begin(), one.all.end());
    return of_all;
}

void check_same(const Subject& subject, const std::string& dtype, double bound, int ranks = 1) {
    const std::vector<double> wanted =
        losses(compiled(subject, "cpu", dtype, ranks), ranks, subject.steps());
    const std::vector<double> got =
        losses(compiled(subject, "cuda", dtype, ranks), ranks, subject.steps());
    const auto of_rank = std::size_t(subject.steps()) + 1;
    REQUIRE(wanted.size() == std::size_t(ranks) * of_rank);
    REQUIRE(got.size() == wanted.size());
    const bool first_only = subject.sensitive && dtype == "f32";
    if (subject.sensitive) bound = first_only ? kFirstStepsBound : kAmplified * bound;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (first_only && i % of_rank >= kFirstSteps) continue;
        CAPTURE(subject.name);
        CAPTURE(i);
        CHECK(std::fabs(got[i] - wanted[i]) <= bound * std::fabs(wanted[i]));
    }
}

const std::vector<Subject> kSubjects = {
    {"simplecnn", {}, 2, false, kSteps, true},
    {"simplemlp"},
    {"residual_small", {}, 2, false, kSteps, true},
    {"inception_small"},
    {"unet", {"model.input.shape=[1, 32, 32]", "model.parameters.width=4"}},
    {"densenet21k8", {}, 4, true, 8},
    {"resnet20_cifar10", {}, 4, true, 6, true},
    {"densenet_cifar10", {}, 2, true, 3},
    {"mobilenet_v2", {"model.input.shape=[3, 64, 64]"}, 4, true, 5},
};

/// Trainings whose ranks share in more than one way.
const std::vector<Subject> kOfRanks = {
    {"simplecnn", {}, 2, false, kSteps, true},
    {"simplecnn", {"parallel.optimizer=sharded"}, 2, false, 8},
    {"resnet20_cifar10", {"parallel.batch_statistics=synchronised"}, 4, true, 4},
    {"densenet_cifar10", {}, 2, true, 2},
    {"mobilenet_v2", {"model.input.shape=[3, 64, 64]"}, 4, true, 3},
};

}  // namespace

TEST_CASE("a plan for cuda trains as the cpu's does, in double") {
    for (const Subject& subject : kSubjects)
        check_same(subject, "f64", 1e-11);
}

TEST_CASE("a plan for cuda trains as the cpu's does, in float") {
    for (const Subject& subject : kSubjects)
        if (subject.in_float || takes_all_steps()) check_same(subject, "f32", 1e-5);
}

TEST_CASE("values of 16 bits train as those of 32 do, but for their rounding") {
    // Rounding adds up over the layers: `bound` is for 8 bits of precision.
    struct Run {
        Subject first;
        int ranks;
        double bound;
    };
    const std::vector<Run> runs = {
        {{"simplecnn"}, 1, 2e-2},
        {{"residual_small", {}, 2, false, 8}, 1, 2e-2},
        {{"simplecnn", {"training.clip={norm: 1.0}", "training.accumulation=2"}, 2, false, 8},
         1,
         2e-2},
        {{"simplecnn", {"parallel.optimizer=sharded"}, 2, false, 8}, 2, 2e-2},
        {{"resnet20_cifar10", {"parallel.batch_statistics=synchronised"}, 4, true, 3}, 2, 5e-2},
    };
    for (const Run& run : runs) {
        const int ranks = run.ranks;
        const std::vector<double> wanted =
            losses(compiled(run.first, "cpu", "f32", ranks), ranks, run.first.steps());
        // 11 bits are 8 times as precise.
        for (const std::string compute : {"bf16", "fp16"}) {
            const double bound = compute == "bf16" ? run.bound : run.bound / 8;
            CAPTURE(run.first.name);
            CAPTURE(compute);
            Subject reduced = run.first;
            reduced.settings.push_back("training.compute=" + compute);
            const std::vector<double> got =
                losses(compiled(reduced, "cuda", "f32", ranks), ranks, reduced.steps());
            REQUIRE(got.size() == wanted.size());
            double worst = 0;
            for (std::size_t i = 0; i < wanted.size(); ++i)
                worst = std::max(worst, std::fabs(got[i] - wanted[i]) / std::fabs(wanted[i]));
            CHECK(worst <= bound);
            CHECK(worst > 0);
        }
    }
}

TEST_CASE("gradients that a scale of the loss makes infinite are left out") {
    // One step an epoch, of the same samples: what it loses changes where the weights do.
    const std::vector<std::string> settings = {"training.compute=fp16", "training.epochs=4",
                                               "dataset.train_samples=2",
                                               "training.metrics=[categorical_accuracy]"};
    for (const std::string optimizer :
         {"{sgd: {momentum: 0.9}}", "{adam: {amsgrad: true}}", "{nadam: {learning_rate: 0.0001}}",
          "{adagrad: {learning_rate: 0.001}}", "{rmsprop: {centered: true, learning_rate: 0.0001}}",
          "{lars: {}}", "{lamb: {}}"}) {
        CAPTURE(optimizer);
        Subject subject{"simplemlp", settings, 2, false, 4};
        subject.settings.push_back("training.optimizer=" + optimizer);
        subject.settings.emplace_back("training.loss_scale=16777216");
        const std::vector<double> left = losses(compiled(subject, "cuda", "f32", 1), 1, 4);
        REQUIRE(left.size() == 5);
        CHECK(left[1] == left[0]);
        CHECK(left[3] == left[0]);
        // Halved until it fits.
        subject.settings.back() = "training.loss_scale=0";
        const std::vector<double> found = losses(compiled(subject, "cuda", "f32", 1), 1, 4);
        CHECK(found[3] < found[0]);
    }
}

TEST_CASE("what one launch does to many parameters are the bits of a launch for each") {
    const auto alone = runtime::make_self();
    for (const std::string optimizer :
         {"{sgd: {momentum: 0.9, weight_decay: 0.001}}", "{adam: {amsgrad: true}}", "{nadam: {}}",
          "{adagrad: {}}", "{rmsprop: {centered: true}}"}) {
        for (const int accumulation : {1, 2}) {
            CAPTURE(optimizer);
            CAPTURE(accumulation);
            const Subject subject{"residual_small",
                                  {"training.compute=bf16", "training.optimizer=" + optimizer,
                                   fmt::format("training.accumulation={}", accumulation),
                                   "training.average={decay: 0.9}"},
                                  2,
                                  false,
                                  4};
            const plan::Plan joined = compiled(subject, "cuda", "f32", 1);
            const plan::Plan apart = compiled(subject, "cuda", "f32", 1, {"join_launches"});
            CHECK(joined.programs[0].steps.size() < apart.programs[0].steps.size());
            Losses of_joined, of_apart;
            train_rank(joined, *alone, nullptr, subject.steps(), of_joined);
            train_rank(apart, *alone, nullptr, subject.steps(), of_apart);
            CHECK(of_joined.all == of_apart.all);
            CHECK(of_joined.launches < of_apart.launches);
        }
    }
}

TEST_CASE("a step of resnet50 is at most 450 launches, its updates and roundings few") {
    const plan::Plan plan = gpu_plans::compiled(
        "resnet50", {"training.compute=bf16", "training.batch_size=32"}, "cuda");
    const plan::Program& train = plan.programs[0];
    const auto count = [&](const std::string& op) {
        return std::count_if(train.steps.begin(), train.steps.end(),
                             [&](const plan::Step& step) { return step.op == op; });
    };
    CHECK(train.steps.size() <= 450);
    // 98 MiB of weights, 32 MiB at most at a time.
    CHECK(count("sgd_update") <= 5);
    // And one of the images, one of what ends the network.
    CHECK(count("cast_narrow") <= 7);
}

TEST_CASE("operators are joined that have a kernel which joins") {
    for (const compiler::OpDef* op : compiler::all_ops()) {
        const auto kernels = kernels::kernels_of(op->name, "cuda");
        CAPTURE(op->name);
        CHECK(op->joins == std::any_of(kernels.begin(), kernels.end(),
                                       [](const auto& kernel) { return kernel.joins; }));
    }
}

TEST_CASE("two ranks with devices train as two with processors do, in double") {
    for (const Subject& subject : kOfRanks)
        check_same(subject, "f64", 1e-11, 2);
}

TEST_CASE("two ranks with devices train as two with processors do, in float") {
    for (const Subject& subject : kOfRanks)
        check_same(subject, "f32", 1e-5, 2);
}

}  // namespace dtnn::host_run_test
