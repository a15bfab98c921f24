#include "compiler/lower/in_place.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>

#include "compiler/frontend/specs.hpp"
#include "compiler/lower/emit_plan.hpp"
#include "compiler/lower/plan_memory.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/support/check.hpp"
#include "plan/audit/audit.hpp"
#include "tests/graphs/parser.hpp"
#include "tests/unit/lower/simulation.hpp"

namespace in_place_test {

using namespace dtnn;
using namespace dtnn::compiler;

namespace {

plan::Target target() {
    plan::Target t;
    t.isa = "baseline";
    t.threads = 2;
    return t;
}

LoweredProgram lower(Graph graph, bool in_place = true) {
    LoweredProgram program;
    program.name = "test";
    program.batch = 2;
    program.graph = std::move(graph);
    program.steps = select_kernels(program.graph, target(), {});
    program.storage = assign_storage(program.graph, program.steps, in_place);
    return program;
}

LoweredProgram lower_text(const std::string& text, bool in_place = true) {
    return lower(parse_graph(text, infer_types), in_place);
}

int storage_of(const LoweredProgram& program, const std::string& name) {
    for (std::size_t v = 0; v < program.graph.values.size(); ++v)
        if (program.graph.values[v].name == name) return program.storage.of_value[v];
    FAIL("no value named ", name);
    return -1;
}

bool share(const LoweredProgram& program, const std::string& a, const std::string& b) {
    return storage_of(program, a) == storage_of(program, b);
}

void check_simulation(const LoweredProgram& program) {
    plan::Plan plan;
    std::vector<LoweredProgram> programs = {program};
    emit_plan(programs, plan);
    std::vector<std::string> problems = simulate(program, plan, plan.programs[0]);
    CHECK_MESSAGE(problems.empty(), fmt::format("{}", fmt::join(problems, "\n")));
}

// Elementwise chains, sums, softmax and an optimizer step over values that die at random times.
Graph random_graph(std::mt19937& random) {
    Graph graph;
    graph.name = "random";
    Type type{DType::f32, {4, 8}, {}};
    std::vector<ValueId> values = {graph.add_input("source", type)};
    auto pick = [&] { return values[random() % values.size()]; };
    int count = 3 + int(random() % 20);
    for (int i = 0; i < count; ++i) {
        static const char* const kUnary[] = {"relu", "sigmoid", "tanh", "softmax"};
        Node node;
        if (random() % 3 == 0) {
            node.op = "add";
            node.inputs = {pick(), pick()};
        } else {
            node.op = kUnary[random() % 4];
            node.inputs = {pick()};
            if (node.op == "softmax") node.attributes["axis"] = "channels";
        }
        values.push_back(emit(graph, node, fmt::format("v{}", i))[0]);
    }
    graph.outputs = {{"predictions", values.back()}};
    if (random() % 2) graph.outputs.push_back({"extra", pick()});
    if (graph.value(graph.outputs.back().value).kind != ValueKind::result) graph.outputs.pop_back();
    return graph;
}

}  // namespace

TEST_CASE("a result takes the place of an operand that dies") {
    LoweredProgram program = lower_text(R"(graph @g(%source: f32[2,8]) {
        %a = relu(%source)  %b = sigmoid(%a)  %c = tanh(%b)  return predictions=%c })");
    CHECK_FALSE(share(program, "a", "source"));  // an input is not ours to overwrite
    CHECK(share(program, "b", "a"));
    CHECK(share(program, "c", "a"));
    check_simulation(program);
    LoweredProgram apart = lower_text(R"(graph @g(%source: f32[2,8]) {
        %a = relu(%source)  %b = sigmoid(%a)  return predictions=%b })",
                                      false);
    CHECK_FALSE(share(apart, "b", "a"));
}

