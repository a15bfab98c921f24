/// The gradient of whole small models by every trainable parameter, against central differences of
/// their loss: through the whole training pipeline, with all optional passes and with none.

#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "compiler/ops/emit.hpp"
#include "compiler/passes/pass.hpp"
#include "tests/gradient/differences.hpp"
#include "tests/gradient/interpreter.hpp"
#include "tests/graphs/parser.hpp"

namespace models_test {

using namespace dtnn;
using namespace dtnn::compiler;
using dtnn::tests::Interpreter;
using dtnn::tests::Kernels;

namespace {

/// relu and max pooling have kinks, which a difference must not cross: with these steps and numbers
/// none does.
constexpr double kStep = 1e-4;

const char* const kResidual = R"(
graph @residual(%source: f64[3,2,6,6], @c1.weights: f64[4,2,3,3], @c1.bias: f64[4], @c2.weights: f64[4,4,3,3],
                @c2.bias: f64[4], @c3.weights: f64[4,4,3,3], @d.weights: f64[36,3], @d.bias: f64[3]) {
  %a = conv2d(%source, @c1.weights, @c1.bias) {bias=true, padding=same}
  %b = relu(%a)
  %c = conv2d(%b, @c2.weights, @c2.bias) {bias=true, padding=same}
  %d = sigmoid(%c)
  %e = conv2d(%d, @c3.weights) {padding=same}
  %f = add(%e, %b)
  %g = relu(%f)
  %h = max_pool2d(%g) {kernel=[2,2]}
  %i = flatten(%h)
  %z = dense(%i, @d.weights, @d.bias) {bias=true}
  %p = softmax(%z)
  return predictions=%p
})";

const char* const kConcatenation = R"(
graph @concatenation(%source: f64[3,3,7,7], @c1.weights: f64[4,3,1,1], @c1.bias: f64[4], @c2.weights: f64[5,3,3,3],
                     @c3.weights: f64[2,3,5,5], @c3.bias: f64[2], @d1.weights: f64[11,6], @d1.bias: f64[6],
                     @d2.weights: f64[6,4], @d2.bias: f64[4]) {
  %a = conv2d(%source, @c1.weights, @c1.bias) {bias=true}
  %b = conv2d(%source, @c2.weights) {padding=same}
  %c = relu(%b)
  %d = conv2d(%source, @c3.weights, @c3.bias) {bias=true, padding=same}
  %e = tanh(%d)
  %f = concat(%a, %c, %e)
  %g = avg_pool2d(%f) {kernel=[3,3], stride=[2,2], padding=same}
  %h = global_avg_pool2d(%g)
  %i = flatten(%h)
  %j = dense(%i, @d1.weights, @d1.bias) {bias=true}
  %k = relu(%j)
  %l = dropout(%k) {rate=0.3}
  %m = dense(%l, @d2.weights, @d2.bias) {bias=true}
  %p = sigmoid(%m)
  return predictions=%p
})";

const char* const kBatchNorm = R"(
graph @batch_norm(%source: f64[4,2,6,6], @c1.weights: f64[4,2,3,3], @n1.gamma: f64[4], @n1.beta: f64[4],
                  @n1.running_mean: f64[4] frozen, @n1.running_variance: f64[4] frozen, @c2.weights: f64[4,2,3,3],
                  @n2.gamma: f64[4], @n2.beta: f64[4], @n2.running_mean: f64[4] frozen,
                  @n2.running_variance: f64[4] frozen, @c3.weights: f64[4,4,1,1], @n3.gamma: f64[4], @n3.beta: f64[4],
                  @n3.running_mean: f64[4] frozen, @n3.running_variance: f64[4] frozen, @d.weights: f64[36,3],
                  @d.bias: f64[3]) {
  %a = conv2d(%source, @c1.weights) {stride=[2,2], padding=same}
  %b = batch_norm(%a, @n1.gamma, @n1.beta, @n1.running_mean, @n1.running_variance)
  %c = relu(%b)
  %d = conv2d(%c, @c2.weights) {groups=2, padding=same}
  %e = batch_norm(%d, @n2.gamma, @n2.beta, @n2.running_mean, @n2.running_variance)
  %f = conv2d(%a, @c3.weights)
  %g = batch_norm(%f, @n3.gamma, @n3.beta, @n3.running_mean, @n3.running_variance)
  %h = add(%e, %g)
  %i = relu(%h)
  %j = flatten(%i)
  %z = dense(%j, @d.weights, @d.bias) {bias=true}
  %p = softmax(%z)
  return predictions=%p
})";

