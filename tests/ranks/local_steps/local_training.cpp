#include "tests/ranks/local_steps/local_training.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "compiler/driver/compile_job.hpp"
#include "plan/json/json.hpp"
#include "runtime/exec/load.hpp"
#include "runtime/train/private_data.hpp"
#include "runtime/train/session.hpp"
#include "tests/ranks/threads/in_process.hpp"

namespace dtnn {

using namespace runtime;  // NOLINT(google-build-using-namespace): what is tested here

plan::Plan compiled(const std::string& text) {
    compiler::Diagnostics diagnostics;
    compiler::LoadOptions options;
    options.texts["job.yaml"] = text;
    compiler::JobSpec job = compiler::load_job("job.yaml", options, diagnostics);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.render(false));
    const auto plan = compiler::compile_job(job, {.threads = 1}, diagnostics);
    REQUIRE_MESSAGE(plan.has_value(), diagnostics.render(false));
    return load_plan_text(plan::to_json(*plan), "plan", job.ranks).plan;
}

DataFolder::DataFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "dtnn-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot create " + name);
    path_ = name;
}

DataFolder::~DataFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

void DataFolder::write_pairs(const std::string& name, double x, double y, int lines) const {
    std::ofstream file(*this / (name + ".csv"));
    for (int i = 0; i < lines; ++i)
        file << x << ',' << y << '\n';
    REQUIRE(file.flush());
}

void DataFolder::write_mnist(const std::string& name, int train, int test, unsigned seed) const {
    const std::string folder = *this / name;
    std::filesystem::create_directory(folder);
    const auto header = [](std::initializer_list<int> numbers) {
        std::string bytes;
        for (const int number : numbers)
            for (int shift = 24; shift >= 0; shift -= 8)
                bytes += char(number >> shift & 0xff);
        return bytes;
    };
    const auto write = [&](const std::string& file, const std::string& bytes) {
        std::ofstream out(folder + "/" + file, std::ios::binary);
        out << bytes;
        REQUIRE(out.flush());
    };
    unsigned state = seed * 2654435761U + 1;
    const auto next = [&] { return (state = state * 1664525U + 1013904223U) >> 24; };
    for (const auto& [prefix, count] : {std::pair("train", train), std::pair("t10k", test)}) {
        std::string images = header({0x803, count, 28, 28}), labels = header({0x801, count});
        for (int i = 0; i < count; ++i) {
            for (int pixel = 0; pixel < 28 * 28; ++pixel)
                images += char(next());
            labels += char(next() % 10);
        }
        write(std::string(prefix) + "-images-idx3-ubyte", images);
        write(std::string(prefix) + "-labels-idx1-ubyte", labels);
    }
}

const std::vector<double>& Trained::of(const plan::Plan& plan, const std::string& name) const {
    for (std::size_t i = 0; i < plan.parameters.size(); ++i)
        if (plan.parameters[i].name == name) return parameters[i];
    throw std::runtime_error("no parameter " + name);
}

namespace {

std::vector<double> numbers_of(const Executor& executor, std::size_t index) {
    const plan::Parameter& parameter = executor.plan().parameters[index];
    const auto count = std::size_t(element_count(parameter.dims));
    std::vector<double> numbers(count);
    const std::byte* from = executor.parameter(index);
    for (std::size_t i = 0; i < count; ++i) {
        if (parameter.dtype == DType::f64) {
            std::memcpy(&numbers[i], from + i * sizeof(double), sizeof(double));
        } else {
            float value = 0;
            std::memcpy(&value, from + i * sizeof(float), sizeof(float));
            numbers[i] = double(value);
        }
    }
    return numbers;
}

std::size_t bytes_of(const plan::Parameter& parameter) {
    return std::size_t(element_count(parameter.dims) * size_of(parameter.dtype));
}

class Memory final : public TrainingKeeper {
  public:
    explicit Memory(const Executor& executor) : executor_(executor) {}
    void checkpoint(TrainingState state) override {
        Kept& one = kept.emplace_back();
        one.state = std::move(state);
        const std::vector<plan::Parameter>& parameters = executor_.plan().parameters;
        for (std::size_t i = 0; i < parameters.size(); ++i)
            one.parameters.emplace_back(executor_.parameter(i),
                                        executor_.parameter(i) + bytes_of(parameters[i]));
    }
    void keep_best(const BestWeights&) override {}
    void forget_others(const std::vector<KeptWeights>&) override {}
    void take_back(const BestWeights&) override {}
    std::vector<Kept> kept;

