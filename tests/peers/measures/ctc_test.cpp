/// The loss of sequences of labels, as a training attaches it, beside PyTorch: value and gradient;
/// and the rate of wrong labels over samples that come in batches of several sizes. README.md has
/// the form of the file.

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "compiler/ops/loss/losses.hpp"
#include "compiler/passes/shared/optimizer_graph.hpp"
#include "plan/rules/label_sequences.hpp"
#include "runtime/train/metrics.hpp"
#include "tests/peers/measures/measured_graph.hpp"

namespace ctc_test {

namespace {

using namespace dtnn;
using namespace dtnn::compiler;
using dtnn::tests::Interpreter;
using dtnn::tests::Kernels;
using dtnn::tests::operand_of;
using dtnn::tests::output_of;
using Json = nlohmann::json;
using Numbers = std::vector<double>;
namespace plan = dtnn::plan;

constexpr double kTolerance = 1e-9;
constexpr const char* kLengths = "n";

Json cases() {
    std::ifstream stream("tests/peers/measures/ctc.json");
    return Json::parse(stream).at("cases");
}

PassContext context_of(const Json& c, plan::ProgramKind program) {
    PassContext context;
    context.training.loss = "ctc";
    context.training.loss_attributes = {{plan::kBlank, c.at("blank").get<std::int64_t>()},
                                        {"per", c.at("per").get<std::string>()}};
    context.training.metrics = {
        plan::make_metric({"label_error_rate", {}}, plan::LabelKind::sequence)};
    context.label_kind = plan::LabelKind::sequence;
    context.most_labels = c.at("most_labels");
    context.ignores_labels = true;
    context.program = program;
    if (c.contains("lengths")) context.lengths = kLengths;
    return context;
}

/// The end of a model of which %x are the numbers: what is learnt, @w, is added to what is read.
Graph graph_of(const Json& c, const PassContext& context, std::int64_t samples, bool plain) {
    const auto shape = c.at("shape").get<std::vector<std::int64_t>>();
    const std::string type = fmt::format("f64[{},{} step,{} feature]", samples, shape[1], shape[2]);
    return dtnn::tests::measured(
        fmt::format("graph @g(%source: {0}, @w: {0}) {{ %x = add(%source, @w) %p = log_softmax(%x) "
                    "{{axis=features}} return predictions=%p }}",
                    type),
        context, plain);
}

/// Some samples of a list that has as many numbers for each of all.
Numbers part(const Json& list, std::int64_t all, std::int64_t first, std::int64_t count) {
    const Numbers numbers = list;
    const auto each = std::int64_t(numbers.size()) / all;
    return {numbers.begin() + first * each, numbers.begin() + (first + count) * each};
}

void set_samples(Interpreter& run, const Graph& graph, const Json& c, std::int64_t first,
                 std::int64_t count) {
    const std::int64_t all = c.at("shape")[0];
    const Numbers x = part(c.at("x"), all, first, count);
    run.set(operand_of(graph, "source"), x);
    run.set(operand_of(graph, "w"), Numbers(x.size()));
    run.set(operand_of(graph, "labels"), part(c.at("labels"), all, first, count));
    if (c.contains("lengths"))
        run.set(operand_of(graph, kLengths), part(c.at("lengths"), all, first, count));
}

void compare(const std::string& what, const Numbers& ours, const Numbers& theirs) {
    REQUIRE_MESSAGE(ours.size() == theirs.size(), what);
    for (std::size_t i = 0; i < ours.size(); ++i)
        CHECK_MESSAGE(
            std::fabs(ours[i] - theirs[i]) <= kTolerance * std::max(1.0, std::fabs(theirs[i])),
            what, "[", i, "] is ", ours[i], ", PyTorch has ", theirs[i]);
}

}  // namespace

TEST_CASE("the loss of sequences of labels and its gradient are PyTorch's") {
    for (const Json& c : cases()) {
        const std::string name = c.at("name");
        CAPTURE(name);
        const std::int64_t samples = c.at("shape")[0];
        for (const bool plain : {true, false}) {
            CAPTURE(plain);
            const Graph graph =
                graph_of(c, context_of(c, plan::ProgramKind::train), samples, plain);
            Interpreter run(graph, plain ? Kernels::reference : Kernels::first);
            set_samples(run, graph, c, 0, samples);
            run.run();
            compare("loss", run.get(output_of(graph, "loss")), {c.at("value").get<double>()});
            compare("gradient", run.get(output_of(graph, gradient_output("w"))),
                    c.at("gradient").get<Numbers>());
        }
    }
}

TEST_CASE("a loss of all samples, and a rate of all their labels, however they are cut") {
    for (const Json& c : cases()) {
        const std::string name = c.at("name");
        CAPTURE(name);
        const std::int64_t samples = c.at("shape")[0];
        plan::Plan plan;
        plan.target.dtype = DType::f64;
        plan.dataset.target().kind = plan::LabelKind::sequence;
        plan.dataset.target().classes = c.at("shape")[2];
        plan.dataset.target().dims = {c.at("most_labels").get<std::int64_t>()};
        plan.dataset.attributes["ignored_value"] = plan::kUsualIgnoredValue;
        plan.training = context_of(c, plan::ProgramKind::evaluate).training;
        for (const std::int64_t batch : {samples, std::int64_t{1}}) {
            CAPTURE(batch);
            runtime::MetricSet set(plan);
            for (std::int64_t first = 0; first < samples; first += batch) {
                const Graph graph =
                    graph_of(c, context_of(c, plan::ProgramKind::evaluate), batch, false);
                Interpreter run(graph, Kernels::first);
                set_samples(run, graph, c, first, batch);
                run.run();
                const double loss = run.get(output_of(graph, "loss"))[0],
                             counted = run.get(output_of(graph, plan::kCountedLabels))[0],
                             changes = run.get(output_of(graph, "label_error_rate"))[0];
                runtime::BatchOutputs outputs;
                outputs.loss = {&loss, DType::f64, 1};
                outputs.counted = {&counted, DType::f64, 1};
                outputs.metrics = {{&changes, DType::f64, 1}};
                set.add(outputs, batch);
            }
            const auto values = set.values();
            REQUIRE(values.size() == 2);
            compare("loss", values[0].numbers, {c.at("value").get<double>()});
            // Of no labels there is no rate.
            const double counted = c.at("counted");
            compare("rate", values[1].numbers,
                    {counted > 0 ? c.at("changes").get<double>() / counted : 0});
        }
    }
}

TEST_CASE("a loss of sequences keeps what is not a number, so that the run stops") {
    const Json c = cases().front();
    const std::int64_t samples = c.at("shape")[0];
    for (const bool plain : {true, false}) {
        const Graph graph = graph_of(c, context_of(c, plan::ProgramKind::train), samples, plain);
        Interpreter run(graph, plain ? Kernels::reference : Kernels::first);
        set_samples(run, graph, c, 0, samples);
        Numbers x = c.at("x");
        x[5] = std::nan("");
        run.set(operand_of(graph, "source"), x);
        run.run();
        CHECK(std::isnan(run.get(output_of(graph, "loss"))[0]));
        CHECK(std::isnan(run.get(output_of(graph, gradient_output("w")))[5]));
    }
}

TEST_CASE("every loss and metric of sequences has cases here") {
    for (const LossInfo& loss : all_losses())
        CHECK(loss.takes_labels(plan::LabelKind::sequence) == (loss.name == "ctc"));
    for (const plan::MetricInfo& metric : plan::all_metrics())
        CHECK(metric.takes(plan::LabelKind::sequence) == (metric.type == "label_error_rate"));
}

TEST_CASE("a sequence takes a step for each label and one between equal neighbours") {
    const std::vector<std::int32_t> room = {3, 3, 1, 3, -1, -1};
    const auto labels = plan::labels_of(room);
    CHECK(labels.size() == 4);
    CHECK(plan::least_steps(labels) == 5);
    CHECK(plan::least_steps(labels.first(0)) == 0);
    const std::vector<std::int32_t> full = {2, 2, 2};
    CHECK(plan::least_steps(plan::labels_of(full)) == 5);
}

}  // namespace ctc_test
