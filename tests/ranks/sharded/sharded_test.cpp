/// An optimizer that ranks share trains as one that each of them has whole, and as one rank: jobs
/// are compiled, and run by ranks that are threads.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "compiler/driver/compile_job.hpp"
#include "plan/json/json.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/checkpoint/run_checkpoints.hpp"
#include "runtime/exec/load.hpp"
#include "runtime/train/loop.hpp"
#include "tests/ranks/threads/in_process.hpp"
#include "tests/sanitized.hpp"

namespace dtnn::sharded_test {
namespace {

constexpr int kGlobalBatch = 24;
constexpr int kEpochs = 3;

struct Wish {
    std::vector<std::string> settings;
    std::string dtype = "f64";
    int ranks = 1;
    bool sharded = false;
    const char* reduction = "overlapped";
    std::int64_t bucket_bytes = 40 << 10;  ///< several buckets
};

/// A sanitizer sees in the first steps what it sees in all.
constexpr int kWholeBatches = kSanitized ? 3 : 16;
constexpr int kSamples = kWholeBatches * kGlobalBatch + 10;
constexpr int kBatches = kWholeBatches + 1;
/// Within the second epoch.
constexpr int kStopAfter = kBatches + 3;

/// Convolutions, dense layers and biases, and no batch norm: whole global batches and one of ten
/// samples, which leaves ranks with a part of a batch, or with none.
plan::Plan compiled(const Wish& wish) {
    compiler::Diagnostics diagnostics;
    compiler::LoadOptions options;
    options.settings = {"training.dtype=" + wish.dtype,
                        fmt::format("training.batch_size={}", kGlobalBatch / wish.ranks),
                        fmt::format("training.epochs={}", kEpochs),
                        std::string("training.optimizer={sgd: {learning_rate: 0.01, ") +
                            "momentum: 0.9, nesterov: true, weight_decay: 0.001}}",
                        "training.metrics=[categorical_accuracy]",
                        fmt::format("dataset.train_samples={}", kSamples),
                        "dataset.test_samples=20"};
    options.settings.insert(options.settings.end(), wish.settings.begin(), wish.settings.end());
    compiler::JobSpec job =
        compiler::load_job("specs/models/published/lenet5.yaml", options, diagnostics);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.render(false));
    job.ranks = wish.ranks;
    plan::Parallel& parallel = job.parallel.parallel;
    parallel.data = wish.ranks > 1 || wish.sharded;
    parallel.any_ranks = !wish.sharded;
    parallel.optimizer =
        wish.sharded ? plan::OptimizerState::sharded : plan::OptimizerState::replicated;
    REQUIRE(plan::parse_name(wish.reduction, parallel.reduction));
    parallel.bucket_bytes = wish.bucket_bytes;
    const auto plan = compiler::compile_job(job, {.threads = 1}, diagnostics);
    REQUIRE_MESSAGE(plan.has_value(), diagnostics.render(false));
    // Through the file's text, as a run gets it.
    return runtime::load_plan_text(plan::to_json(*plan), "plan", wish.ranks).plan;
}

class Witness final : public runtime::TrainingObserver {
  public:
    void step(const runtime::Progress& progress) override {
        losses.push_back(progress.train.running_value(0) * double(progress.train.samples()));
    }
    std::vector<double> losses;  ///< sums over the epoch's samples so far, of this rank
};

struct Outcome {
    std::vector<double> losses;                ///< of all ranks
    std::vector<std::vector<std::byte>> bits;  ///< weights and averages, by parameter
    std::vector<double> weights;
    double test = 0;
    std::vector<std::string> failures;
};

struct Continuation {
    std::string folder;  ///< of the run's checkpoints; empty: none
    std::string checksum = "xxh3:a";
    std::int64_t until_step = 0;
    bool resumes = false;
};

bool is_compared(const plan::Parameter& parameter) {
    return !parameter.optimizer_state || parameter.kind == plan::ParameterKind::average;
}

void take_weights(runtime::Executor& executor, Outcome& outcome) {
    const plan::Plan& plan = executor.plan();
    for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
        const plan::Parameter& parameter = plan.parameters[i];
        if (!is_compared(parameter)) continue;
        const std::int64_t elements = element_count(parameter.dims);
        const std::byte* first = executor.parameter(i);
        outcome.bits.emplace_back(first, first + elements * size_of(parameter.dtype));
        for (std::int64_t e = 0; e < elements; ++e) {
            if (parameter.dtype == DType::f32)
                outcome.weights.push_back(double(reinterpret_cast<const float*>(first)[e]));
            else
                outcome.weights.push_back(reinterpret_cast<const double*>(first)[e]);
        }
    }
}

