/// Ranks that are threads: a training is that of one rank whose batch is as large, with batch norm
/// over the batches of all, dropout, mixup and weights of classes, and also where one update takes
/// several batches.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <thread>

#include "compiler/driver/compile_job.hpp"
#include "plan/json/json.hpp"
#include "runtime/exec/load.hpp"
#include "runtime/train/loop.hpp"
#include "tests/ranks/threads/in_process.hpp"

namespace dtnn::global_batch_test {
namespace {

/// The samples of an update; 270 samples an epoch: the last of the six steps has 30, which the
/// first ranks take.
constexpr int kGlobalBatch = 48;

struct Wish {
    std::string dtype = "f64";
    int ranks = 1;
    std::string statistics = "synchronised";
    std::string reduction = "overlapped";
    int accumulation = 1;
    bool reference = false;
    std::vector<std::string> disabled = {};
    double clip_norm = 0;
    bool sharded = false;
    std::string spec = "residual_blocks";
    std::vector<std::string> settings = {};
    int parts = 1;  ///< batches of a rank that make its part of the global batch
};

plan::Plan compiled(const Wish& wish) {
    compiler::Diagnostics diagnostics;
    compiler::LoadOptions options;
    options.settings = {
        "training.dtype=" + wish.dtype,
        fmt::format("training.batch_size={}", kGlobalBatch / wish.ranks / wish.parts),
        fmt::format("training.accumulation={}", wish.accumulation * wish.parts),
    };
    options.settings.insert(options.settings.end(), wish.settings.begin(), wish.settings.end());
    compiler::JobSpec job = compiler::load_job(fmt::format("tests/equivalence/{}.yaml", wish.spec),
                                               options, diagnostics);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.render(false));
    job.training.training.clip_norm = wish.clip_norm;
    plan::Parallel& parallel = job.parallel.parallel;
    if (wish.sharded) {
        parallel.optimizer = plan::OptimizerState::sharded;
        parallel.any_ranks = false;
        job.ranks = wish.ranks;
    }
    parallel.data = !wish.statistics.empty();
    if (!wish.statistics.empty())
        REQUIRE(plan::parse_name(wish.statistics, parallel.batch_statistics));
    REQUIRE(plan::parse_name(wish.reduction, parallel.reduction));
    parallel.bucket_bytes = 4096;
    const compiler::CompileOptions compile{
        .threads = 1, .disabled_passes = wish.disabled, .reference_kernels = wish.reference};
    const auto plan = compiler::compile_job(job, compile, diagnostics);
    REQUIRE_MESSAGE(plan.has_value(), diagnostics.render(false));
    return *plan;
}

/// Sums of losses over the epoch's samples so far, by step.
class Witness final : public runtime::TrainingObserver {
  public:
    void step(const runtime::Progress& progress) override {
        const auto samples = double(progress.train.samples());
        losses.push_back(samples > 0 ? progress.train.running_value(0) * samples : 0);
    }
    void epoch(const runtime::EpochResult& result) override {
        epochs.push_back(result.train.loss());
    }
    std::vector<double> losses, epochs;
};

struct Trained {
    std::vector<double> losses;  ///< by step, of all ranks, where samples weigh alike
    std::vector<double> epochs;  ///< losses of epochs
    double test_loss = 0;
    std::vector<std::vector<double>> parameters;  ///< by rank; moving statistics too
};

std::vector<double> parameters_of(runtime::Session& session) {
    std::vector<double> all;
    const std::vector<plan::Parameter>& parameters = session.plan().parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (parameters[i].optimizer_state) continue;
        const std::byte* const first = session.executor().parameter(i);
        for (std::int64_t e = 0; e < element_count(parameters[i].dims); ++e) {
            if (parameters[i].dtype == DType::f64)
                all.push_back(reinterpret_cast<const double*>(first)[e]);
            else
                all.push_back(double(reinterpret_cast<const float*>(first)[e]));
        }
    }
    return all;
}

