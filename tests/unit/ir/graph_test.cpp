#include "compiler/ir/graph.hpp"

#include <doctest/doctest.h>

#include "compiler/ir/printer.hpp"
#include "compiler/ir/rewriter.hpp"
#include "compiler/ir/verifier.hpp"
#include "compiler/support/check.hpp"
#include "tests/graphs/parser.hpp"

namespace graph_test {

using namespace dtnn;
using namespace dtnn::compiler;

namespace {

const char* const kText =
    R"(graph @net(%source: f32[4,3,8,8], %labels: i32[4], @conv.weights: f32[8,3,3,3]{2,3,1,0}, @bn.mean: f32[8] frozen, @conv.weights.velocity: f32[8,3,3,3]{2,3,1,0} state, @d.weights: f64[8,4,4,10]{1,2,0,3} of [128,10]) training {
  %w = prepare(@conv.weights) : f32[8,3,3,3]{2,3,1,0}
  end prologue
  %c, %s = conv2d(%source, %w) {bias=false, epilogue=relu, expression="x0 0 max", momentum=0.9, padding=[1,1,1,1], rate=1.0, seed=-3, tiny=1e-05} : f32[4,8,8,8]{0,2,3,1}, f64[2,8]
  %l = loss(%c, %labels) : f32[]
  %g = grad(%c) : f32[8,3,3,3]{2,3,1,0}  ; backward
  %u = step(@conv.weights, %g) : f32[8,3,3,3]{2,3,1,0}  ; update
  %a = accuracy(%c, %labels) : f32[]  ; metric
  return loss=%l, %a, predictions=%c
  update @conv.weights = %u
}
)";

void set_order(Graph& graph, ValueId value, Order order) {
    Type type = graph.type(value);
    type.order = std::move(order);
    graph.set_type(value, type);
}

Graph two_nodes() {
    return parse_graph(
        "graph @g(%x: f32[2]) { %a = f(%x) : f32[2] %b = g(%a) : f32[2] return y=%b }");
}

}  // namespace

TEST_CASE("what is printed reads back, and prints the same") {
    const Graph graph = parse_graph(kText);
    CHECK(verify(graph).empty());
    CHECK(print(graph) == kText);
    CHECK(graph.training);
    CHECK(graph.prologue == 1);
    CHECK(graph.parameters[1].role == "mean");
    CHECK_FALSE(graph.parameters[1].trainable);
    CHECK(graph.parameters[0].trainable);
    CHECK(graph.parameters[2].optimizer_state);
    CHECK(graph.parameters[3].dims == Dims{128, 10});
    CHECK(graph.nodes[3].phase == Phase::backward);
    CHECK(graph.nodes[5].phase == Phase::metric);
    const Attributes& attributes = graph.nodes[1].attributes;
    CHECK(std::get<double>(attributes.at("rate")) == 1.0);
    CHECK(std::get<std::int64_t>(attributes.at("seed")) == -3);
    CHECK(std::get<std::string>(attributes.at("expression")) == "x0 0 max");
}

TEST_CASE("names that are no words are quoted") {
    Graph graph = two_nodes();
    graph.name = "my \"net\"";
    graph.nodes[0].attributes["note"] = std::string("true");
    graph.rename(ValueId(1), "a b");
    const Graph again = parse_graph(print(graph));
    CHECK(again.name == graph.name);
    CHECK(again.values[1].name == "a b");
    CHECK(again.nodes[0].attributes == graph.nodes[0].attributes);
}

TEST_CASE("result types come from the callback when the text leaves them out") {
    const InferTypes doubled = [](const std::string& op, const std::vector<Type>& inputs,
                                  Attributes&,
                                  std::vector<Type>& results) -> std::optional<std::string> {
        if (op == "bad") return "not this one";
        results = {inputs[0]};
        results[0].dims[0] *= 2;
        return std::nullopt;
    };
    const Graph graph = parse_graph("graph @g(%x: f32[2]) { %a = f(%x) return %a }", doubled);
    CHECK(print(graph.type(graph.outputs[0].value)) == "f32[4]");
    CHECK_THROWS_WITH(parse_graph("graph @g(%x: f32[2]) { %a = bad(%x) }", doubled),
                      "1:37: not this one");
}

