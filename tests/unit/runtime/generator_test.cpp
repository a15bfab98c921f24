/// How texts of a batch are fed, step by step, to a program that says of each token the next
/// number.

#include "runtime/generate/generator.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/signals.hpp"
#include "runtime/exec/executor.hpp"
#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/hand_made_plan.hpp"

namespace dtnn::runtime::generator_test {
namespace {

using Tokens = std::vector<std::int32_t>;
using plan::BufferRole;
using plan::InputRole;

constexpr std::int64_t kTokens = 5;

/// Texts of at most `context` steps; 0: of any number. What is kept is written by nobody.
plan::Plan counting_plan(std::int64_t batch, std::int64_t context) {
    plan::Plan made;
    made.name = "counting";
    made.target.isa = "baseline";
    made.prediction = plan::Prediction::scores;
    plan::Feature& input = made.dataset.input();
    input.kind = plan::LabelKind::classes;
    input.dtype = DType::i32;
    input.dims = {context > 0 ? context : 3};
    input.classes = made.dataset.target().classes = kTokens;
    plan::Program program;
    program.name = "generate";
    program.kind = plan::ProgramKind::generate;
    program.phase = plan::ProgramPhase::inference;
    program.batch = batch;
    const auto tensor = [&](const std::string& name, BufferRole role, DType dtype, Dims dims) {
        const std::int64_t bytes = element_count(dims) * size_of(dtype);
        made.buffers.push_back(
            {name, role, made.memory.arena, bytes, role == BufferRole::transient ? 0 : -1, 0, 0});
        made.memory.arena += (bytes + plan::kAlignment - 1) / plan::kAlignment * plan::kAlignment;
        program.tensors.push_back(
            {{dtype, std::move(dims), {}}, name, int(made.buffers.size()) - 1, 0});
        return int(program.tensors.size()) - 1;
    };
    const int table = tensor("table", BufferRole::parameter, DType::f32, {kTokens, kTokens});
    const int fed = tensor("tokens", BufferRole::input, DType::i32, {batch, 1});
    const int step = tensor("step", BufferRole::input, DType::i64, {});
    const int kept = tensor("kept", BufferRole::kept, DType::f32, {batch, 4});
    const int scores = tensor("scores", BufferRole::transient, DType::f32, {batch, 1, kTokens});
    program.inputs = {{InputRole::feature, 0, fed}, {InputRole::kept_steps, 0, kept}};
    if (context > 0) program.inputs.push_back({InputRole::text_step, 0, step});
    program.outputs = {{"predictions", scores}};
    plan::Step only;
    only.name = "table.embedding";
    only.op = "embedding";
    only.kernel = "reference";
    only.sources = {fed, table};
    only.destinations = {scores};
    program.steps = {only};
    made.programs = {program};
    plan::Parameter weights;
    weights.name = "table";
    weights.role = "weights";
    weights.dims = weights.physical_dims = {kTokens, kTokens};
    weights.buffer = program.tensors[std::size_t(table)].buffer;
    made.parameters = {weights};
    return made;
}

/// What a run is fed, and what is kept before it: 0 behind begin_anew, else 1.
struct Fed {
    std::int64_t step;
    float kept;
    Tokens tokens;
    bool operator==(const Fed&) const = default;
};

class Watcher final : public StepObserver {
  public:
    Watcher(Executor& executor, bool counts_steps)
        : executor_(executor), counts_steps_(counts_steps) {}

    void begin(const plan::Program& program, const plan::Step&) override {
        const auto floats = [&](const char* name) {
            for (const plan::Tensor& tensor : program.tensors)
                if (tensor.name == name) return executor_.view(tensor).bytes().data();
            return static_cast<std::byte*>(nullptr);
        };
        const auto* const tokens = reinterpret_cast<const std::int32_t*>(floats("tokens"));
        auto* const kept = reinterpret_cast<float*>(floats("kept"));
        const auto* const step = reinterpret_cast<const std::int64_t*>(floats("step"));
        fed.push_back({counts_steps_ ? *step : -1, *kept, {tokens, tokens + program.batch}});
        *kept = 1;
    }

    std::vector<Fed> fed;

  private:
    Executor& executor_;
    bool counts_steps_;
};

struct Counting {
    Counting(std::int64_t batch, std::int64_t context)
        : plan(counting_plan(batch, context)), executor(plan, 1), watcher(executor, context > 0) {
        auto* const table = reinterpret_cast<float*>(executor.parameter(0));
        std::fill(table, table + kTokens * kTokens, 0.0F);
        for (std::int64_t token = 0; token < kTokens; ++token)
            table[token * kTokens + (token + 1) % kTokens] = 1;
        executor.observe(&watcher);
    }

    /// The new tokens of each text, by the likeliest.
    std::vector<Tokens> texts(const std::vector<Tokens>& prompts, std::int64_t length,
                              std::int32_t last = -1) {
        if (!generator) generator.emplace(executor, Sampling{.temperature = 0});
        std::vector<Prompt> given;
        for (const Tokens& prompt : prompts)
            given.push_back({prompt, given.size()});
        std::vector<Tokens> made(prompts.size());
        watcher.fed.clear();
        generator->generate(given, length, [&](std::size_t text, std::int32_t token) {
            made[text].push_back(token);
            return token != last;
        });
        return made;
    }

