/// Ten updates of every optimizer beside what PyTorch, or the papers' formulas, make of the same
/// network (make_optimizer_values.py): jobs are compiled to plans and run by the runtime's
/// executor, so passes, programs, kernels and the inputs `update` and `batch_weight` are all in it.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "compiler/driver/compile_job.hpp"
#include "runtime/exec/executor.hpp"
#include "runtime/exec/load.hpp"
#include "runtime/train/initialize.hpp"

namespace optimizers_test {

namespace {

using namespace dtnn;
using Json = nlohmann::json;
using Numbers = std::vector<double>;

/// |ours - theirs| <= kTolerance * max(1, |theirs|)
constexpr double kTolerance = 1e-9;

Attributes attributes_of(const Json& fields) {
    Attributes attributes;
    for (const auto& [name, value] : fields.items()) {
        if (value.is_boolean())
            attributes[name] = value.get<bool>();
        else if (value.is_string())
            attributes[name] = value.get<std::string>();
        else
            attributes[name] = value.get<double>();
    }
    return attributes;
}

plan::Training training_of(const Json& fields, std::int64_t batch) {
    plan::Training training;
    training.batch_size = batch;
    training.optimizer = fields.at("optimizer");
    training.learning_rate = fields.at("learning_rate");
    training.optimizer_attributes = attributes_of(fields.at("attributes"));
    for (const Json& group : fields.at("groups"))
        training.groups.push_back({group.at("pattern"), attributes_of(group.at("attributes"))});
    training.clip_norm = fields.at("clip_norm");
    training.clip_value = fields.at("clip_value");
    training.accumulation = fields.at("accumulation");
    training.average_decay = fields.at("average_decay");
    training.loss = "categorical_cross_entropy";
    return training;
}

constexpr const char* kJob = R"(
kind: job
name: optimizers
model:
  input: {shape: [4, 1, 1]}
  layers:
    - flatten
    - dense: {name: a, units: 5}
    - tanh
    - dense: {name: b, units: 3}
    - softmax
dataset: {type: synthetic, shape: [4, 1, 1], classes: 3}
training: {dtype: f64, loss: categorical_cross_entropy, optimizer: sgd}
)";

struct Variant {
    const char* name;
    bool reference_kernels = false;
    std::vector<std::string> disabled = {};
};

plan::Plan compile(const Json& file, const Json& c, const Variant& variant) {
    const auto batch = file.at("batch").get<std::int64_t>();
    compiler::LoadOptions load;
    load.texts["optimizers.yaml"] = kJob + 1;
    load.settings = {fmt::format("training.batch_size={}", batch),
                     fmt::format("dataset.train_samples={}", file.at("labels").size()),
                     fmt::format("dataset.test_samples={}", batch)};
    compiler::Diagnostics diagnostics;
    compiler::JobSpec job = compiler::load_job("optimizers.yaml", load, diagnostics);
    job.training.training = training_of(c.at("training"), batch);
    const compiler::CompileOptions options{.isa = "baseline",
                                           .threads = 2,
                                           .disabled_passes = variant.disabled,
                                           .reference_kernels = variant.reference_kernels};
    auto compiled = compiler::compile_job(job, options, diagnostics);
    REQUIRE_MESSAGE(compiled.has_value(), diagnostics.render(false));
    plan::Plan& result = *compiled;
    runtime::check_runnable(result, "of the test");
    return result;
}

/// A run by hand: what the training loop does, without its data.
class Run {
  public:
    Run(const plan::Plan& plan, const Json& file)
        : file_(file), executor_(plan, plan.target.threads) {
        runtime::initialize(executor_);
        for (const auto& [name, numbers] : file.at("first").items()) {
            set(name, numbers.get<Numbers>());
            if (index_of(name + ".average") >= 0) set(name + ".average", numbers.get<Numbers>());
        }
    }

    /// The loss over all samples of the update.
    double update(const Json& wanted) {
        const Json& batches = wanted.at("batches");
        double samples = 0, loss = 0;
        for (const Json& rows : batches)
            samples += double(rows.size());
        for (std::size_t i = 0; i < batches.size(); ++i) {
            const auto rows = batches[i].get<std::vector<std::size_t>>();
            const double weight = double(rows.size()) / samples;
            runtime::BoundProgram& program = find(
                i + 1 < batches.size() ? plan::ProgramKind::accumulate : plan::ProgramKind::train,
                rows.size());
            fill(program, rows);
            const double rate = executor_.plan().training.learning_rate;
            put(program, plan::InputRole::learning_rate, rate * wanted.at("factor").get<double>());
            put(program, plan::InputRole::batch_weight, weight);
            put(program, plan::InputRole::update, updates_);
            program.run();
            loss += weight * *static_cast<const double*>(program.output("loss"));
        }
        ++updates_;
        return loss;
    }

