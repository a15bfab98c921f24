/// The same training, whatever the compiler chose: the steps of a model with all passes, with each
/// optional pass disabled, with reference kernels only, and on another number of threads give the
/// same losses.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/driver/compile_job.hpp"
#include "compiler/passes/pass.hpp"
#include "plan/json/json.hpp"
#include "runtime/data/sample_source.hpp"
#include "runtime/exec/load.hpp"
#include "runtime/train/initialize.hpp"
#include "runtime/train/session.hpp"
#include "tests/sanitized.hpp"

namespace dtnn::equivalence_test {
namespace {

/// A model to train, cut down by settings where it is large.
struct Subject {
    std::string name;
    std::vector<std::string> settings = {};
    /// Batch norm over two numbers gives -1 and 1 whatever they are, so small differences become
    /// large ones: where it follows the last pool a batch must be larger.
    std::int64_t batch = 2;
    bool sensitive = false;  ///< training amplifies rounding
    bool large = false;      ///< steps take seconds, and tens of minutes under the sanitizers

    /// A sanitizer sees in the first steps what it sees in all. Large networks have the same kinds
    /// of steps as small ones, and run long enough for momentum and running statistics to matter.
    int steps() const { return kSanitized ? 2 : large ? 4 : 20; }
};

struct Variant {
    std::string name;
    std::vector<std::string> disabled;
    bool reference = false;
    int threads = 1;
};

/// Training amplifies rounding: at an ordinary rate two runs of vgg16 in float are a factor of ten
/// further apart after each step from about the eighth on, whatever the kernels, and deep networks
/// with batch norm are a factor of two to five further apart from the first on at any rate. So such
/// networks learn slowly, in float only their first steps are compared, and in double they may be
/// further apart at the end.
constexpr std::size_t kFirstSteps = 3;
constexpr double kFirstStepsBound = 1e-4;
constexpr double kAmplified = 10;

const char* learning_rate_for(const Subject& subject) {
    return subject.sensitive ? "0.000001" : "0.0001";
}

plan::Plan compile_model(const Subject& subject, const std::string& dtype, const Variant& variant) {
    compiler::Diagnostics diagnostics;
    compiler::LoadOptions options;
    options.spec_path = {"specs"};
    // One sample short of full batches, so that the last step runs the program of the tail.
    options.settings = {
        "training.dtype=" + dtype,
        fmt::format("training.batch_size={}", subject.batch),
        fmt::format("training.optimizer={{sgd: {{learning_rate: {}, momentum: 0.9}}}}",
                    learning_rate_for(subject)),
        "training.metrics=[categorical_accuracy]",
        fmt::format("dataset.train_samples={}", subject.steps() * subject.batch - 1),
        "dataset.test_samples=3"};
    options.settings.insert(options.settings.end(), subject.settings.begin(),
                            subject.settings.end());
    compiler::JobSpec job = compiler::load_job(subject.name, options, diagnostics);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.render(false));
    const compiler::CompileOptions compile{.threads = variant.threads,
                                           .disabled_passes = variant.disabled,
                                           .reference_kernels = variant.reference};
    const auto plan = compiler::compile_job(job, compile, diagnostics);
    REQUIRE_MESSAGE(plan.has_value(), diagnostics.render(false));
    return *plan;
}

/// Of the first steps, no more than `most` of them; of all, and of an evaluation, where there are
/// fewer. `text` is that of the plan's file, as a run gets it.
std::vector<double> losses(const std::string& text, int steps, std::size_t most) {
    const runtime::LoadedPlan loaded = runtime::load_plan_text(text, "plan");
    const plan::Plan& plan = loaded.plan;
    runtime::Session session(plan, plan.target.threads, runtime::made_up_source(plan.dataset));
    std::vector<double> result;
    session.pipeline().start(runtime::Split::train, session.sampler().epoch_order(0),
                             plan.training.batch_size);
    while (const std::int64_t samples = session.pipeline().wait()) {
        // The last batch of the epoch, among those whose gradients one update adds up, lacks a
        // sample.
        const std::int64_t group = plan.training.accumulation;
        const auto step = std::int64_t(result.size());
        const std::int64_t end = std::min((step / group + 1) * group, std::int64_t(steps));
        const std::int64_t whole = (end - step / group * group) * plan.training.batch_size;
        const runtime::BatchProgram& program = session.train_program(samples, step + 1 == end);
        session.pipeline().take(program.inputs);
        program.set_learning_rate(plan.training.learning_rate, plan.target.dtype);
        program.set_batch_weight(double(samples) / double(end == steps ? whole - 1 : whole),
                                 plan.target.dtype);
        program.set_position(0, step * plan.training.batch_size);
        if (program.update != nullptr) *program.update = step / group;
        if (result.empty()) program.program->run_prologue();
        program.program->run();
        result.push_back(program.loss());
        if (result.size() == most) {
            session.pipeline().stop();
            return result;
        }
    }
    // Evaluation takes part: its fusions are others.
    result.push_back(session.evaluate(runtime::Split::test, session.sampler().test()).loss());
    return result;
}

std::vector<Variant> variants() {
    std::vector<Variant> all = {{"two threads", {}, false, 2}};
    if (kThreadSanitized) return all;
    all.push_back({"reference kernels", {}, true, 1});
    // Under sanitizers all of them and none stand for each alone, which would take hours.
    for (const compiler::PassInfo& pass : compiler::all_passes())
        if (pass.optional && !kSanitized)
            all.push_back({"without " + std::string(pass.name), {std::string(pass.name)}});
    all.push_back({"without in_place", {"in_place"}});
    std::vector<std::string> every = {"in_place"};
    for (const compiler::PassInfo& pass : compiler::all_passes())
        if (pass.optional) every.emplace_back(pass.name);
    all.push_back({"without any optional pass", every});
    return all;
}

/// The smallest member of every family of the zoo: the others are the same layers more often.
const std::vector<Subject> kSubjects = {
    {"alexnet_cifar10", {}, 2, false, true},
    {"densenet21k8", {}, 4, true},
    {"efficientnet_b0",
     {"model.input.shape=[3, 64, 64]", "model.parameters.classes=5"},
     4,
     true,
     true},
    {"inception_small"},
    {"lenet5"},
    {"mobilenet_v1",
     {"model.input.shape=[3, 64, 64]", "model.parameters.classes=5"},
     4,
     true,
     true},
    {"mobilenet_v2",
     {"model.input.shape=[3, 64, 64]", "model.parameters.classes=5"},
     4,
     true,
     true},
    {"residual_small"},
    // The parts around the optimizer: sums, a norm over all gradients, averages, groups.
    {"residual_small",
     {"training.accumulation=3", "training.clip={norm: 0.5}", "training.average={decay: 0.9}",
      "training.groups=[{parameters: \"*.bias\", momentum: 0}, {parameters: \"*.gamma\", "
      "frozen: true}]"}},
    {"resnet10", {"model.parameters.width=8"}, 8, true},
    {"resnet50", {"model.input.shape=[3, 64, 64]", "model.parameters.width=8"}, 4, true, true},
    {"simplecnn"},
    {"simplemlp"},
    {"squeezenet1_1",
     {"model.input.shape=[3, 64, 64]", "model.parameters.classes=5"},
     2,
     false,
     true},
    {"unet", {"model.input.shape=[1, 32, 32]", "model.parameters.width=4"}},
    {"vgg16_cifar10", {}, 2, true, true},
    {"vgg3dobn", {}, 8, true, true},
};

void compare(const std::string& dtype, double bound) {
    const char* const only = std::getenv("DTNN_EQUIVALENCE_MODEL");
    for (const Subject& subject : kSubjects) {
        const std::string& model = subject.name;
        if (only != nullptr && model != only) continue;
        if (kSanitized && subject.large) {
            MESSAGE(model << ": left out under the sanitizers");
            continue;
        }
        const bool first_only = subject.sensitive && dtype == "f32";
        const auto all = std::size_t(subject.steps());
        const std::size_t steps = first_only ? std::min(kFirstSteps, all) : all;
        const std::size_t most = first_only ? steps : steps + 1;
        // A pass that finds nothing to do leaves the plan as it is: no plan is trained twice.
        std::map<std::string, std::vector<double>> trained;
        const auto losses_of = [&](const Variant& variant) {
            const std::string text = plan::to_json(compile_model(subject, dtype, variant));
            const auto found = trained.find(text);
            if (found != trained.end()) return found->second;
            return trained[text] = losses(text, subject.steps(), most);
        };
        const std::vector<double> expected = losses_of({"all passes", {}});
        REQUIRE(expected.size() == (first_only ? steps : steps + 1));
        CHECK(std::all_of(expected.begin(), expected.end(),
                          [](double x) { return std::isfinite(x); }));
        CHECK(expected.front() != expected[steps - 1]);
        double worst = 0;
        for (const Variant& variant : variants()) {
            CAPTURE(model);
            CAPTURE(variant.name);
            const std::vector<double> got = losses_of(variant);
            REQUIRE(got.size() == expected.size());
            double largest = 0;
            for (std::size_t i = 0; i < got.size(); ++i)
                largest = std::max(largest, std::abs(got[i] - expected[i]) / std::abs(expected[i]));
            CHECK(largest <=
                  (first_only ? kFirstStepsBound : bound * (subject.sensitive ? kAmplified : 1)));
            worst = std::max(worst, largest);
        }
        MESSAGE(fmt::format("{} {}: {} plans, largest relative difference {:.1e}", model, dtype,
                            trained.size(), worst));
    }
}

TEST_CASE("losses in float agree to 1e-5") {
    compare("f32", 1e-5);
}
TEST_CASE("losses in double agree to 1e-11") {
    compare("f64", 1e-11);
}

}  // namespace
}  // namespace dtnn::equivalence_test