const char* const kSteps = R"(
graph @steps(%source: f64[3,9,2], @c1.weights: f64[4,2,1,3] of [4,2,3], @n1.gamma: f64[4], @n1.beta: f64[4],
             @n1.running_mean: f64[4] frozen, @n1.running_variance: f64[4] frozen,
             @c2.weights: f64[4,1,1,2] of [4,1,2], @c3.weights: f64[4,2,1,2] of [4,2,2], @q.weights: f64[4,3],
             @q.bias: f64[3], @d.weights: f64[4,3], @d.bias: f64[3]) {
  %a = conv1d(%source, @c1.weights) {dilation=2, padding=causal}
  %b = max_pool1d(%a) {kernel=2, stride=1}
  %c = batch_norm(%b, @n1.gamma, @n1.beta, @n1.running_mean, @n1.running_variance)
  %d = tanh(%c)
  %e = depthwise_conv1d(%d, @c2.weights) {padding=same}
  %f = add(%d, %e)
  %g = conv1d(%f, @c3.weights) {groups=2, stride=2}
  %h = sigmoid(%g)
  %i = avg_pool1d(%h) {kernel=2, stride=1}
  %j = dense(%i, @q.weights, @q.bias) {bias=true}
  %k = matmul(%j, %i) {transpose_first=true, scale=0.5}
  %l = matmul(%j, %k)
  %m = mean(%l) {axis=steps}
  %n = dense(%m, @d.weights, @d.bias) {bias=true}
  %p = softmax(%n)
  return predictions=%p
})";

Graph training_graph(const char* text, const char* loss, bool optional_passes) {
    PassContext context;
    context.training.loss = loss;
    context.training.optimizer = "sgd";
    context.training.learning_rate = 0.1;
    context.training.seed = 3;
    context.program = dtnn::plan::ProgramKind::train;
    PipelineOptions options;
    if (!optional_passes)
        for (const PassInfo& pass : all_passes())
            if (pass.optional) options.disabled.insert(std::string(pass.name));
    return run_pipeline(parse_graph(text, infer_types), context, options);
}

/// The gradient that the optimizer's node of each trainable parameter reads.
std::map<std::string, ValueId> gradients_of(const Graph& graph) {
    std::map<std::string, ValueId> gradients;
    for (const Node& node : graph.nodes) {
        if (node.op != "sgd_update") continue;
        const Value& weights = graph.value(node.inputs[0]);
        gradients[graph.parameter(weights.parameter).name] = node.inputs[1];
    }
    return gradients;
}

/// The gradient in the parameter's own logical order: the value may be a finer view of the same
/// elements, and then both agree in row-major order.
void check(const char* text, const char* loss, std::int64_t classes, bool optional_passes,
           Kernels kernels) {
    const Graph graph = training_graph(text, loss, optional_passes);
    Interpreter run(graph, kernels);
    for (const ValueId id : graph.inputs) {
        const Value& input = graph.value(id);
        const auto count = std::size_t(input.type->elements());
        std::vector<double> numbers(count, 0.0);
        if (input.name == "source")
            numbers = dtnn::tests::spaced_numbers(count, 4.0 / double(count), 1);
        if (input.name == "labels")
            for (std::size_t i = 0; i < count; ++i)
                numbers[i] = double((2 * i + 1) % std::size_t(classes));
        run.set(id, numbers);
    }
    std::map<std::string, std::vector<double>> values;
    unsigned seed = 100;
    for (const Parameter& p : graph.parameters) {
        const auto count = std::size_t(element_count(p.dims));
        auto numbers = dtnn::tests::spaced_numbers(count, 1.5 / double(count), ++seed);
        if (p.role == "gamma" || p.role == "running_variance")
            for (double& number : numbers)
                number += 1.2;
        values[p.name] = numbers;
        run.set(p.value, numbers);
    }
    ValueId loss_value;
    for (const GraphOutput& output : graph.outputs)
        if (output.name == "loss") loss_value = output.value;
    REQUIRE(loss_value.valid());
    const auto gradients = gradients_of(graph);
    run.run();
    std::map<std::string, std::vector<double>> analytic;
    for (const auto& [name, id] : gradients)
        analytic[name] = run.get(id);

    for (const Parameter& p : graph.parameters) {
        if (!p.trainable) continue;
        CAPTURE(p.name);
        REQUIRE(analytic.contains(p.name));
        const auto numeric = dtnn::tests::central_differences(
            [&](const std::vector<double>& x) {
                run.set(p.value, x);
                run.run();
                return run.get(loss_value)[0];
            },
            values[p.name], kStep);
        run.set(p.value, values[p.name]);
        CHECK(dtnn::tests::relative_error(analytic[p.name], numeric) <= 1e-6);
        double largest = 0;
        for (const double d : numeric)
            largest = std::max(largest, std::fabs(d));
        CHECK(largest > 1e-6);  // a gradient of nothing but zeros would prove nothing
    }
}

void check_all_ways(const char* text, const char* loss, std::int64_t classes) {
    for (const bool optional_passes : {true, false}) {
        for (const Kernels kernels : {Kernels::reference, Kernels::first}) {
            CAPTURE(optional_passes);
            const bool reference = kernels == Kernels::reference;
            CAPTURE(reference);
            CHECK_NOTHROW(check(text, loss, classes, optional_passes, kernels));
        }
    }
}

}  // namespace

TEST_CASE("a model with a residual branch") {
    check_all_ways(kResidual, "categorical_cross_entropy", 3);
}

TEST_CASE("a model with concatenated branches") {
    check_all_ways(kConcatenation, "mean_squared_error", 4);
}

TEST_CASE("a model of windows over steps and of products of two sequences") {
    check_all_ways(kSteps, "categorical_cross_entropy", 3);
}

TEST_CASE("a model with batch norm, alone and before a residual sum") {
    check_all_ways(kBatchNorm, "categorical_cross_entropy", 3);
}

}  // namespace models_test