    double evaluate() {
        std::vector<std::size_t> rows(file_.at("batch").get<std::size_t>());
        for (std::size_t i = 0; i < rows.size(); ++i)
            rows[i] = i;
        runtime::BoundProgram& program = find(plan::ProgramKind::evaluate, rows.size());
        fill(program, rows);
        program.run_prologue();
        program.run();
        return *static_cast<const double*>(program.output("loss"));
    }

    Numbers get(const std::string& name) const {
        const int index = index_of(name);
        REQUIRE_MESSAGE(index >= 0, "the plan has no parameter ", name);
        const auto i = std::size_t(index);
        Numbers numbers(
            static_cast<std::size_t>(element_count(executor_.plan().parameters[i].dims)));
        std::memcpy(numbers.data(), executor_.parameter(i), numbers.size() * sizeof(double));
        return numbers;
    }

    int index_of(const std::string& name) const {
        const auto& parameters = executor_.plan().parameters;
        for (std::size_t i = 0; i < parameters.size(); ++i)
            if (parameters[i].name == name) return int(i);
        return -1;
    }

  private:
    /// With one pixel an image, every order of the axes stores the same bytes.
    void set(const std::string& name, const Numbers& numbers) {
        const int index = index_of(name);
        REQUIRE_MESSAGE(index >= 0, "the plan has no parameter ", name);
        std::memcpy(executor_.parameter(std::size_t(index)), numbers.data(),
                    numbers.size() * sizeof(double));
    }

    runtime::BoundProgram& find(plan::ProgramKind kind, std::size_t batch) {
        runtime::BoundProgram* program = executor_.find(kind, std::int64_t(batch));
        REQUIRE_MESSAGE(program != nullptr, "the plan has no program ", plan::name_of(kind),
                        " for ", batch);
        return *program;
    }

    void fill(const runtime::BoundProgram& program, const std::vector<std::size_t>& rows) {
        auto* source = static_cast<double*>(program.input(plan::InputRole::feature));
        auto* labels = static_cast<std::int32_t*>(program.input(plan::InputRole::target));
        for (std::size_t i = 0; i < rows.size(); ++i) {
            for (std::size_t k = 0; k < 4; ++k)
                source[4 * i + k] = file_.at("source")[4 * rows[i] + k];
            labels[i] = file_.at("labels")[rows[i]];
        }
    }

    template <class T>
    static void put(const runtime::BoundProgram& program, plan::InputRole role, T value) {
        if (void* place = program.input(role)) *static_cast<T*>(place) = value;
    }

    const Json& file_;
    runtime::Executor executor_;
    std::int64_t updates_ = 0;
};

void compare(const std::string& what, double ours, double theirs) {
    CHECK_MESSAGE(std::fabs(ours - theirs) <= kTolerance * std::max(1.0, std::fabs(theirs)), what,
                  " is ", ours, ", not ", theirs);
}

Json read_values() {
    std::ifstream stream("tests/peers/optimizers/optimizer_values.json");
    return Json::parse(stream);
}

const Json& case_named(const Json& file, const std::string& name) {
    for (const Json& c : file.at("cases"))
        if (c.at("name") == name) return c;
    FAIL("there is no case ", name);
    return file;
}

}  // namespace

