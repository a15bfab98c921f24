#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/quantity_text.hpp"
#include "compiler/driver/compile_job.hpp"
#include "compiler/lower/memory_budget.hpp"
#include "compiler/passes/pass.hpp"
#include "plan/audit/audit.hpp"
#include "plan/diff/diff.hpp"
#include "plan/json/json.hpp"
#include "plan/rules/recomputed.hpp"
#include "plan/rules/staging.hpp"

namespace compile_test {

using namespace dtnn;
using namespace dtnn::compiler;

namespace {

struct Job {
    explicit Job(const std::string& name, std::vector<std::string> settings = {}) {
        LoadOptions load{{"specs"}, std::move(settings)};
        spec = load_job("specs/jobs/" + name + ".yaml", load, diagnostics);
        REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.render(false));
    }
    /// An empty plan, whose diagnostics say why, when there is none.
    plan::Plan compile() { return compile_job(spec, options, diagnostics).value_or(plan::Plan{}); }
    plan::Training& training() { return spec.training.training; }
    plan::Dataset& dataset() { return spec.dataset.dataset; }

    Diagnostics diagnostics;
    JobSpec spec;
    CompileOptions options{.isa = "avx2", .threads = 1};
};

std::string programs(const plan::Plan& plan) {
    std::string text;
    for (const plan::Program& program : plan.programs)
        text += fmt::format("{}{}:{}", text.empty() ? "" : " ", program.name, program.batch);
    return text;
}

}  // namespace

TEST_CASE("programs for whole batches and for every tail") {
    Job job("digits_simplecnn");
    job.training().batch_size = 64;
    job.dataset().test_samples = 640;
    job.dataset().train_samples = 6400;
    SUBCASE("nothing is left over") {
        job.training().validation_split = 0;
        plan::Plan plan = job.compile();
        CHECK(programs(plan) == "train:64 evaluate:64 predict:64");
        CHECK(plan.training.steps_per_epoch == 100);
    }
    SUBCASE("tails of training, validation and test") {
        job.training().validation_split = 0.1;
        job.dataset().train_samples = 6425;
        job.dataset().test_samples = 645;
        plan::Plan plan = job.compile();
        // 642 of 6425 samples validate: 5783 train, in 90 batches and 23; 642 = 10 * 64 + 2; 645 =
        // 10 * 64 + 5.
        CHECK(plan.dataset.validation_samples == 642);
        CHECK(plan.dataset.train_samples == 5783);
        CHECK(programs(plan) ==
              "train:64 train_tail:23 evaluate:64 evaluate_tail:2 evaluate_tail_2:5 "
              "evaluate_tail_3:23 predict:64");
        CHECK(plan.training.steps_per_epoch == 91);
    }
    SUBCASE("equal tails share a program") {
        job.training().validation_split = 0.1;
        job.dataset().test_samples = 640;
        CHECK(programs(job.compile()) == "train:64 evaluate:64 predict:64");
        job.dataset().train_samples = 6450;
        job.dataset().test_samples = 645;
        CHECK(programs(job.compile()) ==
              "train:64 train_tail:45 evaluate:64 evaluate_tail:5 evaluate_tail_2:45 predict:64");
    }
    SUBCASE("a limit of steps leaves the tail out") {
        job.training().validation_split = 0;
        job.dataset().train_samples = 6401;
        job.training().steps_per_epoch = 7;
        plan::Plan plan = job.compile();
        CHECK(plan.training.steps_per_epoch == 7);
        CHECK(programs(plan) == "train:64 evaluate:64 evaluate_tail:1 predict:64");
        job.training().steps_per_epoch = 1000;
        plan = job.compile();
        CHECK(plan.training.steps_per_epoch == 101);
        CHECK(programs(plan) == "train:64 train_tail:1 evaluate:64 evaluate_tail:1 predict:64");
    }
}