/// One rank's part; what all ranks share is behind the lock.
void train_rank(const plan::Plan& plan, runtime::Communicator& communicator,
                const Continuation& how, Outcome& outcome, std::mutex& lock) {
    runtime::Session session(plan, 1, runtime::made_up_source(plan.dataset), communicator);
    Witness witness;
    runtime::RunCheckpoints keeper(how.folder, session.executor(), {how.checksum, "xxh3:d", 1},
                                   [] { return std::int64_t{0}; });
    // Ranks without a folder take part in writing.
    struct Nothing final : runtime::TrainingKeeper {
        void checkpoint(runtime::TrainingState) override {}
        void keep_best(const runtime::BestWeights&) override {}
        void forget_others(const std::vector<runtime::KeptWeights>&) override {}
        void take_back(const runtime::BestWeights&) override {}
    } nothing;
    runtime::TrainingRequest request;
    request.until_step = how.until_step;
    if (!how.folder.empty())
        request.keeper =
            communicator.rank() == 0 ? static_cast<runtime::TrainingKeeper*>(&keeper) : &nothing;
    std::optional<runtime::TrainingState> from;
    if (how.resumes) {
        std::vector<std::byte> bytes;
        if (communicator.rank() == 0) {
            const auto checkpoint = keeper.load_newest([](const std::string&) {});
            if (checkpoint) bytes = runtime::bytes_of(checkpoint->state);
        }
        const auto all = communicator.all_gather(bytes, "the state");
        from = runtime::state_of(all.front());
        request.from = &*from;
    }
    train(session, witness, request);
    const runtime::PassValues test =
        session.evaluate(runtime::Split::test, session.sampler().test());
    const std::lock_guard<std::mutex> hold(lock);
    outcome.losses.resize(witness.losses.size());
    for (std::size_t i = 0; i < witness.losses.size(); ++i)
        outcome.losses[i] += witness.losses[i];
    Outcome own;
    take_weights(session.executor(), own);
    if (outcome.bits.empty()) {
        outcome.bits = own.bits;
        outcome.weights = own.weights;
        outcome.test = test.loss();
    } else if (outcome.bits != own.bits) {
        outcome.failures.push_back("the weights differ between ranks");
    }
}