Trained train_on(const Wish& wish) {
    // Through the file's text, as a run gets it.
    const runtime::LoadedPlan loaded =
        runtime::load_plan_text(plan::to_json(compiled(wish)), "plan", wish.ranks);
    const plan::Plan& plan = loaded.plan;
    Trained all;
    all.parameters.resize(std::size_t(wish.ranks));
    std::vector<std::unique_ptr<runtime::Communicator>> communicators =
        runtime::make_in_process(wish.ranks);
    std::mutex mutex;
    std::vector<std::string> errors;
    const auto work = [&](int rank) {
        runtime::Communicator& own = *communicators[std::size_t(rank)];
        own.set_time_limit(60);
        try {
            runtime::Session session(plan, 1, runtime::made_up_source(plan.dataset), own);
            Witness witness;
            runtime::train(session, witness);
            const std::lock_guard lock(mutex);
            all.losses.resize(witness.losses.size());
            for (std::size_t i = 0; i < witness.losses.size(); ++i)
                all.losses[i] += witness.losses[i];
            if (rank == 0) all.epochs = witness.epochs;
            // Before anything is shared: as the ranks have them.
            all.parameters[std::size_t(rank)] = parameters_of(session);
        } catch (const runtime::RunError& error) {
            const std::lock_guard lock(mutex);
            errors.push_back(error.render(false));
        }
    };
    std::vector<std::thread> threads;
    for (int rank = 0; rank < wish.ranks; ++rank)
        threads.emplace_back(work, rank);
    for (std::thread& thread : threads)
        thread.join();
    for (const std::string& error : errors)
        FAIL_CHECK(error);
    return all;
}

double furthest(const std::vector<double>& a, const std::vector<double>& b) {
    REQUIRE(a.size() == b.size());
    double most = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        most = std::max(most, std::fabs(a[i] - b[i]) / std::max(1.0, std::fabs(a[i])));
    return most;
}

void check_same(const Trained& one, const Trained& many, double tolerance) {
    REQUIRE(one.losses.size() >= 24);
    REQUIRE(many.losses.size() == one.losses.size());
    for (std::size_t i = 0; i < one.losses.size(); ++i) {
        CAPTURE(i);
        CHECK(std::fabs(one.losses[i] - many.losses[i]) <= tolerance * std::fabs(one.losses[i]));
    }
    for (const std::vector<double>& parameters : many.parameters) {
        CHECK(parameters == many.parameters[0]);
        CHECK(furthest(one.parameters[0], parameters) <= tolerance);
    }
}

}  // namespace

TEST_CASE("ranks with synchronised statistics train as one rank does, in double") {
    const Trained one = train_on({.statistics = ""});
    for (const char* reduction : {"overlapped", "blocking"}) {
        for (const int ranks : {1, 2, 3, 4}) {  // of 3 and 4 the last rank idles in the last step
            CAPTURE(reduction);
            CAPTURE(ranks);
            check_same(one, train_on({.ranks = ranks, .reduction = reduction}), 1e-12);
        }
    }
    // Local statistics do something else, and this would show it.
    const Trained local = train_on({.ranks = 2, .statistics = "local"});
    CHECK(furthest(one.losses, local.losses) > 1e-3);
}

TEST_CASE("ranks with synchronised statistics train as one rank does, in float") {
    // A run of 24 steps is short: sooner or later rounding takes one relu to the other side of
    // zero.
    const std::vector<std::string> short_run = {"training.epochs=4"};
    const Trained one = train_on({.dtype = "f32", .statistics = "", .settings = short_run});
    for (const int ranks : {2, 3, 4}) {
        CAPTURE(ranks);
        check_same(one, train_on({.dtype = "f32", .ranks = ranks, .settings = short_run}), 1e-5);
    }
}

TEST_CASE("synchronised statistics when gradients are accumulated, in double") {
    const Trained one = train_on({.statistics = "", .accumulation = 4});
    for (const int ranks : {1, 2, 3, 4}) {
        CAPTURE(ranks);
        check_same(one, train_on({.ranks = ranks, .accumulation = 4}), 1e-12);
    }
}

TEST_CASE("synchronised statistics without fusions and with reference kernels, in double") {
    const Trained one = train_on({.statistics = ""});
    check_same(one, train_on({.ranks = 3, .reference = true}), 1e-12);
    for (const char* pass : {"fuse_batch_statistics", "fuse_epilogues", "dead_code"}) {
        CAPTURE(pass);
        check_same(one, train_on({.ranks = 2, .disabled = {pass}}), 1e-12);
    }
}

TEST_CASE("synchronised statistics with a shared optimizer and a clipped norm, in double") {
    const Trained one = train_on({.statistics = "", .clip_norm = 0.5});
    for (const int ranks : {2, 3}) {
        CAPTURE(ranks);
        const Trained many = train_on({.ranks = ranks, .clip_norm = 0.5, .sharded = true});
        REQUIRE(many.losses.size() == one.losses.size());
        CHECK(furthest(one.losses, many.losses) <= 1e-12);
    }
}