TEST_CASE("must not take it: a later reader, another reader of a view, an output") {
    LoweredProgram later = lower_text(R"(graph @g(%source: f32[2,8]) {
        %a = relu(%source)  %b = sigmoid(%a)  %c = add(%a, %b)  return predictions=%c })");
    CHECK_FALSE(share(later, "b", "a"));
    CHECK((share(later, "c", "a") || share(later, "c", "b")));
    check_simulation(later);
    LoweredProgram output = lower_text(R"(graph @g(%source: f32[2,8]) {
        %a = relu(%source)  %b = sigmoid(%a)  return predictions=%b, extra=%a })");
    CHECK_FALSE(share(output, "b", "a"));
    check_simulation(output);
    LoweredProgram view = lower_text(R"(graph @g(%source: f32[2,8,1,1]) {
        %a = relu(%source)  %f = flatten(%a)  %b = sigmoid(%a)  %c = tanh(%f)
        return predictions=%c, extra=%b })");
    CHECK(share(view, "f", "a"));
    CHECK_FALSE(share(view, "b", "a"));
    CHECK(share(view, "c", "f"));
    check_simulation(view);
}

TEST_CASE("a sum takes one operand's place, and a value added to itself its own") {
    LoweredProgram sum = lower_text(R"(graph @g(%source: f32[2,8]) {
        %a = relu(%source)  %b = tanh(%source)  %c = add(%a, %b)  return predictions=%c })");
    CHECK(share(sum, "c", "a"));
    LoweredProgram twice = lower_text(R"(graph @g(%source: f32[2,8]) {
        %a = relu(%source)  %c = add(%a, %a)  return predictions=%c })");
    CHECK(share(twice, "c", "a"));
    check_simulation(twice);
}

TEST_CASE("a flatten of channels last is a view only where no axis has to move") {
    auto step_count = [](const std::string& type) {
        return lower_text("graph @g(%source: " + type +
                          ") { %f = flatten(%source)  "
                          "%r = relu(%f)  return predictions=%r }")
            .steps.size();
    };
    CHECK(step_count("f32[2,8,3,3]") == 1);
    CHECK(step_count("f32[2,8,1,1]{0,2,3,1}") == 1);
    CHECK(step_count("f32[2,1,3,3]{0,2,3,1}") == 1);
    Graph moved = parse_graph(
        "graph @g(%source: f32[2,8,3,3]{0,2,3,1}) { %f = flatten(%source)  "
        "return predictions=%f }",
        infer_types);
    CHECK_FALSE(is_view(moved, moved.nodes[0]));
    Graph reorder = parse_graph(
        "graph @g(%source: f32[2,1,5,5]) { %f = reorder(%source) "
        "{order=[0,2,3,1]}  return predictions=%f }",
        infer_types);
    CHECK(is_view(reorder, reorder.nodes[0]));
}

TEST_CASE("an update overwrites its state, and a reader after it is our bug") {
    const std::string head =
        R"(graph @g(%source: f32[4,4], %learning_rate: f32[1], @w: f32[4,4]) training {)";
    LoweredProgram program = lower_text(head + R"(
        %r = relu(@w)  %n = sgd_update(@w, %r, %learning_rate)
        return loss=%r  update @w = %n })");
    CHECK(share(program, "n", "w"));
    CHECK_FALSE(share(program, "r", "w"));
    check_simulation(program);
    // Also without the optional pass: the state has one place only.
    CHECK(share(lower_text(head + R"( %n = sgd_update(@w, %source, %learning_rate)
        return loss=%source  update @w = %n })",
                           false),
                "n", "w"));
    CHECK_THROWS_AS(lower_text(head + R"(
        %n = sgd_update(@w, %source, %learning_rate)  %r = relu(@w)
        return loss=%r  update @w = %n })"),
                    InternalError);
}