TEST_CASE("text that is no graph is refused with its place") {
    CHECK_THROWS_WITH(parse_graph("graph @g(%x: f32[2]) { %a = f(%x) return %a }"),
                      "1:35: the result types of `f` are missing");
    CHECK_THROWS_WITH(parse_graph("graph @g(%x: f32[2])\n{ %a = f(%z) : f32[2] }"),
                      "2:12: `z` is not defined before it is used");
    CHECK_THROWS_WITH(parse_graph("graph @g(%x: f7[2]) {}"), "1:16: `f7` is no dtype");
    CHECK_THROWS_AS(parse_graph("graph @g(%x: f32[2]) {"), GraphTextError);
    CHECK_THROWS_AS(parse_graph("graph @g(%x: f32[2]) { %x = f(%x) : f32[2] }"), GraphTextError);
    CHECK_THROWS_AS(parse_type("f32[2] 3"), GraphTextError);
}

TEST_CASE("names are made unique") {
    Graph graph;
    graph.add_input("x", {});
    CHECK(graph.unique_name("y") == "y");
    CHECK(graph.unique_name("x") == "x.1");
    graph.add_input("x", {});
    graph.add_input("x.weights", {});
    CHECK(graph.values[1].name == "x.1");
    CHECK(graph.unique_name("x") == "x.2");
}

TEST_CASE("a name is free again when its value is renamed, and copies know their own names") {
    Graph graph;
    const ValueId x = graph.add_input("x", {});
    graph.add_input("x", {});
    graph.rename(x, "y");
    CHECK(graph.unique_name("x") == "x");
    CHECK(graph.unique_name("y") == "y.1");
    CHECK(graph.has_value_named("x.1"));
    Graph copy = graph;
    copy.rename(ValueId(0), "z");
    CHECK(copy.unique_name("y") == "y");
    CHECK(copy.unique_name("z") == "z.1");
    CHECK(graph.unique_name("y") == "y.1");
    // Hundreds of values, so that the table grows several times.
    for (int i = 0; i < 500; ++i)
        graph.add_input("many", {});
    CHECK(graph.values.back().name == "many.499");
    CHECK(verify(graph).empty());
}

TEST_CASE("the layer table is shared until it is written") {
    Graph graph;
    dtnn::plan::Layer row;
    row.name = "a";
    graph.layers.push_back(row);
    Graph other = graph;
    CHECK(&other.layers.rows() == &graph.layers.rows());
    row.name = "b";
    other.layers.push_back(row);
    CHECK(graph.layers.size() == 1);
    CHECK(other.layers.size() == 2);
    CHECK(other.layers[0].name == "a");
}

TEST_CASE("the readers of a value are listed once each, in order") {
    const Graph graph =
        parse_graph("graph @g(%x: f32[2]) { %a = f(%x, %x) : f32[2] %b = g(%x, %a) : f32[2] }");
    const auto readers = graph.readers();
    const auto of = [&](std::size_t value) {
        return std::vector<NodeId>(readers[value].begin(), readers[value].end());
    };
    CHECK(of(0) == std::vector<NodeId>{NodeId(0), NodeId(1)});
    CHECK(of(1) == std::vector<NodeId>{NodeId(1)});
    CHECK(readers[2].empty());
}

