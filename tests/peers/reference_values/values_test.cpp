/// Every case of every file of this folder: our results, gradients and updated states beside
/// PyTorch's. README.md has the form of the files.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "compiler/ir/verifier.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/optimizer_graph.hpp"
#include "tests/gradient/interpreter.hpp"
#include "tests/graphs/parser.hpp"

namespace values_test {

namespace {

using namespace dtnn::compiler;
using dtnn::tests::Interpreter;
using dtnn::tests::Kernels;
using Json = nlohmann::json;
using Numbers = std::vector<double>;

Numbers numbers_of(const Json& list) {
    Numbers numbers;
    for (const Json& item : list) {
        if (item.is_string())
            numbers.push_back(std::stod(item.get<std::string>()));
        else
            numbers.push_back(item.get<double>());
    }
    return numbers;
}

/// The result of a graph of that name; invalid when there is none.
ValueId output_of(const Graph& graph, const std::string& name) {
    for (const GraphOutput& output : graph.outputs)
        if (output.name == name) return output.value;
    return {};
}

/// Adds a loss whose gradient by `result` is `diff`: the mean squared error of n elements has
/// the gradient 2 (y - target) / n, so the target is y - diff n / 2.
void add_loss(Graph& graph, const std::string& result) {
    const ValueId y = output_of(graph, result);
    const ValueId target = graph.add_input("reference.target", graph.type(y));
    Node loss;
    loss.op = "elementwise_mean";
    loss.inputs = {y, target};
    loss.attributes["expression"] = std::string("x0 x1 sub x0 x1 sub mul");
    loss.attributes["derivative"] = std::string("2 x0 x1 sub mul");
    graph.outputs.push_back({"loss", emit(graph, std::move(loss), "reference.loss")[0]});
}

/// The plain graph keeps to what gives operators their meaning; the other goes through every pass.
Graph prepared(Graph graph, const std::string& phase, bool plain) {
    PassContext context;
    context.program =
        phase == "training" ? dtnn::plan::ProgramKind::train : dtnn::plan::ProgramKind::evaluate;
    for (const PassInfo& pass : all_passes()) {
        if (!pass.programs.contains(context.program)) continue;
        if (pass.name == "attach_loss" || pass.name == "attach_update") continue;
        if (plain && (pass.optional || pass.name == "layout" || pass.name == "schedule")) continue;
        graph = pass.run(graph, context);
        CAPTURE(pass.name);
        REQUIRE(verify(graph).empty());
        REQUIRE(check_types(graph).empty());
    }
    return graph;
}

void set(Interpreter& run, const Graph& graph, const std::string& name, const Numbers& numbers) {
    for (std::size_t i = 0; i < graph.values.size(); ++i)
        if (graph.values[i].name == name && graph.values[i].kind != ValueKind::result)
            run.set(ValueId(i), numbers);
}

void compare(const std::string& what, const Numbers& ours, const Json& list, double tolerance) {
    const Numbers theirs = numbers_of(list);
    REQUIRE_MESSAGE(ours.size() == theirs.size(), what);
    for (std::size_t i = 0; i < ours.size(); ++i) {
        const bool same =
            std::isfinite(theirs[i])
                ? std::fabs(ours[i] - theirs[i]) <= tolerance * std::max(1.0, std::fabs(theirs[i]))
                : ours[i] == theirs[i] || (std::isnan(ours[i]) && std::isnan(theirs[i]));
        CHECK_MESSAGE(same, what, "[", i, "] is ", ours[i], ", PyTorch has ", theirs[i]);
    }
}

std::string in_float(std::string graph) {
    for (std::size_t at; (at = graph.find(": f64[")) != std::string::npos;)
        graph.replace(at, 6, ": f32[");
    return graph;
}

void check(const Json& c, bool plain, bool single) {
    CAPTURE(plain);
    CAPTURE(single);
    const std::string phase = c.at("phase");
    const double tolerance = c.at(single ? "float_tolerance" : "tolerance");
    // The loss is made of differences, which in float have a part of the largest result's rounding.
    const double of_gradients = single ? 1e-3 : tolerance;
    const std::string result = c.at("outputs").begin().key();
    Graph forward = parse_graph(
        single ? in_float(c.at("graph").get<std::string>()) : c.at("graph").get<std::string>(),
        infer_types);
    const bool weighted = phase == "training" && result != "loss";
    if (weighted) add_loss(forward, result);
    const Graph graph = prepared(std::move(forward), phase, plain);

    Interpreter run(graph, plain ? Kernels::reference : Kernels::first);
    for (const auto& [name, list] : c.at("values").items())
        set(run, graph, name, numbers_of(list));
    if (weighted) {
        const Numbers y = numbers_of(c.at("outputs").at(result)), diff = numbers_of(c.at("diff"));
        Numbers target(y.size());
        for (std::size_t i = 0; i < y.size(); ++i)
            target[i] = y[i] - diff[i] * double(y.size()) / 2;
        set(run, graph, "reference.target", target);
    }
    run.run();
    for (const auto& [name, list] : c.at("outputs").items()) {
        const ValueId value = output_of(graph, name);
        REQUIRE(value.valid());
        compare(name, run.get(value), list, tolerance);
    }
    if (c.contains("gradients"))
        for (const auto& item : c.at("gradients").items()) {
            const std::string& name = item.key();
            const auto& list = item.value();
            const ValueId value = output_of(graph, gradient_output(name));
            REQUIRE_MESSAGE(value.valid(), name, " has no gradient");
            compare("gradient of " + name, run.get(value), list, of_gradients);
        }
    if (c.contains("updates"))
        for (const auto& item : c.at("updates").items()) {
            const std::string& name = item.key();
            const auto& list = item.value();
            bool found = false;
            for (const Update& update : graph.updates) {
                if (graph.value(update.state).name != name) continue;
                compare("updated " + name, run.get(update.value), list, tolerance);
                found = true;
            }
            CHECK_MESSAGE(found, name, " is not updated");
        }
}

}  // namespace

TEST_CASE("operators compute what PyTorch computes") {
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator("tests/peers/reference_values")) {
        if (entry.path().extension() != ".json") continue;
        ++files;
        std::ifstream stream(entry.path());
        const Json file = Json::parse(stream);
        CHECK_FALSE(file.at("cases").empty());
        for (const Json& c : file.at("cases")) {
            const std::string name =
                entry.path().filename().string() + ": " + c.at("name").get<std::string>();
            CAPTURE(name);
            for (const bool plain : {true, false})
                for (const bool single : {false, true})
                    if (!single || c.contains("float_tolerance"))
                        CHECK_NOTHROW(check(c, plain, single));
        }
    }
    CHECK(files > 0);
}

}  // namespace values_test