TEST_CASE("dropout, mixup and weights of classes know nothing of ranks and batches, in double") {
    const std::vector<std::vector<std::string>> choices = {
        {"training.loss={categorical_cross_entropy: {class_weights: [1, 0.25, 3, 0.5, 7]}}"},
        {"training.loss={categorical_cross_entropy: {class_weights: [1, 0, 3, 0, 7]}}",
         "training.clip={norm: 0.2}", "training.optimizer={adam: {learning_rate: 0.01}}"},
        {"dataset.augmentations=[{mixup: {alpha: 0.4}}]"}};
    for (const std::vector<std::string>& settings : choices) {
        CAPTURE(settings[0]);
        Wish wish{.statistics = "", .spec = "dropout_blocks", .settings = settings};
        const Trained one = train_on(wish);
        REQUIRE(one.epochs.size() == 5);
        wish.parts = 3;
        CHECK(furthest(one.parameters[0], train_on(wish).parameters[0]) <= 1e-12);
        wish.statistics = "local";
        for (const int ranks : {1, 2, 3}) {
            for (const int parts : {1, 2}) {
                for (const bool sharded : {false, true}) {
                    CAPTURE(ranks);
                    CAPTURE(parts);
                    CAPTURE(sharded);
                    wish.ranks = ranks, wish.parts = parts, wish.sharded = sharded;
                    const Trained many = train_on(wish);
                    if (!sharded) {
                        CHECK(many.parameters[0] == many.parameters[std::size_t(ranks - 1)]);
                        CHECK(furthest(one.parameters[0], many.parameters[0]) <= 1e-12);
                    }
                    CHECK(furthest(one.epochs, many.epochs) <= 1e-12);
                }
            }
        }
    }
}

TEST_CASE("dropout, mixup and weights of classes agree in float") {
    for (const char* setting :
         {"training.loss={categorical_cross_entropy: {class_weights: [1, 0.25, 3, 0.5, 7]}}",
          "dataset.augmentations=[{mixup: {alpha: 0.4}}]"}) {
        Wish wish{
            .dtype = "f32", .statistics = "", .spec = "dropout_blocks", .settings = {setting}};
        const Trained one = train_on(wish);
        wish.statistics = "local";
        for (const int ranks : {2, 3}) {
            CAPTURE(ranks);
            wish.ranks = ranks, wish.parts = 4 - ranks;
            CHECK(furthest(one.parameters[0], train_on(wish).parameters[0]) <= 1e-5);
        }
    }
}

TEST_CASE("synchronised statistics with weights of classes, accumulated or not, in double") {
    const std::vector<std::string> weights = {
        "training.loss={categorical_cross_entropy: {class_weights: [1, 0.25, 3, 0.5, 7]}}"};
    for (const int accumulation : {1, 3}) {
        CAPTURE(accumulation);
        const Trained one =
            train_on({.statistics = "", .accumulation = accumulation, .settings = weights});
        for (const int ranks : {2, 3}) {
            CAPTURE(ranks);
            const Trained many =
                train_on({.ranks = ranks, .accumulation = accumulation, .settings = weights});
            CHECK(furthest(one.epochs, many.epochs) <= 1e-12);
            CHECK(furthest(one.parameters[0], many.parameters[0]) <= 1e-12);
        }
    }
}

TEST_CASE("a large bias before batch norm loses nothing, whatever is fused, in double") {
    const Trained one =
        train_on({.statistics = "", .disabled = {"fuse_batch_statistics"}, .spec = "large_bias"});
    const Trained fused = train_on({.statistics = "", .spec = "large_bias"});
    REQUIRE(one.losses.size() == 18);
    CHECK(furthest(one.losses, fused.losses) <= 1e-8);
}

TEST_CASE("the same ranks with synchronised statistics make the same bits, in float") {
    for (const int ranks : {2, 3}) {
        const Trained a = train_on({.dtype = "f32", .ranks = ranks});
        const Trained b = train_on({.dtype = "f32", .ranks = ranks});
        CHECK(a.losses == b.losses);
        CHECK(a.parameters == b.parameters);
    }
}

}  // namespace dtnn::global_batch_test