TEST_CASE("the verifier names what is broken") {
    const auto problems_after = [](const auto& breaking) {
        Graph graph = parse_graph(kText);
        breaking(graph);
        const auto problems = verify(graph);
        return problems.empty() ? std::string() : problems.front();
    };
    CHECK(problems_after([](Graph& g) { std::swap(g.nodes[3], g.nodes[2]); }) != "");
    CHECK(problems_after([](Graph& g) { g.rename(ValueId(1), "source"); }) ==
          "two values are named `source`");
    CHECK(problems_after([](Graph& g) { g.nodes[2].inputs[0] = ValueId(99); }) ==
          "a node `loss` reads a value that does not exist");
    CHECK(problems_after([](Graph& g) { g.updates.push_back(g.updates[0]); }) ==
          "`conv.weights` is updated twice");
    CHECK(problems_after([](Graph& g) { set_order(g, g.updates[0].value, {}); }) ==
          "`conv.weights` is f32[8,3,3,3]{2,3,1,0} but its update `u` is f32[8,3,3,3]");
    CHECK(problems_after([](Graph& g) { g.updates[0].state = g.inputs[0]; }) ==
          "`source` is updated but is no parameter");
    CHECK(problems_after([](Graph& g) { g.prologue = 2; }) ==
          "prologue node 1 reads the input `source`");
    CHECK(problems_after([](Graph& g) { g.prologue = 77; }) == "the prologue has 77 of 6 nodes");
    CHECK(problems_after([](Graph& g) {
              set_order(g, ValueId(0), {0, 2, 2, 1});
          }) == "the order of `source` is no permutation of its axes");
    CHECK(problems_after([](Graph& g) { g.inputs.pop_back(); }) ==
          "input `labels` is not in the input list");
    CHECK(problems_after([](Graph& g) { g.outputs[1].name = "loss"; }) ==
          "two outputs are named `loss`");
    CHECK(problems_after([](Graph& g) { g.nodes[0].layer = LayerId(3); }) ==
          "a node `prepare` belongs to layer 3 of 0");
}

TEST_CASE("the verifier finds a read before the write") {
    Graph graph = two_nodes();
    graph.nodes[0].inputs[0] = graph.nodes[1].outputs[0];
    const auto problems = verify(graph);
    REQUIRE(problems.size() == 1);
    CHECK(problems[0] == "node 0 `f` reads `b` before it is produced");
}

TEST_CASE("a rewriter that copies everything changes nothing") {
    const Graph graph = parse_graph(kText);
    Rewriter r(graph);
    for (const Node& node : graph.nodes)
        r.copy(node);
    const Graph copied = r.take();
    CHECK(print(copied) == print(graph));
    CHECK(verify(copied).empty());
    CHECK(copied.parameters[0].value == graph.parameters[0].value);
}

TEST_CASE("a rewriter replaces values in later readers, outputs and updates") {
    const Graph graph = two_nodes();
    Rewriter r(graph);
    Node fused = r.mapped(graph.nodes[0]);
    fused.op = "fg";
    const NodeId id = r.graph().add_node(fused, {graph.type(graph.inputs[0])}, "fused");
    r.replace(graph.nodes[1].outputs[0], r.graph().node(id).outputs[0], true);
    const Graph result = r.take();
    CHECK(print(result) == "graph @g(%x: f32[2]) {\n  %b = fg(%x) : f32[2]\n  return y=%b\n}\n");
    CHECK(verify(result).empty());
}

TEST_CASE("reading a dropped value through a rewriter is an internal error") {
    const Graph graph = two_nodes();
    Rewriter r(graph);
    CHECK_THROWS_AS(r.copy(graph.nodes[1]), InternalError);
    CHECK_THROWS_AS(r.take(), InternalError);
}

TEST_CASE("a rewriter keeps names unique and the prologue's end") {
    const Graph graph = parse_graph(
        "graph @g(%x: f32[2], @w: f32[2]) { %a = f(@w) : f32[2] end prologue "
        "%b = g(%a, %x) : f32[2] return %b }");
    Rewriter r(graph);
    Node extra = graph.nodes[0];
    extra.inputs = {r.map(graph.parameters[0].value)};
    r.graph().add_node(extra, {graph.type(graph.inputs[0])}, "b");
    for (const Node& node : graph.nodes)
        r.copy(node);
    const Graph result = r.take();
    CHECK(verify(result).empty());
    CHECK(result.prologue == 2);
    CHECK(result.value(result.nodes[2].outputs[0]).name == "b.1");
}

TEST_CASE("nodes that compute the same are equal and have one hash") {
    const Graph graph = parse_graph(
        "graph @g(%x: f32[2]) { %a = f(%x) {k=1} : f32[2] %b = f(%x) {k=1} : f32[2] "
        "%c = f(%x) {k=2} : f32[2] }");
    CHECK(same_computation(graph.nodes[0], graph.nodes[1]));
    CHECK(computation_hash(graph.nodes[0]) == computation_hash(graph.nodes[1]));
    CHECK_FALSE(same_computation(graph.nodes[0], graph.nodes[2]));
}

}  // namespace graph_test
