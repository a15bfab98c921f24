// Whole plans with accumulation, clipping, averages and frozen groups.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>

#include "compiler/driver/compile_job.hpp"

namespace training_programs_test {

using namespace dtnn;
using namespace dtnn::compiler;

namespace {

/// Residual blocks with batch norm: convolutions, dense layers, moving statistics.
plan::Plan compiled(const std::vector<std::string>& settings) {
    Diagnostics diagnostics;
    LoadOptions options{{"specs"}, settings};
    const JobSpec job = load_job("specs/jobs/digits_residual.yaml", options, diagnostics);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.render(false));
    const auto plan = compile_job(job, {.isa = "avx2", .threads = 1}, diagnostics);
    REQUIRE_MESSAGE(plan.has_value(), diagnostics.render(false));
    return *plan;
}

const plan::Program& program(const plan::Plan& plan, const char* name) {
    const plan::Program* found = plan::find_program(plan, name);
    REQUIRE_MESSAGE(found != nullptr, name);
    return *found;
}

bool has_input(const plan::Program& program, plan::InputRole role) {
    return plan::find_input(program, role) != nullptr;
}

std::map<std::string, int> operators(const plan::Program& program) {
    std::map<std::string, int> counts;
    for (const plan::Step& step : program.steps)
        ++counts[step.op];
    return counts;
}

std::int64_t trainable_count(const plan::Plan& plan) {
    std::int64_t count = 0;
    for (const plan::Parameter& parameter : plan.parameters)
        count += parameter.trainable ? 1 : 0;
    return count;
}

/// Bytes of what trains, as parameters and states take them in memory.
std::int64_t trainable_bytes(const plan::Plan& plan) {
    std::int64_t bytes = 0;
    for (const plan::Parameter& parameter : plan.parameters)
        if (parameter.trainable)
            bytes += (element_count(parameter.dims) * size_of(parameter.dtype) + 63) / 64 * 64;
    return bytes;
}

const std::vector<std::string> kSgd = {"training.optimizer={sgd: {momentum: 0}}",
                                       "training.batch_size=64"};

std::vector<std::string> with(std::vector<std::string> more) {
    more.insert(more.begin(), kSgd.begin(), kSgd.end());
    return more;
}

}  // namespace

TEST_CASE("accumulation has a program whose batches move no weights") {
    const plan::Plan plain = compiled(kSgd), plan = compiled(with({"training.accumulation=4"}));
    CHECK(plan::find_program(plain, "accumulate") == nullptr);
    CHECK_FALSE(has_input(program(plain, "train"), plan::InputRole::batch_weight));
    CHECK(plain.memory.optimizer == 0);

    const auto trainable = int(trainable_count(plan));
    const plan::Program &adds = program(plan, "accumulate"), &takes = program(plan, "train");
    CHECK(adds.batch == plan.training.batch_size);
    auto counts = operators(adds);
    CHECK(counts["accumulate_gradient"] == trainable);
    CHECK(counts["sgd_update"] == 0);
    CHECK(has_input(adds, plan::InputRole::batch_weight));
    CHECK_FALSE(has_input(adds, plan::InputRole::learning_rate));
    counts = operators(takes);
    CHECK(counts["take_gradient_sum"] == trainable);
    CHECK(counts["sgd_update"] == trainable);
    CHECK(has_input(takes, plan::InputRole::batch_weight));
    // The sums, and nothing else, are new in what persists; totals lie where gradients did.
    CHECK(plan.memory.optimizer == trainable_bytes(plan));
    // Moving statistics move with every batch, added up or not.
    const auto updates_statistics = [&](const plan::Program& of) {
        int count = 0;
        for (const plan::Tensor& tensor : of.tensors)
            count += tensor.name.find("running") != std::string::npos ? 1 : 0;
        return count;
    };
    CHECK(updates_statistics(adds) > 0);
    CHECK(updates_statistics(adds) == updates_statistics(takes));
}

TEST_CASE("tails end their group") {
    const plan::Plan plan =
        compiled(with({"training.accumulation=4", "dataset.train_samples=1000"}));
    const plan::Program& tail = program(plan, "train_tail");
    CHECK(tail.batch == 1000 % 64);
    CHECK(operators(tail)["take_gradient_sum"] == trainable_count(plan));
    CHECK(plan::find_program(plan, "accumulate_tail") == nullptr);
}

TEST_CASE("a norm needs one pass over every gradient and one number") {
    const plan::Plan plan = compiled(with({"training.clip={norm: 1.0}"}));
    auto counts = operators(program(plan, "train"));
    CHECK(counts["gradient_square_sum"] == trainable_count(plan));
    CHECK(counts["gradient_scale"] == 1);
    for (const plan::Step& step : program(plan, "train").steps)
        if (step.op == "sgd_update") CHECK(std::get<bool>(step.attributes.at("scaled")));
    // By value there is nothing but the updates.
    auto by_value = operators(program(compiled(with({"training.clip={value: 1.0}"})), "train"));
    CHECK(by_value == operators(program(compiled(kSgd), "train")));
}

TEST_CASE("evaluation and prediction read averages, training reads weights") {
    const plan::Plan plan = compiled(with({"training.average={decay: 0.99}"}));
    CHECK(plan.memory.optimizer == trainable_bytes(plan));
    std::map<int, const plan::Parameter*> of_buffer;
    for (const plan::Parameter& parameter : plan.parameters) {
        of_buffer[parameter.buffer] = &parameter;
        if (parameter.kind != plan::ParameterKind::average) continue;
        CHECK(parameter.optimizer_state);
        CHECK_FALSE(parameter.trainable);
    }
    for (const plan::Program& program : plan.programs) {
        int weights = 0, averages = 0;
        for (const auto* list : {&program.prologue, &program.steps}) {
            for (const plan::Step& step : *list) {
                for (const int source : step.sources) {
                    const auto found = of_buffer.find(program.tensors[std::size_t(source)].buffer);
                    if (found == of_buffer.end() || step.op == "moving_average") continue;
                    weights += found->second->trainable ? 1 : 0;
                    averages += found->second->kind == plan::ParameterKind::average ? 1 : 0;
                }
            }
        }
        CAPTURE(program.name);
        CHECK((weights > 0) == (program.phase == plan::ProgramPhase::training));
        CHECK((averages > 0) == (program.phase != plan::ProgramPhase::training));
    }
}

TEST_CASE("frozen layers count as such, and the plan has no backward part for them") {
    const plan::Plan all = compiled(with({"training.optimizer.sgd.momentum=0.9"}));
    const plan::Plan head = compiled(with({"training.optimizer.sgd.momentum=0.9",
                                           "training.groups=[{parameters: \"dense_*\", "
                                           "learning_rate_scale: 2}, {parameters: \"*\", frozen: "
                                           "true}]"}));
    std::int64_t trainable = 0;
    for (std::size_t i = 0; i < head.layers.size(); ++i) {
        CHECK(head.layers[i].parameters == all.layers[i].parameters);
        CHECK(head.layers[i].trainable ==
              (head.layers[i].type == "dense" ? all.layers[i].trainable : 0));
        trainable += head.layers[i].trainable;
    }
    CHECK(trainable > 0);
    CHECK(head.memory.optimizer == trainable_bytes(head));
    for (const plan::Step& step : program(head, "train").steps) {
        if (step.phase != plan::StepPhase::backward) continue;
        CAPTURE(step.name);
        CHECK(step.op.find("conv") == std::string::npos);
        CHECK(step.op.find("batch_norm") == std::string::npos);
    }
    CHECK(head.memory.transient < all.memory.transient);
}

}  // namespace training_programs_test