TEST_CASE("a split that should be whole is") {
    Job job("digits_simplecnn");
    job.dataset().train_samples = 100;
    job.training().batch_size = 10;
    job.training().validation_split = 0.29;  // 0.29 * 100 = 28.999999999999996
    CHECK(job.compile().dataset.validation_samples == 29);
}

TEST_CASE("the same input gives the same bytes, and every job passes its audit twice") {
    for (const char* name : {"digits_simplecnn", "digits_residual", "digits_inception"}) {
        Job first(name), second(name);
        plan::Plan plan = first.compile();
        std::string text = plan::to_json(plan);
        CHECK(text == plan::to_json(second.compile()));
        plan::ReadResult read = plan::read_plan(text);
        REQUIRE_MESSAGE(read.plan.has_value(), read.error);
        CHECK(plan::audit(*read.plan).empty());
        CHECK(plan::to_json(*read.plan) == text);
    }
}

TEST_CASE("every optional pass may be left out, and reference kernels forced") {
    for (const char* name : {"digits_simplecnn", "digits_residual"}) {
        Job whole(name);
        plan::Plan plan = whole.compile();
        std::vector<std::string> optional = {"in_place"};
        for (const PassInfo& pass : all_passes())
            if (pass.optional) optional.emplace_back(pass.name);
        for (const std::string& pass : optional) {
            CAPTURE(pass);
            Job job(name);
            job.options.disabled_passes = {pass};
            plan::Plan other = job.compile();
            CHECK(std::count(other.passes.begin(), other.passes.end(), "-" + pass) == 1);
            for (const plan::Change& change : plan::diff(plan, other))
                CHECK_MESSAGE(change.meaning != plan::Meaning::mathematics, change.what);
        }
        Job reference(name);
        reference.options.reference_kernels = true;
        for (const plan::Program& program : reference.compile().programs)
            for (const plan::Step& step : program.steps)
                CHECK(step.kernel == "reference");
    }
}

TEST_CASE("in place never takes more memory") {
    Job with("digits_simplecnn"), without("digits_simplecnn");
    without.options.disabled_passes = {"in_place"};
    CHECK(with.compile().memory.transient <= without.compile().memory.transient);
}

TEST_CASE("totals, staging and layers") {
    Job job("digits_simplecnn");
    plan::Plan plan = job.compile();
    std::int64_t parameters = 0;
    for (const plan::Layer& layer : plan.layers)
        parameters += layer.parameters;
    CHECK(parameters == 202458);
    std::int64_t batch = plan.training.batch_size;
    // Two batches, the orders of the samples, and a worker with two samples of its own.
    const plan::Dataset& dataset = plan.dataset;
    const std::int64_t order =
        dataset.source_train_samples + dataset.train_samples + dataset.test_samples;
    CHECK(plan.memory.staging ==
          2 * batch * (28 * 28 * 4 + 4) + 8 * order + 2 * 28 * 28 * 4 + plan::kWorkerBytes);
    // conv2d_1: 3x3 of 1 channel to 4 filters on 28x28, two operations for each product, one for
    // the bias.
    CHECK(plan.layers[0].forward_flops == 28 * 28 * 4 * (9 * 2 + 1));
    for (const plan::Parameter& parameter : plan.parameters)
        CHECK(parameter.layer >= 0);
    for (const plan::Step& step : plan.programs[0].steps) {
        CHECK(step.flops >= 0);
        CHECK(step.bytes > 0);
    }
}