TEST_CASE("ten updates of every optimizer give the weights that they should") {
    const Json file = read_values();
    const Variant variants[] = {
        {"as compiled"},
        {"reference kernels", true},
        {"without optional passes",
         false,
         {"common_subexpressions", "dead_code", "fuse_elementwise", "fuse_epilogues",
          "hoist_invariant"}},
    };
    for (const Json& c : file.at("cases")) {
        for (const Variant& variant : variants) {
            const std::string name = c.at("name").get<std::string>() + ", " + variant.name;
            CAPTURE(name);
            const plan::Plan plan = compile(file, c, variant);
            Run run(plan, file);
            for (std::size_t i = 0; i < c.at("updates").size(); ++i)
                compare(fmt::format("the loss of update {}", i + 1), run.update(c.at("updates")[i]),
                        c.at("losses")[i]);
            for (const auto& [parameter, numbers] : c.at("weights").items()) {
                const Numbers ours = run.get(parameter), theirs = numbers.get<Numbers>();
                REQUIRE(ours.size() == theirs.size());
                for (std::size_t i = 0; i < ours.size(); ++i)
                    compare(fmt::format("{}[{}]", parameter, i), ours[i], theirs[i]);
            }
            compare("the evaluated loss", run.evaluate(), c.at("evaluated_loss"));
        }
    }
}

TEST_CASE("every optimizer is among the cases, with and without weight decay") {
    const Json file = read_values();
    for (const char* optimizer :
         {"sgd", "rmsprop", "adam", "adamw", "nadam", "adagrad", "lars", "lamb"}) {
        bool with = false, without = false;
        for (const Json& c : file.at("cases")) {
            if (c.at("training").at("optimizer") != optimizer) continue;
            const bool decay = c.at("training").at("attributes").at("weight_decay") > 0.0;
            (decay ? with : without) = true;
        }
        CHECK_MESSAGE((with && without), optimizer);
    }
}

// These are what PyDTNN gets wrong, by its formulas or its code.

TEST_CASE("nadam moves weights from states that are zero") {
    const Json file = read_values();
    for (const char* name : {"nadam", "pydtnn nadam"}) {
        const Json& c = case_named(file, name);
        const plan::Plan plan = compile(file, c, {name});
        Run run(plan, file);
        const Numbers before = run.get("b.weights");
        run.update(c.at("updates")[0]);
        const Numbers after = run.get("b.weights");
        for (std::size_t i = 0; i < before.size(); ++i)
            CHECK(before[i] != after[i]);
    }
}

TEST_CASE("a group keeps the decay from biases") {
    const Json file = read_values();
    const Json& c = case_named(file, "no decay on biases");
    const plan::Plan plan = compile(file, c, {"no decay on biases"});
    const plan::Program* program = plan::find_program(plan, "train");
    REQUIRE(program != nullptr);
    int biases = 0;
    for (const plan::Step& step : program->steps) {
        if (step.op != "sgd_update") continue;
        const bool bias = step.name.find("bias") != std::string::npos;
        biases += bias ? 1 : 0;
        CHECK(std::get<double>(step.attributes.at("weight_decay")) == (bias ? 0.0 : 0.05));
    }
    CHECK(biases == 2);
}

TEST_CASE("what is frozen has no gradient, no state and no average, and nothing below it is run") {
    const Json file = read_values();
    const Json& c = case_named(file, "a frozen layer");
    Json averaged = c;
    averaged["training"]["average_decay"] = 0.5;
    const plan::Plan plan = compile(file, averaged, {"a frozen layer"});
    for (const plan::Parameter& parameter : plan.parameters) {
        CAPTURE(parameter.name);
        const bool below = parameter.name.starts_with("a.");
        CHECK(parameter.trainable == (!below && !parameter.optimizer_state));
        if (below) CHECK_FALSE(parameter.optimizer_state);
    }
    const plan::Program* program = plan::find_program(plan, "train");
    REQUIRE(program != nullptr);
    // The loss's and the last layer's; the gradient of the hidden values is not made.
    int backward = 0;
    for (const plan::Step& step : program->steps)
        backward += step.phase == plan::StepPhase::backward ? 1 : 0;
    CHECK(backward == 2);
}

TEST_CASE("averages are state: checkpoints keep them, and memory counts them") {
    const Json file = read_values();
    const Json& c = case_named(file, "average");
    Json plain = c;
    plain["training"]["average_decay"] = 0.0;
    const plan::Plan with = compile(file, c, {"with"}), without = compile(file, plain, {"without"});
    // Four parameters, each in a block of its own multiple of 64 bytes: 160, 40, 120, 24.
    CHECK(with.memory.optimizer - without.memory.optimizer == 192 + 64 + 128 + 64);
    int averages = 0;
    for (const plan::Parameter& parameter : with.parameters)
        averages +=
            parameter.kind == plan::ParameterKind::average && parameter.optimizer_state ? 1 : 0;
    CHECK(averages == 4);
}

}  // namespace optimizers_test