TEST_CASE("what the prologue made is not overwritten by the steps") {
    LoweredProgram program = lower_text(R"(graph @g(%source: f32[4,4], @w: f32[4,4 feature]) {
        %p = relu(@w)  %q = tanh(%p)
        end prologue
        %a = add(%source, %q)  %b = sigmoid(%q)  return predictions=%a, extra=%b })");
    CHECK(share(program, "q", "p"));
    CHECK_FALSE(share(program, "b", "q"));
    const Storage& kept = program.storage.storages[std::size_t(storage_of(program, "q"))];
    CHECK(kept.last_step == 3);
    check_simulation(program);
}

TEST_CASE("random graphs read what they should, in place or not") {
    std::mt19937 random(3);
    std::int64_t with = 0, without = 0;
    for (int round = 0; round < 300; ++round) {
        Graph graph = random_graph(random);
        for (bool in_place : {true, false}) {
            LoweredProgram program = lower(graph, in_place);
            check_simulation(program);
            plan::Plan plan;
            emit_plan({program}, plan);
            (in_place ? with : without) += plan.memory.transient;
        }
    }
    CHECK(with < without);
}

TEST_CASE("the programs of every shipped job read what they should") {
    for (const char* job :
         {"digits_simplecnn", "digits_residual", "digits_inception", "mnist_simplemlp",
          "synthetic_alexnet_cifar10", "synthetic_vgg16_cifar10"}) {
        CAPTURE(job);
        Diagnostics diagnostics;
        JobSpec spec =
            load_job(fmt::format("specs/jobs/{}.yaml", job), {{"specs"}, {}}, diagnostics);
        REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.render(false));
        Graph forward = build_graph(spec, 4, diagnostics);
        for (const plan::ProgramKind kind :
             {plan::ProgramKind::train, plan::ProgramKind::evaluate, plan::ProgramKind::predict})
            for (bool in_place : {true, false}) {
                CAPTURE(plan::name_of(kind));
                PassContext context;
                context.training = spec.training.training;
                context.program = kind;
                check_simulation(lower(run_pipeline(forward, context, {}), in_place));
            }
    }
}

TEST_CASE("what is exchanged together is one block, from its first byte to its last reader") {
    const char* text = R"(graph @g(%source: f32[2,8], %small: f32[3], %learning_rate: f32[],
            @v.weights: f32[2,8], @w.weights: f32[3]) training {
        %a = relu(%source)
        %b = sigmoid(%a)
        %c = tanh(%small)
        %x = tanh(%b)
        %b.sent, %c.sent = all_reduce_start(%b, %c) {collective=gradients_1} ; communication
        %y = sigmoid(%x)
        %b.sum, %c.sum = all_reduce_wait(%b.sent, %c.sent) {collective=gradients_1} ; communication
        %v = sgd_update(@v.weights, %b.sum, %learning_rate) {momentum=0.0} ; update
        %w = sgd_update(@w.weights, %c.sum, %learning_rate) {momentum=0.0} ; update
        return predictions=%y
        update @v.weights = %v
        update @w.weights = %w })";
    for (const bool in_place : {true, false}) {
        CAPTURE(in_place);
        const LoweredProgram program = lower_text(text, in_place);
        // %b may be written over %a otherwise.
        CHECK_FALSE(share(program, "b", "a"));
        for (const char* name : {"b.sent", "b.sum"})
            CHECK(share(program, name, "b"));
        for (const char* name : {"c.sent", "c.sum"})
            CHECK(share(program, name, "c"));
        REQUIRE(program.storage.groups.size() == 1);
        CHECK(program.storage.groups[0].members ==
              std::vector<int>{storage_of(program, "b"), storage_of(program, "c")});
        check_simulation(program);

        plan::Plan plan;
        emit_plan({program}, plan);
        const plan::Program& emitted = plan.programs[0];
        REQUIRE(emitted.collectives.size() == 1);
        const plan::Collective& collective = emitted.collectives[0];
        CHECK(collective.name == "gradients_1");
        CHECK(collective.bytes == 64 + 12);
        CHECK(collective.start == 4);
        CHECK(collective.wait == 6);
        const plan::Buffer& buffer = plan.buffers[std::size_t(collective.buffer)];
        CHECK(buffer.first_step == 1);
        CHECK(buffer.last_step == 8);
        CHECK(plan.parameters[std::size_t(collective.parameters.at(0))].name == "v.weights");
        CHECK(plan.parameters[std::size_t(collective.parameters.at(1))].name == "w.weights");
        CHECK(emitted.steps[4].name == "gradients_1.all_reduce_start");
        CHECK(emitted.steps[4].kernel == "communicator");
        CHECK(std::get<std::int64_t>(emitted.steps[6].attributes.at("collective")) == 0);
    }
}