TEST_CASE("over the memory budget is a diagnostic with numbers and a remedy") {
    Job job("digits_simplecnn");
    plan::Plan plan = job.compile();
    std::int64_t need = plan.memory.arena + plan.memory.staging + plan.memory.samples;
    job.options.memory_budget = need;
    job.compile();
    CHECK_FALSE(job.diagnostics.has_errors());
    job.options.memory_budget = need - 1;
    job.options.disabled_passes = {"recompute"};
    job.compile();
    REQUIRE(job.diagnostics.all().size() == 1);
    CHECK(job.diagnostics.exit_code() == 4);
    const Diagnostic& diagnostic = job.diagnostics.all()[0];
    CHECK(diagnostic.code == Code::over_budget);
    CHECK(diagnostic.text.find(bytes_text(need)) != std::string::npos);
    CHECK(diagnostic.text.find("`dense_1`") != std::string::npos);
    CHECK(diagnostic.help.find("batch_size 63 instead of 64 fits") != std::string::npos);

    // The help says the truth, and the next larger batch does not fit. The samples that the dataset
    // keeps do not depend on the batch.
    const std::int64_t budget =
        plan.memory.samples + (plan.memory.arena + plan.memory.staging) * 3 / 4;
    Job part("digits_simplecnn");
    part.options.memory_budget = budget;
    part.compile();
    REQUIRE(part.diagnostics.has_errors());
    int fits = 0;
    REQUIRE(std::sscanf(part.diagnostics.all()[0].help.c_str(), "batch_size %d", &fits) == 1);
    for (int batch : {fits, fits + 1}) {
        Job again("digits_simplecnn");
        again.options.memory_budget = budget;
        again.training().batch_size = batch;
        again.compile();
        CHECK(again.diagnostics.has_errors() == (batch > fits));
    }

    Job tight("digits_simplecnn");
    tight.options.memory_budget = 1000;
    tight.compile();
    REQUIRE(tight.diagnostics.all().size() == 1);
    CHECK(tight.diagnostics.all()[0].help.find("no batch size fits") != std::string::npos);
}

TEST_CASE("a budget may be met where the plan with the least values does not meet it") {
    // The arena takes at most 1000 bytes, values at least 400; repeating many steps takes larger
    // workspaces.
    const auto assemble = [](std::int64_t live_bytes) {
        plan::Plan plan;
        const std::int64_t values =
            live_bytes == 0 ? 1000 : std::clamp<std::int64_t>(live_bytes, 400, 1000);
        plan.memory.transient = values + (values < 600 ? 300 : values < 1000 ? 50 : 0);
        plan.memory.arena = plan.memory.transient;
        return plan;
    };
    const std::int64_t least = fit_budget(1, true, assemble).plan.memory.arena;
    CHECK(least < assemble(kLeastLiveBytes).memory.arena);
    for (std::int64_t budget = least; budget <= 1000; ++budget)
        REQUIRE(fit_budget(budget, true, assemble).plan.memory.arena <= budget);
    CHECK(fit_budget(1, false, assemble).plan.memory.arena == 1000);
}

TEST_CASE("what does not fit the memory budget recomputes in backward") {
    Job job("digits_residual");
    const plan::Plan plan = job.compile();
    const auto need = [](const plan::Plan& one) {
        return one.memory.arena + one.memory.staging + one.memory.samples;
    };
    CHECK(plan::recomputed(plan).steps == 0);
    CHECK(plan::recomputed_text(plan::recomputed(plan)) == "none");
    std::int64_t flops = 0;
    for (const std::int64_t less : {1, 100000, 400000}) {
        job.options.memory_budget = need(plan) - less;
        const plan::Plan fitted = job.compile();
        REQUIRE_FALSE(job.diagnostics.has_errors());
        CHECK(need(fitted) <= job.options.memory_budget);
        const plan::Recomputed again = plan::recomputed(fitted);
        CHECK(again.steps > 0);
        CHECK(again.flops >= flops);
        CHECK(again.others == plan::recomputed(plan).others);
        flops = again.flops;
        // The repeated steps compute what forward did.
        for (const plan::Program& program : fitted.programs)
            for (const plan::Step& step : program.steps) {
                if (step.phase != plan::StepPhase::recompute) continue;
                const auto first = std::find_if(
                    program.steps.begin(), program.steps.end(), [&](const plan::Step& one) {
                        return one.phase == plan::StepPhase::forward && one.op == step.op &&
                               one.layer == step.layer && one.attributes == step.attributes;
                    });
                REQUIRE(first != program.steps.end());
                CHECK(first->kernel == step.kernel);
            }
    }
}

}  // namespace compile_test