  private:
    const Executor& executor_;
};

class Witness final : public TrainingObserver {
  public:
    void batch(const BatchSamples& batch) override { own_steps += !batch.samples.empty(); }
    void epoch(const EpochResult& result) override {
        losses.push_back(result.train.loss());
        samples.push_back(result.train.samples);
    }
    std::int64_t own_steps = 0;
    std::vector<double> losses;
    std::vector<std::int64_t> samples;
};

void train_rank(Communicator& communicator, plan::Plan plan, const Kept* from, Trained& trained,
                std::mutex& mutex) {
    std::unique_ptr<SampleSource> source;
    std::vector<std::int64_t> counts;
    if (plan.parallel.private_data) {
        together(communicator, "the datasets",
                 [&] { source = open_private_data(plan, communicator.rank()); });
        counts = share_sample_counts(plan, communicator);
    } else {
        source = open_source(plan.dataset);
    }
    Session session(plan, 1, std::move(source), communicator);
    session.set_rank_samples(counts);
    const bool first = communicator.rank() == 0;
    TrainingState state;
    if (from != nullptr) {
        // The state alone has travelled to the others.
        state = first ? from->state : state_of(runtime::bytes_of(from->state));
        for (std::size_t i = 0; first && i < from->parameters.size(); ++i)
            std::memcpy(session.executor().parameter(i), from->parameters[i].data(),
                        from->parameters[i].size());
    }
    Memory memory(session.executor());
    Witness witness;
    TrainingRequest request;
    request.from = from == nullptr ? nullptr : &state;
    request.keeper = &memory;
    const TrainingResult result = train(session, witness, request);
    const PassValues test = session.evaluate(Split::test, session.sampler().test());
    std::vector<std::vector<double>> parameters;
    for (std::size_t i = 0; i < plan.parameters.size(); ++i)
        parameters.push_back(numbers_of(session.executor(), i));
    std::vector<std::vector<std::byte>> all;
    for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
        if (plan.parameters[i].by_rank) continue;
        const std::span<const std::byte> mine(session.executor().parameter(i),
                                              bytes_of(plan.parameters[i]));
        all = communicator.all_gather(mine, "a parameter");
        const std::lock_guard lock(mutex);
        for (const auto& other : all)
            trained.same_on_all = trained.same_on_all && other == all.front();
    }
    const std::lock_guard lock(mutex);
    trained.own_steps[std::size_t(communicator.rank())] = witness.own_steps;
    if (!first) return;
    trained.parameters = parameters;
    trained.losses = witness.losses;
    trained.samples = witness.samples;
    trained.steps = result.step;
    trained.kept = memory.kept;
    trained.test = test;
}

}  // namespace

Trained train_on(int ranks, const plan::Plan& plan, const Kept* from) {
    Trained trained;
    trained.own_steps.resize(std::size_t(ranks));
    std::mutex mutex;
    std::vector<std::unique_ptr<Communicator>> all = make_in_process(ranks);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
        threads.emplace_back([&, rank] {
            Communicator& own = *all[std::size_t(rank)];
            own.set_time_limit(60);
            const auto failed = [&](const RunError& error) {
                const std::lock_guard lock(mutex);
                if (trained.error.empty()) trained.error = error.render(false);
            };
            try {
                train_rank(own, plan, from, trained, mutex);
            } catch (const SharedRunError& error) {
                failed(error);
            } catch (const RunError& error) {
                failed(error);
                try {
                    own.abort(int(error.exit()), error.what());
                } catch (const RunError&) {  // NOLINT(bugprone-empty-catch)
                }
            }
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    return trained;
}

}  // namespace dtnn