    plan::Plan plan;
    Executor executor;
    Watcher watcher;
    std::optional<Generator> generator;
};

TEST_CASE("generate: prompts are read, then what was said, all at the same step") {
    Counting counting(2, 16);
    CHECK(counting.texts({{0, 1, 2}, {3}}, 3) == std::vector<Tokens>{{3, 4, 0}, {4, 0, 1}});
    CHECK(counting.generator->batch() == 2);
    CHECK(counting.generator->context() == 16);
    // A text that has ended is fed token 0.
    CHECK(counting.watcher.fed ==
          std::vector<Fed>{
              {0, 0, {0, 3}}, {1, 1, {1, 4}}, {2, 1, {2, 0}}, {3, 1, {3, 0}}, {4, 1, {4, 0}}});
    // Others begin anew; fewer than a batch leave the rest at token 0.
    CHECK(counting.texts({{4}}, 2) == std::vector<Tokens>{{0, 1}});
    CHECK(counting.watcher.fed == std::vector<Fed>{{0, 0, {4, 0}}, {1, 1, {0, 0}}});
}

TEST_CASE("generate: a full context goes on from its last half") {
    Counting counting(2, 4);
    CHECK(counting.texts({{0, 1, 2}, {3}}, 6) ==
          std::vector<Tokens>{{3, 4, 0, 1, 2, 3}, {4, 0, 1, 2, 3, 4}});
    CHECK(counting.watcher.fed == std::vector<Fed>{{0, 0, {0, 3}},
                                                   {1, 1, {1, 4}},
                                                   {2, 1, {2, 0}},
                                                   {3, 1, {3, 1}},
                                                   {0, 0, {3, 1}},
                                                   {1, 1, {4, 2}},
                                                   {2, 1, {0, 3}},
                                                   {3, 1, {1, 0}},
                                                   {0, 0, {1, 0}},
                                                   {1, 1, {2, 0}}});
    // Longer prompts, too: what would be forgotten is not read.
    CHECK(counting.texts({{0, 1, 2, 3, 4, 0, 1}}, 1) == std::vector<Tokens>{{2}});
    CHECK(counting.watcher.fed ==
          std::vector<Fed>{{0, 0, {3, 0}}, {1, 1, {4, 0}}, {2, 1, {0, 0}}, {3, 1, {1, 0}}});
    CHECK(counting.texts({{0, 1, 2, 3, 4}}, 1) == std::vector<Tokens>{{0}});
    CHECK(counting.watcher.fed.size() == 2);
}

TEST_CASE("generate: a context of one step is read again and again") {
    Counting counting(1, 1);
    CHECK(counting.texts({{0, 1, 2}}, 3) == std::vector<Tokens>{{3, 4, 0}});
    CHECK(counting.watcher.fed == std::vector<Fed>{{0, 0, {2}}, {0, 0, {3}}, {0, 0, {4}}});
}

TEST_CASE("generate: a network that does not ask for the step reads texts of any length") {
    Counting counting(2, 0);
    CHECK(counting.generator.has_value() == false);
    CHECK(counting.texts({{0, 1, 2, 3, 4}, {3}}, 4) ==
          std::vector<Tokens>{{0, 1, 2, 3}, {4, 0, 1, 2}});
    CHECK(counting.generator->context() == 0);
    CHECK(counting.watcher.fed.size() == 8);
    CHECK(std::count_if(counting.watcher.fed.begin(), counting.watcher.fed.end(),
                        [](const Fed& fed) { return fed.kept == 0; }) == 1);
}

TEST_CASE("generate: texts end where they are told to, and all where a signal asks for it") {
    Counting counting(2, 16);
    CHECK(counting.texts({{0}, {3}}, 100, 2) == std::vector<Tokens>{{1, 2}, {4, 0, 1, 2}});
    CHECK(counting.watcher.fed.size() == 4);
    request_stop(2);
    CHECK(counting.texts({{0}, {3}}, 100) == std::vector<Tokens>{{}, {}});
    request_stop(0);
}

TEST_CASE("generate: a prediction that is no number is refused") {
    Counting counting(2, 16);
    reinterpret_cast<float*>(counting.executor.parameter(0))[kTokens] = std::nanf("");
    expect_error(Exit::diverged, {"token 2 of text 1 is nan"}, [&] {
        counting.texts({{0}, {3}}, 2);
    });
}

TEST_CASE("generate: plans that cannot generate are refused") {
    const plan::Plan plain = hand_made_plan();
    Executor executor(plain, 1);
    expect_error(Exit::mismatch, {"no program that generates", "generation: {}"},
                 [&] { Generator(executor, {}); });
    plan::Plan plan = counting_plan(1, 4);
    plan.dataset.input().classes = kTokens - 1;
    Executor reads_less(plan, 1);
    expect_error(Exit::mismatch, {"says 5 tokens and reads 4", "compile the job again"},
                 [&] { Generator(reads_less, {}); });
    plan::Plan other = counting_plan(1, 4);
    other.programs[0].outputs[0].name = "loss";
    Executor says_nothing(other, 1);
    expect_error(Exit::mismatch, {"has no output"}, [&] { Generator(says_nothing, {}); });
}

}  // namespace
}  // namespace dtnn::runtime::generator_test
