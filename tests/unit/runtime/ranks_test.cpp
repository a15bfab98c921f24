/// Ranks that are threads: whatever their number, a training is the same.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstring>
#include <functional>
#include <limits>
#include <mutex>
#include <set>
#include <thread>

#include "plan/audit/audit.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/comm/null_ranks.hpp"
#include "runtime/exec/collectives.hpp"
#include "runtime/exec/load.hpp"
#include "runtime/train/loop.hpp"
#include "tests/ranks/threads/in_process.hpp"
#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/hand_made_plan.hpp"

namespace dtnn::runtime::ranks_test {
namespace {

/// Does the work on so many ranks; what each has thrown.
std::vector<std::optional<RunError>> on_ranks(int ranks,
                                              const std::function<void(Communicator&)>& work) {
    std::vector<std::unique_ptr<Communicator>> all = make_in_process(ranks);
    std::vector<std::optional<RunError>> errors(static_cast<std::size_t>(ranks));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
        threads.emplace_back([&, rank] {
            Communicator& own = *all[std::size_t(rank)];
            own.set_time_limit(60);
            try {
                work(own);
            } catch (const SharedRunError& error) {
                errors[std::size_t(rank)] = error;
            } catch (const RunError& error) {
                errors[std::size_t(rank)] = error;
                try {
                    own.abort(int(error.exit()), error.what());
                } catch (const RunError&) {  // NOLINT(bugprone-empty-catch)
                }
            }
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    return errors;
}

void expect_none(const std::vector<std::optional<RunError>>& errors) {
    for (const auto& error : errors) {
        if (error) FAIL_CHECK(error->render(false));
    }
}

/// The steps as one rank saw them.
class Witness final : public TrainingObserver {
  public:
    void batch(const BatchSamples& batch) override {
        samples.emplace_back(batch.samples.begin(), batch.samples.end());
    }
    void step(const Progress& progress) override {
        losses.push_back(progress.train.running_value(0) * double(progress.train.samples()));
        all_samples = progress.samples;
        if (int(losses.size()) == stop_after) request_stop(SIGTERM);
    }
    void epoch(const EpochResult& result) override { epochs.push_back(result); }

    int stop_after = -1;
    std::int64_t all_samples = 0;
    std::vector<std::vector<std::int64_t>> samples;  ///< of each step
    std::vector<double> losses;  ///< sums of losses over the epoch's samples so far, by step
    std::vector<EpochResult> epochs;
};

/// The work of all ranks together.
struct Whole {
    std::vector<std::vector<std::int64_t>> samples;  ///< of each step, sorted
    std::vector<double> losses;
    std::vector<EpochResult> epochs;
    PassValues test;
    std::vector<double> weights;
    std::int64_t steps = 0;
};

std::vector<double> weights_of(const Session& session) {
    auto& executor = const_cast<Session&>(session).executor();
    const auto* first = reinterpret_cast<const double*>(executor.parameter(0));
    return {first, first + element_count(session.plan().parameters[0].dims)};
}

HandMade wish_of(std::int64_t batch, std::int64_t train_samples = 100) {
    HandMade wish;
    wish.dtype = DType::f64;
    wish.batch = batch;
    wish.train_samples = train_samples;
    wish.validation_samples = 14;
    wish.epochs = 3;
    wish.parallel = true;
    return wish;
}

Whole train_on(int ranks, const plan::Plan& plan, int stop_after = -1, int stopping_rank = 0) {
    Whole whole;
    std::mutex mutex;
    std::vector<std::int64_t> steps;
    std::vector<std::vector<double>> losses(static_cast<std::size_t>(ranks));
    expect_none(on_ranks(ranks, [&](Communicator& communicator) {
        Session session(plan, 1, made_up_source(plan.dataset), communicator);
        Witness witness;
        if (communicator.rank() == stopping_rank) witness.stop_after = stop_after;
        const TrainingResult result = train(session, witness);
        const PassValues test = session.evaluate(Split::test, session.sampler().test());
        const std::lock_guard lock(mutex);
        steps.push_back(result.step);
        CHECK(result.interrupted == (stop_after > 0));
        whole.samples.resize(std::max(whole.samples.size(), witness.samples.size()));
        losses[std::size_t(communicator.rank())] = witness.losses;
        for (std::size_t i = 0; i < witness.samples.size(); ++i) {
            auto& list = whole.samples[i];
            list.insert(list.end(), witness.samples[i].begin(), witness.samples[i].end());
            std::sort(list.begin(), list.end());
        }
        if (communicator.rank() == 0) {
            whole.epochs = witness.epochs;
            whole.test = test;
            whole.weights = weights_of(session);
        } else if (!whole.weights.empty()) {
            CHECK(whole.weights == weights_of(session));
            CHECK(whole.test.loss() == test.loss());
        }
    }));
    whole.losses.resize(whole.samples.size());
    for (const std::vector<double>& of_rank : losses) {
        for (std::size_t i = 0; i < of_rank.size(); ++i)
            whole.losses[i] += of_rank[i];
    }
    CHECK(std::set<std::int64_t>(steps.begin(), steps.end()).size() == 1);
    whole.steps = steps.empty() ? -1 : steps.front();
    return whole;
}

void check_near(double a, double b) {
    CHECK(std::fabs(a - b) <= 1e-12 * std::max(std::fabs(a), std::fabs(b)));
}

void check_same_training(const Whole& one, const Whole& many) {
    CHECK(one.samples == many.samples);
    REQUIRE(one.losses.size() == many.losses.size());
    for (std::size_t i = 0; i < one.losses.size(); ++i)
        check_near(one.losses[i], many.losses[i]);
    REQUIRE(one.weights.size() == many.weights.size());
    for (std::size_t i = 0; i < one.weights.size(); ++i)
        CHECK(std::fabs(one.weights[i] - many.weights[i]) < 1e-12);
    REQUIRE(one.epochs.size() == many.epochs.size());
    for (std::size_t i = 0; i < one.epochs.size(); ++i) {
        CHECK(one.epochs[i].train.samples == many.epochs[i].train.samples);
        CHECK(one.epochs[i].validation.samples == many.epochs[i].validation.samples);
        check_near(one.epochs[i].train.loss(), many.epochs[i].train.loss());
        check_near(one.epochs[i].validation.loss(), many.epochs[i].validation.loss());
        // Counts are joined without rounding.
        CHECK(one.epochs[i].train.values[1].number() == many.epochs[i].train.values[1].number());
        CHECK(one.epochs[i].validation.values[1].number() ==
              many.epochs[i].validation.values[1].number());
    }
    CHECK(one.test.samples == many.test.samples);
    check_near(one.test.loss(), many.test.loss());
}

struct Unstopped {
    Unstopped() { request_stop(0); }
    ~Unstopped() { request_stop(0); }
};

/// Made-up samples; one of them cannot be loaded, or is NaN.
class Broken final : public SampleSource {
  public:
    Broken(const plan::Dataset& dataset, std::int64_t broken, bool throws)
        : source_(made_up_source(dataset)), broken_(broken), throws_(throws) {}
    void load(Split split, std::int64_t index, Sample& sample) const override {
        source_->load(split, index, sample);
        if (split != Split::train || index != broken_) return;
        if (throws_) throw RunError(Exit::failed, "the sample is torn");
        sample.input().floats[0] = std::numeric_limits<float>::quiet_NaN();
    }
    std::int64_t size(Split split) const override { return source_->size(split); }
    std::uint64_t content_hash() const override { return source_->content_hash(); }
    std::int64_t resident_bytes() const override { return source_->resident_bytes(); }

  private:
    std::unique_ptr<SampleSource> source_;
    std::int64_t broken_;
    bool throws_;
};

/// Keeps the states of checkpoints, and rank 0's parameters at them.
class Memory final : public TrainingKeeper {
  public:
    explicit Memory(Executor& executor) : executor_(executor) {}
    void checkpoint(TrainingState state) override {
        states.push_back(std::move(state));
        auto& bytes = parameters.emplace_back();
        for (std::size_t i = 0; i < executor_.plan().parameters.size(); ++i)
            bytes.insert(bytes.end(), executor_.parameter(i), executor_.parameter(i) + size(i));
    }
    void put_back(const std::vector<std::byte>& bytes) {
        const std::byte* from = bytes.data();
        for (std::size_t i = 0; i < executor_.plan().parameters.size(); from += size(i), ++i)
            std::memcpy(executor_.parameter(i), from, std::size_t(size(i)));
    }
    void keep_best(const BestWeights&) override {}
    void forget_others(const std::vector<KeptWeights>&) override {}
    void take_back(const BestWeights&) override {}

    std::vector<TrainingState> states;
    std::vector<std::vector<std::byte>> parameters;

  private:
    std::int64_t size(std::size_t i) const {
        const plan::Parameter& parameter = executor_.plan().parameters[i];
        return element_count(parameter.dims) * size_of(parameter.dtype);
    }
    Executor& executor_;
};

}  // namespace

TEST_CASE("a training is the same on any number of ranks") {
    const plan::Plan plan = hand_made_plan(wish_of(12));
    for (const std::string& finding : plan::audit(plan))
        FAIL_CHECK(finding);
    const Whole one = train_on(1, plan);
    CHECK(one.steps == 27);
    for (const int ranks : {2, 3, 4, 6, 12}) {  // the last step has samples for some of them only
        CAPTURE(ranks);
        const Whole many = train_on(ranks, hand_made_plan(wish_of(12 / ranks)));
        CHECK(many.steps == 27);
        check_same_training(one, many);
    }
}

TEST_CASE("ranks that never have a batch take part in every exchange") {
    const Whole one = train_on(1, hand_made_plan(wish_of(72, 44)));
    CHECK(one.steps == 3);
    check_same_training(one, train_on(9, hand_made_plan(wish_of(8, 44))));
}

TEST_CASE("the same ranks make the same bits") {
    const plan::Plan plan = hand_made_plan(wish_of(4));
    const Whole a = train_on(3, plan), b = train_on(3, plan);
    CHECK(a.weights == b.weights);
    CHECK(a.losses == b.losses);
    CHECK(a.test.loss() == b.test.loss());
}

TEST_CASE("a stop on one rank stops all at the same step") {
    const Unstopped unstopped;
    const plan::Plan plan = hand_made_plan(wish_of(4));
    const Whole stopped = train_on(3, plan, 5, 2);
    CHECK(stopped.steps >= 5);
    CHECK(stopped.steps <= 9);
}

TEST_CASE("a mistake on one rank ends all") {
    const plan::Plan plan = hand_made_plan(wish_of(4));
    // The second batch of rank 2.
    const std::int64_t torn = Sampler(plan.dataset, plan.training).epoch_order(0)[5 * 4];
    const auto errors = on_ranks(3, [&](Communicator& communicator) {
        auto source = std::make_unique<Broken>(plan.dataset, torn, true);
        Session session(plan, 1, std::move(source), communicator);
        Witness witness;
        train(session, witness);
    });
    for (const auto& error : errors) {
        REQUIRE(error.has_value());
        CHECK(error->exit() == Exit::failed);
        CHECK(error->render(false).find("torn") != std::string::npos);
    }
}

TEST_CASE("a loss that is no number is known to all, with its rank") {
    plan::Plan plan = hand_made_plan(wish_of(4));
    plan.training.shuffle = false;
    const auto errors = on_ranks(3, [&](Communicator& communicator) {
        // Without shuffling the pool is in rising order: its first batch is rank 0's.
        Session session(plan, 1, made_up_source(plan.dataset), communicator);
        const std::int64_t first = session.sampler().train()[5];
        Session broken(plan, 1, std::make_unique<Broken>(plan.dataset, first, false), communicator);
        Witness witness;
        train(broken, witness);
    });
    for (const auto& error : errors) {
        REQUIRE(error.has_value());
        CHECK(error->exit() == Exit::diverged);
        CHECK(std::string(error->what()).find("loss of rank 1") != std::string::npos);
        CHECK(error->detail().find("step 1") != std::string::npos);
    }
}

TEST_CASE("together tells what ranks have found, once where it is alike") {
    const auto alike = on_ranks(3, [](Communicator& communicator) {
        together(communicator, "work", [] { throw RunError(Exit::mismatch, "all wrong", "mend"); });
    });
    for (const auto& error : alike) {
        REQUIRE(error.has_value());
        CHECK(error->what() == std::string("all wrong"));
        CHECK(error->help() == "mend");
    }
    const auto one = on_ranks(3, [](Communicator& communicator) {
        together(communicator, "work", [&] {
            if (communicator.rank() == 1) throw RunError(Exit::usage, "no such file");
        });
    });
    for (const auto& error : one) {
        REQUIRE(error.has_value());
        CHECK(error->exit() == Exit::usage);
        CHECK(std::string(error->what()).starts_with("rank 1"));
    }
}

namespace {

/// A training with its checkpoints, and what it ended with.
struct Kept {
    std::vector<TrainingState> states;
    std::vector<std::vector<std::byte>> parameters;
    std::vector<double> weights, losses;  ///< losses by epoch
};

Kept kept_training(int ranks, const plan::Plan& plan) {
    Kept kept;
    expect_none(on_ranks(ranks, [&](Communicator& communicator) {
        Session session(plan, 1, made_up_source(plan.dataset), communicator);
        Memory memory(session.executor());
        Witness witness;
        TrainingRequest request;
        request.keeper = &memory;
        train(session, witness, request);
        if (communicator.rank() != 0) return;
        kept.states = memory.states;
        kept.parameters = memory.parameters;
        kept.weights = weights_of(session);
        for (const EpochResult& epoch : witness.epochs)
            kept.losses.push_back(epoch.train.loss());
    }));
    return kept;
}

/// The rest of a training, from a state and the parameters beside it: weights, and losses of the
/// epochs that end.
std::pair<std::vector<double>, std::vector<double>> go_on(
    int ranks, const plan::Plan& plan, const TrainingState& from,
    const std::vector<std::byte>& parameters) {
    std::vector<double> weights, ended;
    expect_none(on_ranks(ranks, [&](Communicator& communicator) {
        Session session(plan, 1, made_up_source(plan.dataset), communicator);
        if (communicator.rank() == 0) Memory(session.executor()).put_back(parameters);
        Witness witness;
        TrainingRequest request;
        request.from = &from;
        train(session, witness, request);
        if (communicator.rank() != 0) return;
        weights = weights_of(session);
        for (const EpochResult& epoch : witness.epochs)
            ended.push_back(epoch.train.loss());
    }));
    REQUIRE(!ended.empty());
    return {weights, ended};
}

}  // namespace

TEST_CASE("a training that goes on makes the same bits, and goes on with other ranks") {
    plan::Plan plan = hand_made_plan(wish_of(4));
    plan.training.checkpoint.every_steps = 4;
    plan.training.checkpoint.every_epochs = 0;
    const Kept kept = kept_training(3, plan);
    const std::vector<TrainingState>& states = kept.states;
    const std::vector<double>&weights = kept.weights, &losses = kept.losses;
    REQUIRE(states.size() >= 5);
    for (std::size_t which = 0; which < states.size(); ++which) {
        CAPTURE(states[which].step);
        const auto [result, ended] =
            go_on(3, plan, state_of(bytes_of(states[which])), kept.parameters[which]);
        CHECK(result == weights);
        CHECK(std::equal(ended.rbegin(), ended.rend(), losses.rbegin()));
    }
    // Four steps of three ranks are six of two, with the same batch on each; the same plan.
    CHECK(states[0].batch == 4);
    CHECK(at_ranks(plan, states[0], 2).batch == 6);
    CHECK(at_ranks(plan, states[0], 2).ranks == 2);
    const auto [by_two, two_ended] =
        go_on(2, plan, state_of(bytes_of(states[0])), kept.parameters[0]);
    CHECK(by_two.size() == weights.size());
    CHECK(std::fabs(two_ended[0] - losses[0]) < 0.2 * losses[0]);
    expect_error(Exit::mismatch, {"5 ranks cannot go on", "48 samples", "with 3 ranks", "1, 2"},
                 [&] { at_ranks(plan, states[0], 5); });
    TrainingState between;
    between.ranks = 3, between.epoch = 2;
    CHECK(at_ranks(plan, between, 5).ranks == 5);
}

TEST_CASE("ranks that share the same global batch otherwise go on as if nothing had changed") {
    plan::Plan four = hand_made_plan(wish_of(6));
    four.training.checkpoint.every_steps = 2;
    four.training.checkpoint.every_epochs = 0;
    const Kept kept = kept_training(4, four);
    const std::vector<TrainingState>& states = kept.states;
    const std::vector<double>&weights = kept.weights, &losses = kept.losses;
    REQUIRE(states.size() >= 4);
    for (const int ranks : {1, 2, 3}) {
        const plan::Plan plan = hand_made_plan(wish_of(24 / ranks));
        for (std::size_t which = 0; which < 4; ++which) {
            CAPTURE(ranks);
            CAPTURE(states[which].step);
            TrainingState from = state_of(bytes_of(states[which]));
            from.batch_size = 6;  // as a checkpoint says it
            const TrainingState there = at_ranks(plan, from, ranks);
            CHECK(there.batch == from.batch);
            CHECK(there.batch_size == 24 / ranks);
            const auto [result, ended] = go_on(ranks, plan, from, kept.parameters[which]);
            for (std::size_t i = 0; i < ended.size(); ++i) {
                const double before = losses[losses.size() - ended.size() + i];
                CHECK(std::fabs(ended[i] - before) <= 1e-12 * before);
            }
            REQUIRE(result.size() == weights.size());
            for (std::size_t i = 0; i < result.size(); ++i)
                CHECK(result[i] == doctest::Approx(weights[i]).epsilon(1e-12));
        }
    }
    // Another batch of all ranks is another training, wherever it stands.
    TrainingState from = states[0];
    from.batch_size = 6;
    for (const std::int64_t batch : {std::int64_t{0}, from.batch}) {
        from.batch = batch;
        expect_error(Exit::mismatch,
                     {"global batches are of 24 samples (4 ranks of 6)", "of 16 (2 ranks of 8)",
                      "--ranks 2 --set training.global_batch_size=24"},
                     [&] { at_ranks(hand_made_plan(wish_of(8)), from, 2); });
    }
    expect_error(Exit::mismatch, {"5 ranks cannot share 24 samples evenly; 1, 2, 3, 4, 6, 8 can"},
                 [&] { at_ranks(hand_made_plan(wish_of(5)), from, 5); });
}

TEST_CASE("the metrics of several passes join to those of one") {
    plan::Plan plan = hand_made_plan();
    plan.training.metrics = {{"accuracy", "categorical_accuracy", {}, "accuracy"},
                             {"area", "roc_auc", {}, "probabilities"},
                             {"f1", "f1", {}, "pairs"}};
    constexpr int kParts = 3, kBatches = 7, kRows = 4;
    MetricSet whole(plan, PassKind::evaluation, 100);
    std::vector<MetricSet> parts(kParts, MetricSet(plan, PassKind::evaluation, 100));
    whole.reset();
    for (int batch = 0; batch < kBatches; ++batch) {
        float loss = 0.25F * float(batch + 1), scores[kRows * 3];
        double right = batch % 5;
        std::int32_t labels[kRows], pairs[kRows * 2];
        for (int row = 0; row < kRows; ++row) {
            labels[row] = (batch + row) % 3;
            pairs[2 * row] = labels[row];
            pairs[2 * row + 1] = (batch * row) % 3;
            for (int c = 0; c < 3; ++c)
                scores[3 * row + c] = float((7 * batch + 5 * row + 3 * c) % 11) / 11;
        }
        BatchOutputs outputs;
        outputs.loss = {&loss, DType::f32, 1};
        outputs.labels = {labels, DType::i32, kRows};
        outputs.metrics = {{&right, DType::f64, 1},
                           {scores, DType::f32, kRows * 3},
                           {pairs, DType::i32, kRows * 2}};
        whole.add(outputs, kRows);
        parts[std::size_t(batch % kParts)].add(outputs, kRows);
    }
    const auto communicators = make_in_process(kParts);
    std::vector<JoinedValues> joined(kParts), again(kParts);
    const auto on_each = [&](const std::function<void(std::size_t)>& work) {
        std::vector<std::thread> threads;
        for (std::size_t rank = 0; rank < kParts; ++rank)
            threads.emplace_back([&, rank] { work(rank); });
        for (std::thread& thread : threads)
            thread.join();
    };
    on_each([&](std::size_t rank) { joined[rank] = parts[rank].joined(*communicators[rank]); });
    // A part that has gone to rank 0 counts once: joining again gives the same.
    on_each([&](std::size_t rank) { again[rank] = parts[rank].joined(*communicators[rank]); });
    const std::vector<MetricValue> a = whole.values();
    REQUIRE(a.size() == 4);
    CHECK(a[2].number() > 0);
    for (std::size_t rank = 0; rank < kParts; ++rank) {
        CHECK(joined[rank].samples == whole.samples());
        REQUIRE(joined[rank].values.size() == a.size());
        for (std::size_t i = 0; i < a.size(); ++i) {
            CHECK(joined[rank].values[i].numbers == a[i].numbers);
            CHECK(again[rank].values[i].numbers == a[i].numbers);
        }
    }
    // Counts are with rank 0, and are as large for any number of ranks.
    const std::vector<std::byte> none(parts[0].save_counts().size());
    CHECK(parts[0].save_counts() == whole.save_counts());
    CHECK(parts[1].save_counts() == none);
    CHECK(parts[0].save_sums() != whole.save_sums());
    std::vector<std::byte> torn = parts[0].save_sums();
    torn.pop_back();
    expect_error(Exit::mismatch, {"the sums of the metrics"}, [&] { parts[0].add_sums(torn); });
}

TEST_CASE("what ranks send to join their metrics does not grow with classes and ranks") {
    plan::Plan plan = hand_made_plan();
    plan.dataset.target().classes = 1000;
    plan.training.metrics = {{"confusion_matrix", "confusion_matrix", {}, "pairs"}};
    for (const int ranks : {2, 16}) {
        const std::unique_ptr<NullRank> communicator = make_null(1, ranks);
        MetricSet set(plan, PassKind::training);
        set.reset();
        const auto largest = [&] {
            std::int64_t bytes = 0;
            for (const RecordedOperation& one : communicator->record()) {
                // All get what all have given: as much again for every rank.
                const bool to_all = one.kind == OperationKind::all_gather;
                bytes = std::max(bytes, one.bytes * (to_all ? ranks : 1));
            }
            return bytes;
        };
        CHECK(set.joined(*communicator).values.size() == 2);
        CHECK(largest() <= std::int64_t(kGatherPiece));
        communicator->clear();
        set.collect_counts(*communicator);
        CHECK(communicator->record().size() > 2);
        CHECK(largest() <= std::int64_t(kGatherPiece));
    }
}

TEST_CASE("exchanges that ranks cannot meet in are refused") {
    const plan::Plan sound = hand_made_plan(wish_of(12));
    CHECK_FALSE(collectives_mistake(sound).has_value());
    const auto refuse = [&](const char* words, auto change) {
        plan::Plan plan = sound;
        change(plan);
        expect_error(Exit::mismatch, {words}, [&] { check_runnable(plan, "p", 1); });
    };
    refuse("do not have the same exchanges",
           [](plan::Plan& plan) { plan.programs[1].collectives[0].bytes -= 8; });
    refuse("is not added up",
           [](plan::Plan& plan) { plan.programs[0].collectives[0].dtype = DType::u8; });
    // Programs whose gradients are only added up may have several sizes too.
    plan::Plan sums = sound;
    for (const char* name : {"accumulate", "accumulate_tail"}) {
        sums.programs.push_back(sums.programs[0]);
        sums.programs.back().name = name;
        sums.programs.back().kind = plan::ProgramKind::accumulate;
        sums.programs.back().collectives.resize(1);
        sums.programs.back().collectives[0].parameters.clear();
    }
    CHECK_FALSE(collectives_mistake(sums).has_value());
    sums.programs.back().collectives[0].name = "other.statistics";
    const std::optional<std::string> mistake = collectives_mistake(sums);
    REQUIRE(mistake.has_value());
    CHECK(mistake->find("`accumulate` and `accumulate_tail`") != std::string::npos);
    refuse("no `batch_weight`", [](plan::Plan& plan) {
        std::erase_if(plan.programs[0].inputs, [](const plan::Input& input) {
            return input.role == plan::InputRole::batch_weight;
        });
    });
    refuse("for 4 ranks, and there is 1", [](plan::Plan& plan) {
        plan.parallel.any_ranks = false;
        plan.target.ranks = 4;
    });
    expect_error(Exit::mismatch, {"for one rank, and there are 3", "parallel: {data: auto}"},
                 [&] { check_runnable(hand_made_plan(), "p", 3); });
    refuse("for one rank", [](plan::Plan& plan) { plan.parallel.data = false; });
}

}  // namespace dtnn::runtime::ranks_test
