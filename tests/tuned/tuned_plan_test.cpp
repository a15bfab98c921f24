/// Plans whose kernels times have chosen.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/processor.hpp"
#include "compiler/driver/compile_job.hpp"
#include "compiler/tuning/kernel_choice.hpp"
#include "plan/audit/audit.hpp"
#include "plan/diff/diff.hpp"
#include "plan/json/json.hpp"
#include "runtime/exec/measure_kernels.hpp"
#include "runtime/exec/step_problem.hpp"
#include "tests/ranks/local_steps/local_training.hpp"

namespace dtnn::tuned_plan_test {
namespace {

using namespace compiler;

constexpr const char* kJob = R"(
kind: job
name: tuned
model:
  input: {shape: [3, 12, 12]}
  layers:
    - conv2d: {filters: 16, kernel: 3, padding: same}
    - relu
    - conv2d: {filters: 32, kernel: 3, padding: same, bias: false}
    - batch_norm
    - relu
    - max_pool2d: {kernel: 2}
    - flatten
    - dense: {units: 40}
    - relu
    - dense: {units: 10}
    - softmax
dataset: {type: synthetic, shape: [3, 12, 12], classes: 10, train_samples: 52, test_samples: 20}
training: {optimizer: adam, batch_size: 16, epochs: 2, loss: categorical_cross_entropyMORE}
parallel: {data: auto}
kernels: {prefer: PREFER}
)";

plan::Plan compile(const TuningHistory* tuning, const std::string& more = "", int ranks = 1,
                   const std::string& prefer = "none") {
    std::string text = kJob + 1;
    text.replace(text.find("MORE"), 4, more);
    text.replace(text.find("PREFER"), 6, prefer);
    LoadOptions load;
    load.texts["tuned.yaml"] = text;
    if (ranks > 1) load.settings = {fmt::format("parallel.data={}", ranks)};
    Diagnostics diagnostics;
    auto plan = compile_file("tuned.yaml", load, {.threads = 2, .tuning = tuning}, diagnostics);
    REQUIRE_MESSAGE(plan.has_value(), diagnostics.render(false));
    CHECK(plan::audit(*plan).empty());
    const plan::ReadResult read = plan::read_plan(plan::to_json(*plan));
    REQUIRE_MESSAGE(read.plan.has_value(), read.error);
    return *read.plan;
}

/// Calls `visit(step, problem)` for every step that a kernel computes.
template <class Visit>
void each_step(const plan::Plan& plan, Visit&& visit) {
    for (const plan::Program& program : plan.programs)
        for (const auto* list : {&program.prologue, &program.steps})
            for (const plan::Step& step : *list)
                if (kernels::find_kernel(step.op, step.kernel))
                    visit(step, runtime::problem_of(plan, program, step));
}

/// Times by which the last of a problem's kernels is a hundred times as fast as those before it.
TuningHistory last_is_fastest(const plan::Plan& plan) {
    TuningHistory history;
    each_step(plan, [&](const plan::Step&, const kernels::Problem& problem) {
        TuningEntry entry{
            problem_key(problem), processor_name(), std::string(kernels::revision()), true, {}};
        double seconds = 1;
        for (const kernels::KernelInfo* kernel : measurable_kernels(problem)) {
            entry.times.push_back({std::string(kernel->name), seconds, seconds, seconds, 5});
            seconds /= 100;
        }
        if (!entry.times.empty()) history.add(entry);
    });
    return history;
}

TEST_CASE("times choose the kernels of the problems that they are of") {
    const plan::Plan usual = compile(nullptr);
    const TuningHistory history = last_is_fastest(usual);
    const plan::Plan tuned = compile(&history);
    int others = 0;
    each_step(tuned, [&](const plan::Step& step, const kernels::Problem& problem) {
        CAPTURE(step.name);
        const auto able = measurable_kernels(problem);
        if (able.empty() ||
            !history.find(problem_key(problem), processor_name(), std::string(kernels::revision())))
            return;
        CHECK(step.kernel == able.back()->name);
        REQUIRE(step.refusals >= 0);
        const plan::Refusals& refusals = tuned.refusals[std::size_t(step.refusals)];
        CHECK(refusals.seconds == doctest::Approx(std::pow(0.01, double(able.size()) - 1)));
        // All that could have been chosen are there, with what they took.
        std::map<std::string, double> times;
        for (const plan::Refusal& refusal : refusals.kernels)
            times[refusal.kernel] = refusal.seconds;
        for (std::size_t i = 0; i + 1 < able.size(); ++i)
            CHECK(times[std::string(able[i]->name)] == doctest::Approx(std::pow(0.01, double(i))));
        if (able.size() > 1) ++others;
    });
    CHECK(others > 10);
    for (const plan::Change& change : plan::diff(usual, tuned))
        CHECK_MESSAGE(change.meaning != plan::Meaning::mathematics, change.what);
    // Times of another processor, or of other kernels, choose nothing.
    TuningHistory foreign;
    each_step(usual, [&](const plan::Step&, const kernels::Problem& problem) {
        for (const char* part : {"processor", "kernels"}) {
            TuningEntry entry{problem_key(problem),
                              processor_name(),
                              std::string(kernels::revision()),
                              true,
                              {{"direct", 1e-9, 1e-9, 1e-9, 9}}};
            (std::string(part) == "kernels" ? entry.kernels : entry.processor) = "another";
            foreign.add(entry);
        }
    });
    CHECK(plan::to_json(compile(&foreign)) == plan::to_json(usual));
}

TEST_CASE("strict numerics keep to kernels that sum the products, whatever times say") {
    const std::string strict = ", numerics: strict";
    const plan::Plan usual = compile(nullptr, strict);
    TuningHistory history;
    each_step(usual, [&](const plan::Step& step, const kernels::Problem& problem) {
        TuningEntry entry{problem_key(problem),
                          processor_name(),
                          std::string(kernels::revision()),
                          true,
                          {{step.kernel, 1, 1, 1, 5}}};
        for (const kernels::KernelInfo& kernel : kernels::kernels_of(step.op))
            if (kernel.transforms)
                entry.times.push_back({std::string(kernel.name), 1e-6, 1e-6, 1e-6, 5});
        history.add(entry);
    });
    each_step(compile(&history, strict), [&](const plan::Step& step, const kernels::Problem&) {
        CHECK_FALSE(kernels::find_kernel(step.op, step.kernel)->transforms);
    });
}

TEST_CASE("trainings with other kernels learn the same, and on all ranks the same") {
    const plan::Plan usual = compile(nullptr);
    const TuningHistory history = last_is_fastest(usual);
    const plan::Plan tuned = compile(&history);
    const Trained one = train_on(1, usual), other = train_on(1, tuned), again = train_on(1, tuned);
    REQUIRE_MESSAGE(other.error.empty(), other.error);
    REQUIRE(one.losses.size() == other.losses.size());
    for (std::size_t i = 0; i < one.losses.size(); ++i)
        CHECK(other.losses[i] == doctest::Approx(one.losses[i]).epsilon(1e-3));
    CHECK(other.losses == again.losses);
    CHECK(other.parameters == again.parameters);

    // A plan names its kernels, so ranks cannot choose differently.
    const TuningHistory of_two = last_is_fastest(compile(nullptr, "", 2));
    const plan::Plan shared = compile(&of_two, "", 2);
    const Trained two = train_on(2, shared), two_again = train_on(2, shared);
    REQUIRE_MESSAGE(two.error.empty(), two.error);
    CHECK(two.same_on_all);
    CHECK(two.parameters == two_again.parameters);
    for (std::size_t i = 0; i < one.losses.size(); ++i)
        CHECK(two.losses[i] == doctest::Approx(one.losses[i]).epsilon(0.05));
}

TEST_CASE("a job that prefers BLIS has its kernels wherever they can serve") {
    // The kernel of several that was measured to be the fastest, or is expected to be.
    const auto products_by_blis = [](const plan::Plan& plan, bool last_is_fastest) {
        int products = 0;
        each_step(plan, [&](const plan::Step& step, const kernels::Problem& problem) {
            if (!step.op.starts_with("dense") && !step.op.starts_with("conv2d")) return;
            CAPTURE(step.name);
            std::vector<std::string_view> able, faster;
            for (const kernels::KernelInfo* kernel : measurable_kernels(problem)) {
                if (!kernel->blis) continue;
                able.push_back(kernel->name);
                if (!kernels::expected_slower(*kernel, problem)) faster.push_back(kernel->name);
            }
            REQUIRE(!able.empty());
            CHECK(step.kernel == (last_is_fastest  ? able.back()
                                  : faster.empty() ? able.front()
                                                   : faster.front()));
            ++products;
        });
        return products;
    };
    const plan::Plan usual = compile(nullptr);
    const TuningHistory against = last_is_fastest(usual);  // `direct` is behind `blis`
    CHECK(products_by_blis(compile(&against, "", 1, "blis"), true) > 20);
    const plan::Plan by_blis = compile(nullptr, "", 1, "blis");
    CHECK(products_by_blis(by_blis, false) > 20);
    const Trained one = train_on(1, usual);
    const Trained other = train_on(1, by_blis);
    REQUIRE_MESSAGE(other.error.empty(), other.error);
    for (std::size_t i = 0; i < one.losses.size(); ++i)
        CHECK(other.losses[i] == doctest::Approx(one.losses[i]).epsilon(1e-3));
}

TEST_CASE("every kernel that can do a problem is measured") {
    std::set<std::string> done;
    runtime::KernelMeter meter(2, 5);
    each_step(compile(nullptr), [&](const plan::Step&, const kernels::Problem& problem) {
        if (!done.insert(problem_key(problem)).second) return;
        const auto able = measurable_kernels(problem);
        const std::vector<runtime::MeasuredKernel> measured = meter.measure(problem, able);
        REQUIRE(measured.size() == able.size());
        std::size_t most = 0;
        for (std::size_t i = 0; i < able.size(); ++i) {
            CAPTURE(problem_key(problem));
            CHECK(measured[i].kernel == able[i]);
            REQUIRE(!measured[i].seconds.empty());
            CHECK(measured[i].seconds.front() > 0);
            CHECK(std::is_sorted(measured[i].seconds.begin(), measured[i].seconds.end()));
            most = std::max(most, measured[i].seconds.size());
        }
        CHECK((able.empty() || most >= 5));
    });
    CHECK(done.size() > 20);
}

}  // namespace
}  // namespace dtnn::tuned_plan_test