TEST_CASE("must not be exchanged: what lives on, what persists, what is exchanged already") {
    // Read after the exchange has overwritten it.
    CHECK_THROWS_WITH_AS(lower_text(R"(graph @g(%source: f32[2,8]) {
        %a = relu(%source)
        %s = all_reduce_start(%a) {collective=x} ; communication
        %t = all_reduce_wait(%s) {collective=x} ; communication
        %b = add(%a, %t)  return predictions=%b })"),
                         doctest::Contains("needed afterwards"), InternalError);
    CHECK_THROWS_WITH_AS(lower_text(R"(graph @g(%source: f32[2,8]) {
        %s = all_reduce_start(%source) {collective=x} ; communication
        %t = all_reduce_wait(%s) {collective=x} ; communication
        return predictions=%t })"),
                         doctest::Contains("needed afterwards"), InternalError);
    CHECK_THROWS_WITH_AS(lower_text(R"(graph @g(%source: f32[2,8]) {
        %a = relu(%source)
        %s, %r = all_reduce_start(%a, %a) {collective=x} ; communication
        return predictions=%s })"),
                         doctest::Contains("twice"), InternalError);
    CHECK_THROWS_WITH_AS(lower_text(R"(graph @g(%source: f32[2,8]) {
        %a = relu(%source)  %b = tanh(%source)
        %s, %r = all_reduce_start(%a, %b) {collective=x} ; communication
        %t = all_reduce_wait(%r) {collective=x} ; communication
        return predictions=%t })"),
                         doctest::Contains("not those of its start"), InternalError);
}

/// Comparing all operands with each other would run into the test's time limit here.
TEST_CASE("an exchange of 60,000 gradients is placed and checked") {
    Graph graph;
    graph.name = "many";
    const Type type{DType::f32, {2, 8}, {}};
    const ValueId source = graph.add_input("source", type);
    Node start, wait;
    start.op = "all_reduce_start";
    for (int i = 0; i < 60000; ++i) {
        Node node;
        node.op = "relu";
        node.inputs = {source};
        start.inputs.push_back(emit(graph, node, fmt::format("g{}", i))[0]);
    }
    start.attributes = {{"collective", std::string("gradients_1")}};
    start.phase = Phase::communication;
    wait = start;
    wait.op = "all_reduce_wait";
    wait.inputs = emit(graph, start, "sent");
    graph.outputs = {{"predictions", emit(graph, wait, "reduced")[12345]}};
    plan::Plan plan;
    emit_plan({lower(std::move(graph))}, plan);
    REQUIRE(plan.programs[0].collectives.size() == 1);
    CHECK(plan.programs[0].collectives[0].bytes == 60000 * 64);
    plan.parallel.data = true;
    plan.programs[0].kind = plan::ProgramKind::predict;
    plan.training.batch_size = 2;
    const std::vector<std::string> findings = plan::audit(plan);
    CHECK_MESSAGE(findings.empty(), (findings.empty() ? "" : findings.front()));
    // The last gradient is where the first one is: both ends of the exchange, and the audit, see
    // it.
    plan::Program& program = plan.programs[0];
    for (plan::Tensor& tensor : program.tensors)
        if (tensor.name == "g59999") tensor.offset = 0;
    CHECK_FALSE(plan::audit(plan).empty());
}

}  // namespace in_place_test
