/// Every loss, as a training attaches it, beside PyTorch: value, gradient, and what ten steps of
/// gradient descent make of weights. README.md has the form of the file.

#include "compiler/ops/loss/losses.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "compiler/passes/shared/optimizer_graph.hpp"
#include "tests/peers/measures/measured_graph.hpp"

namespace losses_test {

namespace {

using namespace dtnn;
using namespace dtnn::compiler;
using dtnn::tests::Interpreter;
using dtnn::tests::Kernels;
using Json = nlohmann::json;
using Numbers = std::vector<double>;
namespace plan = dtnn::plan;

constexpr double kTolerance = 1e-9;

plan::LabelKind kind_of(const std::string& name) {
    if (name == "classes") return plan::LabelKind::classes;
    return name == "multiple" ? plan::LabelKind::multiple : plan::LabelKind::values;
}

Attributes attributes_of(const Json& fields) {
    Attributes attributes;
    for (const auto& [name, value] : fields.items()) {
        if (value.is_boolean())
            attributes[name] = value.get<bool>();
        else if (value.is_string())
            attributes[name] = value.get<std::string>();
        else if (value.is_array())
            attributes[name] = value.get<Numbers>();
        else
            attributes[name] = value.get<double>();
    }
    return attributes;
}

PassContext context_of(const Json& c) {
    PassContext context;
    context.training.loss = c.at("loss").at("type");
    context.training.loss_attributes = attributes_of(c.at("loss").at("attributes"));
    context.label_kind = kind_of(c.at("label_kind"));
    context.soft_labels = c.at("soft");
    context.program = plan::ProgramKind::train;
    return context;
}

/// `before`: operands and nodes that give %x or @x.
std::string graph_text(const Json& c, const std::string& operands, const std::string& nodes,
                       const std::string& x) {
    const std::string end = c.at("end");
    const std::string last = end.empty() ? "" : fmt::format("%p = {}({}) ", end, x);
    return fmt::format("graph @g({}) {{ {}{}return predictions={} }}", operands, nodes, last,
                       end.empty() ? x : "%p");
}

void set_answers(Interpreter& run, const Graph& graph, const Json& c) {
    const char* name = c.contains("labels") ? "labels" : "targets";
    const ValueId answers = dtnn::tests::operand_of(graph, name);
    REQUIRE(answers.valid());
    run.set(answers, c.at(name).get<Numbers>());
}

void compare(const std::string& what, const Numbers& ours, const Numbers& theirs) {
    REQUIRE_MESSAGE(ours.size() == theirs.size(), what);
    for (std::size_t i = 0; i < ours.size(); ++i)
        CHECK_MESSAGE(
            std::fabs(ours[i] - theirs[i]) <= kTolerance * std::max(1.0, std::fabs(theirs[i])),
            what, "[", i, "] is ", ours[i], ", PyTorch has ", theirs[i]);
}

void check_value(const Json& c, bool plain) {
    const auto shape = c.at("shape").get<std::vector<int>>();
    const std::string operand = shape.size() == 2
                                    ? fmt::format("@x: f64[{},{} feature]", shape[0], shape[1])
                                    : fmt::format("@x: f64[{},{} channel,{} space,{} space]",
                                                  shape[0], shape[1], shape[2], shape[3]);
    const Graph graph =
        dtnn::tests::measured(graph_text(c, operand, "", "@x"), context_of(c), plain);
    Interpreter run(graph, plain ? Kernels::reference : Kernels::first);
    run.set(dtnn::tests::operand_of(graph, "x"), c.at("x").get<Numbers>());
    set_answers(run, graph, c);
    run.run();
    compare("loss", run.get(dtnn::tests::output_of(graph, "loss")), {c.at("value").get<double>()});
    compare("gradient", run.get(dtnn::tests::output_of(graph, gradient_output("x"))),
            c.at("gradient").get<Numbers>());
}

void check_steps(const Json& c, bool plain) {
    const Json& steps = c.at("steps");
    const auto shape = c.at("shape").get<std::vector<int>>();
    const Numbers inputs = steps.at("inputs");
    const std::size_t features = inputs.size() / std::size_t(shape[0]);
    const std::string operands =
        fmt::format("%source: f64[{},{}], @w: f64[{},{}]", shape[0], features, features, shape[1]);
    const Graph graph = dtnn::tests::measured(
        graph_text(c, operands, "%x = dense(%source, @w) {bias=false} ", "%x"), context_of(c),
        plain);
    Interpreter run(graph, plain ? Kernels::reference : Kernels::first);
    run.set(dtnn::tests::operand_of(graph, "source"), inputs);
    set_answers(run, graph, c);
    Numbers weights = steps.at("weights");
    for (int step = 0; step < 10; ++step) {
        run.set(dtnn::tests::operand_of(graph, "w"), weights);
        run.run();
        const Numbers gradient = run.get(dtnn::tests::output_of(graph, gradient_output("w")));
        for (std::size_t i = 0; i < weights.size(); ++i)
            weights[i] -= steps.at("rate").get<double>() * gradient[i];
    }
    compare("weights", weights, steps.at("after").get<Numbers>());
}

Json cases() {
    std::ifstream stream("tests/peers/measures/losses.json");
    return Json::parse(stream).at("cases");
}

/// A loss of rows of numbers, on the reference kernels.
double value_of(const std::string& loss, Attributes attributes, const std::string& end,
                const std::string& shape, const Numbers& x, const Numbers& targets,
                plan::LabelKind kind = plan::LabelKind::multiple) {
    PassContext context;
    context.training.loss = loss;
    context.training.loss_attributes = std::move(attributes);
    context.label_kind = kind;
    context.program = plan::ProgramKind::evaluate;
    const Json c = {{"end", end}};
    const Graph graph =
        dtnn::tests::measured(graph_text(c, "%x: f64" + shape, "", "%x"), context, true);
    Interpreter run(graph, Kernels::reference);
    run.set(dtnn::tests::operand_of(graph, "x"), x);
    const char* name = kind == plan::LabelKind::classes ? "labels" : "targets";
    run.set(dtnn::tests::operand_of(graph, name), targets);
    run.run();
    return run.get(dtnn::tests::output_of(graph, "loss"))[0];
}

}  // namespace

TEST_CASE("losses and their gradients are PyTorch's") {
    for (const Json& c : cases()) {
        const std::string name = c.at("name");
        CAPTURE(name);
        for (const bool plain : {true, false}) {
            CAPTURE(plain);
            CHECK_NOTHROW(check_value(c, plain));
        }
    }
}

TEST_CASE("ten steps of gradient descent end where PyTorch's do") {
    int checked = 0;
    for (const Json& c : cases()) {
        if (!c.contains("steps")) continue;
        const std::string name = c.at("name");
        CAPTURE(name);
        for (const bool plain : {true, false})
            CHECK_NOTHROW(check_steps(c, plain));
        ++checked;
    }
    CHECK(checked > 40);
}

TEST_CASE("every loss has a case") {
    std::set<std::string> covered;
    for (const Json& c : cases()) {
        const Json& loss = c.at("loss");
        covered.insert(std::string(
            find_loss(loss.at("type").get<std::string>(), attributes_of(loss.at("attributes")))
                ->name));
    }
    for (const LossInfo& loss : all_losses()) {
        if (loss.takes_labels(plan::LabelKind::sequence)) continue;  // ctc_test.cpp
        const std::string name(loss.name);
        CAPTURE(name);
        CHECK(covered.contains(name));
    }
}

TEST_CASE("binary cross-entropy of a right yes is as small as of a right no") {
    // PyDTNN takes -log(max((1 - t) - p, eps)) for both: 18.4 for every yes.
    const Numbers sure{0.99, 0.01, 0.98, 0.02};
    const double yes = value_of("binary_cross_entropy", {}, "", "[1,4]", sure, {1, 0, 1, 0});
    CHECK(yes == doctest::Approx(-(std::log(0.99) * 2 + std::log(0.98) * 2) / 4));
    const double wrong = value_of("binary_cross_entropy", {}, "", "[1,4]", sure, {0, 1, 0, 1});
    CHECK(wrong == doctest::Approx(-(std::log(0.01) * 2 + std::log(0.02) * 2) / 4));
}

TEST_CASE("a loss of more samples is a mean, not a sum") {
    // PyDTNN's absolute errors are sums over the batch.
    for (const char* loss : {"mean_absolute_error", "mean_squared_error", "huber"}) {
        CAPTURE(loss);
        const Attributes fields =
            std::string(loss) == "huber" ? Attributes{{"delta", 1.0}} : Attributes{};
        const double one =
            value_of(loss, fields, "", "[1,2]", {1, 3}, {0, 1}, plan::LabelKind::values);
        const double two = value_of(loss, fields, "", "[2,2]", {1, 3, 1, 3}, {0, 1, 0, 1},
                                    plan::LabelKind::values);
        CHECK(one == doctest::Approx(two));
    }
    CHECK(value_of("mean_absolute_error", {}, "", "[1,2]", {1, 3}, {0, 1},
                   plan::LabelKind::values) == doctest::Approx(1.5));
}

TEST_CASE("the divergence of a distribution from itself is zero, and counts zeros as nothing") {
    // PyDTNN's kl_divergence ends in a TypeError.
    const Numbers p{0.5, 0.25, 0.25, 0};
    Numbers logarithms;
    for (const double x : p)
        logarithms.push_back(std::log(x));
    CHECK(value_of("kl_divergence", {}, "", "[1,4]", logarithms, p, plan::LabelKind::values) ==
          doctest::Approx(0));
    CHECK(value_of("kl_divergence", {}, "", "[1,4]", Numbers(4, std::log(0.25)), p,
                   plan::LabelKind::values) == doctest::Approx(0.5 * std::log(2)));
}

TEST_CASE("labels whose classes weigh nothing make no loss, and no division by zero") {
    const Attributes weights{{"class_weights", Numbers{0, 1}}};
    CHECK(value_of("categorical_cross_entropy", weights, "softmax", "[2,2]", {1, 2, 3, 4}, {0, 0},
                   plan::LabelKind::classes) == 0);
    CHECK(value_of("categorical_cross_entropy", weights, "softmax", "[2,2]", {1, 2, 3, 4}, {0, 1},
                   plan::LabelKind::classes) == doctest::Approx(std::log1p(std::exp(-1))));
}

TEST_CASE("a loss keeps what is not a number, so that the run stops") {
    const double nan = std::nan("");
    for (const LossInfo& loss : all_losses()) {
        if (loss.takes_labels(plan::LabelKind::sequence)) continue;  // ctc_test.cpp
        const std::string name(
            loss.name == "binary_cross_entropy_with_logits" ? "binary_cross_entropy" : loss.name);
        CAPTURE(name);
        Attributes fields;
        if (name != loss.name) fields["from_logits"] = true;
        if (name == "huber") fields["delta"] = 1.0;
        if (loss.written) fields["expression"] = std::string("abs(p - t)");
        const bool labels = loss.takes_labels(plan::LabelKind::classes);
        const Numbers answers = labels ? Numbers{1, 0} : Numbers{0, 1, 1, 0};
        const auto kind = labels ? plan::LabelKind::classes : plan::LabelKind::multiple;
        CHECK(std::isnan(value_of(name, fields, "", "[2,2]", {0.5, nan, 0.5, 0.5}, answers, kind)));
    }
}

}  // namespace losses_test