Outcome trained(const plan::Plan& plan, const Continuation& how = {}) {
    const int ranks = plan.target.ranks;
    auto all = runtime::make_in_process(ranks);
    Outcome outcome;
    std::mutex lock;
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&, rank] {
            runtime::Communicator& own = *all[std::size_t(rank)];
            own.set_time_limit(120);
            try {
                train_rank(plan, own, how, outcome, lock);
            } catch (const runtime::RunError& error) {
                const std::lock_guard<std::mutex> hold(lock);
                outcome.failures.push_back(error.render(false));
                try {
                    own.abort(1, error.what());
                } catch (const runtime::RunError&) {  // NOLINT(bugprone-empty-catch)
                }
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    for (const std::string& failure : outcome.failures)
        FAIL_CHECK(failure);
    return outcome;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
    REQUIRE(a.size() == b.size());
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        largest = std::max(largest, std::fabs(a[i] - b[i]) / std::max(1.0, std::fabs(a[i])));
    return largest;
}

void check_same(const Outcome& a, const Outcome& b, double bound) {
    REQUIRE(!a.losses.empty());
    CHECK(distance(a.losses, b.losses) <= bound);
    CHECK(distance(a.weights, b.weights) <= bound);
    CHECK(std::fabs(a.test - b.test) <= bound * std::max(1.0, std::fabs(a.test)));
}

struct Folder {
    Folder() {
        char name[] = "/tmp/dtnn-sharded-XXXXXX";
        REQUIRE(mkdtemp(name) != nullptr);
        path = name;
    }
    ~Folder() { std::filesystem::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string path;
};

/// Optimizers, and what stands between gradients and updates.
const std::vector<std::pair<std::string, std::vector<std::string>>> kKinds = {
    {"sgd with Nesterov's momentum", {}},
    {"sgd without a state", {"training.optimizer={sgd: {learning_rate: 0.01}}"}},
    {"adamw with groups, one of them frozen",
     {"training.optimizer={adamw: {learning_rate: 0.001, weight_decay: 0.01}}",
      "training.groups=[{parameters: 'conv2d_2.*', frozen: true}, {parameters: '*.bias', "
      "weight_decay: 0.0, "
      "learning_rate_scale: 2.0}]"}},
    {"nadam, which has a state of one number",
     {"training.optimizer={nadam: {learning_rate: 0.001}}"}},
    {"rmsprop, clipped by norm",
     {"training.optimizer={rmsprop: {learning_rate: 0.001, centered: true, momentum: 0.5}}",
      "training.clip={norm: 0.2}"}},
    {"adagrad, clipped by value",
     {"training.optimizer={adagrad: {learning_rate: 0.01, initial_accumulator: 0.1}}",
      "training.clip={value: 0.001}"}},
    {"accumulation and an average", {"training.accumulation=3", "training.average={decay: 0.9}"}},
};

}  // namespace

TEST_CASE("2, 3 and 4 ranks that share the optimizer train as one rank") {
    for (const char* dtype : {"f64", "f32"}) {
        const double bound = dtype == std::string("f64") ? 1e-12 : 1e-5;
        Wish wish;
        wish.dtype = dtype;
        const Outcome one = trained(compiled(wish));
        CHECK(one.losses.size() == kBatches * kEpochs);
        for (const int ranks : {2, 3, 4}) {
            CAPTURE(dtype);
            CAPTURE(ranks);
            wish.ranks = ranks;
            wish.sharded = false;
            const Outcome replicated = trained(compiled(wish));
            wish.sharded = true;
            const Outcome sharded = trained(compiled(wish));
            check_same(one, replicated, bound);
            check_same(one, sharded, bound);
            check_same(replicated, sharded, bound);
            if (ranks == 3) CHECK(trained(compiled(wish)).bits == sharded.bits);
            wish.reduction = "blocking";
            CHECK(trained(compiled(wish)).bits == sharded.bits);
            wish.reduction = "overlapped";
        }
    }
}

TEST_CASE("one rank may have the one part") {
    Wish wish;
    const Outcome plain = trained(compiled(wish));
    wish.sharded = true;
    check_same(plain, trained(compiled(wish)), 1e-12);
}

TEST_CASE("every optimizer that looks at one weight at a time is shared") {
    for (const auto& kind : kKinds) {
        const auto& name = kind.first;
        const auto& settings = kind.second;
        CAPTURE(name);
        Wish wish;
        wish.settings = settings;
        const Outcome one = trained(compiled(wish));
        wish.ranks = 3;
        wish.sharded = true;
        check_same(one, trained(compiled(wish)), 1e-11);
    }
}

TEST_CASE("a checkpoint of shared state is gone on from by any number of ranks") {
    for (const auto& kind : kKinds) {
        const auto& name = kind.first;
        const auto& settings = kind.second;
        CAPTURE(name);
        Wish wish;
        wish.settings = settings;
        wish.settings.push_back("training.checkpoint={every_epochs: 1}");
        wish.ranks = 3;
        wish.sharded = true;
        const plan::Plan plan = compiled(wish);
        const Outcome whole = trained(plan);
        const Folder folder;
        trained(plan, {folder.path, "xxh3:a", kStopAfter, false});
        // The same ranks make the same bits; the checkpoint is of the first epoch.
        const Outcome again = trained(plan, {folder.path, "xxh3:a", 0, true});
        CHECK(again.losses.size() == kBatches * (kEpochs - 1));
        CHECK(again.bits == whole.bits);
        // Other numbers of ranks, by other plans, sharded or not: alike.
        std::vector<Outcome> others;
        for (const auto& one : {std::pair(2, true), {2, false}, {1, false}}) {
            const auto ranks = one.first;
            const auto sharded = one.second;
            CAPTURE(ranks);
            CAPTURE(sharded);
            const Folder other;
            trained(plan, {other.path, "xxh3:a", kStopAfter, false});
            Wish changed = wish;
            changed.ranks = ranks;
            changed.sharded = sharded;
            changed.settings.push_back("training.batch_size=8");  // of each rank, as before
            others.push_back(trained(compiled(changed), {other.path, "xxh3:b", 0, true}));
        }
        check_same(others[0], others[1], 1e-11);
        CHECK(others[2].losses.size() == (kSamples + 7) / 8 * (kEpochs - 1));
    }
}

TEST_CASE("what is replicated is gone on from by ranks that share it, to the same numbers") {
    Wish wish;
    wish.settings = {"training.checkpoint={every_epochs: 1}"};
    wish.ranks = 2;
    const plan::Plan replicated = compiled(wish);
    wish.sharded = true;
    const plan::Plan sharded = compiled(wish);
    const Outcome whole = trained(replicated);
    const Folder there, back;
    trained(replicated, {there.path, "xxh3:a", kStopAfter, false});
    check_same(
        whole,
        [&] {
            Outcome end = trained(sharded, {there.path, "xxh3:b", 0, true});
            end.losses = whole.losses;  // it has those of the last epochs only
            return end;
        }(),
        1e-12);
    trained(sharded, {back.path, "xxh3:b", kStopAfter, false});
    check_same(
        whole,
        [&] {
            Outcome end = trained(replicated, {back.path, "xxh3:a", 0, true});
            end.losses = whole.losses;
            return end;
        }(),
        1e-12);
}

TEST_CASE("a rank has its part of the state in memory") {
    Wish wish;
    wish.dtype = "f32";
    wish.settings = {"training.optimizer={adam: {learning_rate: 0.001}}"};
    const plan::Plan whole = compiled(wish);
    wish.sharded = true;
    for (const int ranks : {2, 4, 12}) {
        CAPTURE(ranks);
        wish.ranks = ranks;
        const plan::Plan parts = compiled(wish);
        const auto buckets = std::int64_t(parts.shards.size());
        CHECK(buckets > 3);
        // Padding: a part of each of two states in every bucket, to a multiple of the alignment.
        CHECK(parts.memory.optimizer >= whole.memory.optimizer / ranks);
        CHECK(parts.memory.optimizer <=
              whole.memory.optimizer / ranks + 2 * buckets * plan::kAlignment);
        CHECK(parts.memory.parameters <=
              whole.memory.parameters + buckets * ranks * plan::kAlignment);
    }
}

}  // namespace dtnn::sharded_test
