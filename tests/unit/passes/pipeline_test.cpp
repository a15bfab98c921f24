/// The pipeline over whole models: what is left of them, with every optional pass and without each.

#include <doctest/doctest.h>

#include <map>

#include "compiler/ir/axes.hpp"
#include "compiler/ir/printer.hpp"
#include "compiler/ir/verifier.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/optimizer_graph.hpp"
#include "compiler/support/check.hpp"
#include "plan/rules/parallel.hpp"
#include "tests/graphs/parser.hpp"

namespace pipeline_test {

namespace {

using namespace dtnn;
using namespace dtnn::compiler;
using Histogram = std::map<std::string, int>;

/// conv, relu, conv, relu, pool, flatten, dense, relu, dropout, dense, softmax: the small CNN.
constexpr const char* kSmallCnn = R"(
graph @small_cnn(%source: f32[8,1,28,28],
    @conv2d_1.weights: f32[4,1,3,3], @conv2d_1.bias: f32[4],
    @conv2d_2.weights: f32[8,4,3,3], @conv2d_2.bias: f32[8],
    @dense_1.weights: f32[1152,128], @dense_1.bias: f32[128],
    @dense_2.weights: f32[128,10], @dense_2.bias: f32[10]) {
  %conv2d_1 = conv2d(%source, @conv2d_1.weights, @conv2d_1.bias) {bias=true}
  %relu_1 = relu(%conv2d_1)
  %conv2d_2 = conv2d(%relu_1, @conv2d_2.weights, @conv2d_2.bias) {bias=true}
  %relu_2 = relu(%conv2d_2)
  %max_pool2d_1 = max_pool2d(%relu_2) {kernel=[2,2]}
  %flatten_1 = flatten(%max_pool2d_1)
  %dense_1 = dense(%flatten_1, @dense_1.weights, @dense_1.bias) {bias=true}
  %relu_3 = relu(%dense_1)
  %dropout_1 = dropout(%relu_3) {rate=0.5}
  %dense_2 = dense(%dropout_1, @dense_2.weights, @dense_2.bias) {bias=true}
  %softmax_1 = softmax(%dense_2)
  return predictions=%softmax_1
})";

/// A residual block with batch norm and a projection, then the identity shortcut.
constexpr const char* kResidual = R"(
graph @residual(%source: f64[4,3,8,8],
    @a.weights: f64[8,3,3,3], @a_bn.gamma: f64[8], @a_bn.beta: f64[8],
    @a_bn.running_mean: f64[8] frozen, @a_bn.running_variance: f64[8] frozen,
    @b.weights: f64[8,8,3,3], @b_bn.gamma: f64[8], @b_bn.beta: f64[8],
    @b_bn.running_mean: f64[8] frozen, @b_bn.running_variance: f64[8] frozen,
    @d.weights: f64[8,10]) {
  %a = conv2d(%source, @a.weights) {padding=[1,1,1,1]}
  %a_bn = batch_norm(%a, @a_bn.gamma, @a_bn.beta, @a_bn.running_mean, @a_bn.running_variance)
  %a_relu = relu(%a_bn)
  %b = conv2d(%a_relu, @b.weights) {padding=[1,1,1,1]}
  %b_bn = batch_norm(%b, @b_bn.gamma, @b_bn.beta, @b_bn.running_mean, @b_bn.running_variance)
  %sum = add(%b_bn, %a_relu)
  %b_relu = relu(%sum)
  %pool = global_avg_pool2d(%b_relu)
  %flat = flatten(%pool)
  %d = dense(%flat, @d.weights)
  %p = softmax(%d)
  return predictions=%p
})";

/// Two branches joined along the channels, without softmax: mean squared error.
constexpr const char* kInception = R"(
graph @inception(%source: f32[4,3,8,8], @a.weights: f32[4,3,1,1], @b.weights: f32[5,3,3,3],
    @d.weights: f32[576,10]) {
  %a = conv2d(%source, @a.weights)
  %b = conv2d(%source, @b.weights) {padding=[1,1,1,1]}
  %joined = concat(%a, %b)
  %act = tanh(%joined)
  %row = flatten(%act)
  %drop = dropout(%row) {rate=0.1}
  %d = dense(%drop, @d.weights)
  %s = sigmoid(%d)
  return predictions=%s
})";

PassContext context_for(const std::string& program) {
    PassContext context;
    REQUIRE(dtnn::plan::parse_name(program, context.program));
    context.training.loss = "categorical_cross_entropy";
    context.training.metrics = {
        {"categorical_accuracy", "categorical_accuracy", {}, "categorical_accuracy"}};
    context.training.optimizer = "adam";
    context.training.optimizer_attributes = {
        {"beta1", 0.9}, {"beta2", 0.999}, {"epsilon", 1e-8}, {"weight_decay", 0.0}};
    return context;
}

Graph compiled(const char* text, const std::string& program, std::set<std::string> disabled = {},
               const std::string& loss = "categorical_cross_entropy") {
    const Graph graph = parse_graph(text, infer_types);
    PassContext context = context_for(program);
    context.training.loss = loss;
    return run_pipeline(graph, context, {.disabled = std::move(disabled), .observe = {}});
}

Histogram histogram(const Graph& graph) {
    Histogram result;
    for (const Node& node : graph.nodes)
        ++result[node.op];
    return result;
}

const Node* find_node(const Graph& graph, const std::string& result) {
    for (const Node& node : graph.nodes)
        for (const ValueId output : node.outputs)
            if (graph.value(output).name == result) return &node;
    return nullptr;
}

/// Every reader of a state stands before the node that overwrites it.
void check_states(const Graph& graph) {
    const auto readers = graph.readers();
    for (const Update& update : graph.updates) {
        const NodeId writer = graph.value(update.value).producer;
        for (const NodeId reader : readers[update.state.index()])
            CHECK(reader <= writer);
    }
}

}  // namespace

TEST_CASE("a small CNN trains with everything fused") {
    const Graph graph = compiled(kSmallCnn, "train");
    CHECK(graph.training);
    // Neither relu nor its backward is left, but for the relu behind dropout's gradient.
    CHECK(histogram(graph) == Histogram{{"conv2d", 2},
                                        {"max_pool2d", 1},
                                        {"dense", 2},
                                        {"dropout_apply", 2},
                                        {"softmax_cross_entropy", 1},
                                        {"categorical_accuracy", 1},
                                        {"softmax_cross_entropy_backward", 1},
                                        {"dense_backward_weights", 2},
                                        {"dense_backward_data", 2},
                                        {"elementwise", 1},
                                        {"max_pool2d_backward", 1},
                                        {"conv2d_backward_weights", 2},
                                        {"conv2d_backward_data", 1},
                                        {"adam_update", 8}});
    const Node* conv = find_node(graph, "relu_1");
    REQUIRE(conv);
    CHECK(std::get<std::string>(conv->attributes.at("epilogue")) == "relu");
    const Node* pool = find_node(graph, "relu_2.diff_src");
    REQUIRE(pool);
    CHECK(pool->op == "max_pool2d_backward");
    CHECK(std::get<bool>(pool->attributes.at("mask")));
    CHECK(graph.outputs.size() == 2);
    CHECK(graph.updates.size() == 24);
    check_states(graph);
}

TEST_CASE("a residual network trains with statistics, epilogues and one mask") {
    const Graph graph = compiled(kResidual, "train");
    const Histogram have = histogram(graph);
    CHECK(have.at("conv2d") == 2);
    CHECK(have.at("batch_norm_training") == 2);
    CHECK(have.at("batch_norm_backward") == 2);
    CHECK_FALSE(have.contains("relu"));
    // The two gradients of the shortcut's start are summed; nothing else is elementwise.
    CHECK_FALSE(have.contains("elementwise"));
    CHECK(have.at("add") == 1);
    const Node* sum = find_node(graph, "b_relu");
    REQUIRE(sum);
    CHECK(sum->op == "batch_norm_training");
    CHECK(std::get<bool>(sum->attributes.at("residual")));
    CHECK(std::get<bool>(sum->attributes.at("mask")));
    CHECK(std::get<bool>(sum->attributes.at("statistics")));
    // Adam's for 7 trainable parameters, and four running statistics.
    CHECK(graph.updates.size() == 7 * 3 + 4);
    check_states(graph);
}

TEST_CASE("a residual network predicts with convolutions alone") {
    const Graph graph = compiled(kResidual, "predict");
    CHECK(histogram(graph) == Histogram{{"fold_batch_norm", 2},
                                        {"conv2d", 2},
                                        {"global_avg_pool2d", 1},
                                        {"dense", 1},
                                        {"softmax", 1}});
    CHECK(graph.prologue == 2);
    CHECK(graph.outputs.size() == 1);
    CHECK(graph.inputs.size() == 1);
}

TEST_CASE("evaluation has labels, loss and metrics, and no dropout") {
    const Graph graph = compiled(kSmallCnn, "evaluate");
    CHECK(histogram(graph) == Histogram{{"conv2d", 2},
                                        {"max_pool2d", 1},
                                        {"dense", 2},
                                        {"softmax_cross_entropy", 1},
                                        {"categorical_accuracy", 1}});
    CHECK(graph.inputs.size() == 2);
    CHECK(graph.outputs.size() == 2);
}

TEST_CASE("flatten stays where something stands between it and the dense layer") {
    const Graph graph = compiled(kInception, "train", {}, "mean_squared_error");
    const Histogram have = histogram(graph);
    CHECK(have.at("flatten") == 1);
    CHECK(have.at("unflatten") == 1);
    CHECK(have.at("reorder") == 2);
    CHECK(have.at("slice") == 2);
    check_states(graph);
    // In the other programs dropout vanishes only after the parameter's shape is decided.
    CHECK(histogram(compiled(kInception, "predict")).at("flatten") == 1);
}

TEST_CASE("every optional pass can be left out, and required ones cannot") {
    for (const PassInfo& pass : all_passes()) {
        CAPTURE(pass.name);
        for (const char* text : {kSmallCnn, kResidual, kInception})
            for (const char* program : {"train", "evaluate", "predict"}) {
                CAPTURE(program);
                bool ran = false;
                PassContext context = context_for(program);
                PipelineOptions options;
                options.disabled = {std::string(pass.name)};
                options.observe = [&](std::string_view name, const Graph&, double) {
                    ran = ran || name == pass.name;
                };
                const Graph graph = run_pipeline(parse_graph(text, infer_types), context, options);
                CHECK(ran == (!pass.optional && pass.programs.contains(context.program)));
                CHECK(verify(graph).empty());
                check_states(graph);
            }
    }
    std::set<std::string> optional;
    for (const PassInfo& pass : all_passes())
        if (pass.optional) optional.insert(std::string(pass.name));
    const Histogram bare = histogram(compiled(kResidual, "train", optional));
    CHECK(bare.at("relu") == 2);
    CHECK(bare.at("elementwise") == 2);
    CHECK(bare.at("add") == 2);
}

TEST_CASE("a second run of any pass changes nothing") {
    for (const char* text : {kSmallCnn, kResidual, kInception})
        for (const char* program : {"train", "evaluate", "predict"}) {
            CAPTURE(program);
            PassContext context = context_for(program);
            PipelineOptions options;
            options.observe = [&](std::string_view name, const Graph& graph, double) {
                CAPTURE(name);
                CHECK(print(find_pass(name)->run(graph, context)) == print(graph));
            };
            run_pipeline(parse_graph(text, infer_types), context, options);
        }
}

/// Bucket sizes of the reduced graph, in bytes, in the order of the starts.
std::vector<std::int64_t> buckets(const Graph& graph) {
    std::vector<std::int64_t> result;
    for (const Node& node : graph.nodes) {
        if (node.op != "all_reduce_start") continue;
        result.push_back(0);
        for (const ValueId input : node.inputs)
            result.back() += graph.type(input).bytes();
    }
    return result;
}

TEST_CASE("data parallelism goes through every pass, with and without each optional one") {
    for (const char* text : {kSmallCnn, kResidual, kInception}) {
        for (const PassInfo& pass : all_passes()) {
            for (const char* reduction : {"overlapped", "blocking"}) {
                CAPTURE(pass.name);
                PassContext context = context_for("train");
                context.training.clip_norm = 1;
                context.parallel.data = true;
                REQUIRE(dtnn::plan::parse_name(reduction, context.parallel.reduction));
                context.parallel.bucket_bytes = 2048;
                PipelineOptions options;
                options.disabled = {std::string(pass.name)};
                options.observe = [&](std::string_view name, const Graph& graph, double) {
                    CAPTURE(name);
                    CHECK(print(find_pass(name)->run(graph, context)) == print(graph));
                };
                const Graph graph = run_pipeline(parse_graph(text, infer_types), context, options);
                check_states(graph);
                std::int64_t bytes = 0, exchanged = 0;
                for (const Parameter& parameter : graph.parameters)
                    if (parameter.trainable) bytes += graph.type(parameter.value).bytes();
                for (const std::int64_t one : buckets(graph))
                    exchanged += one;
                CHECK(exchanged == bytes);
                CHECK(buckets(graph).size() > 1);
                const Histogram have = histogram(graph);
                CHECK(have.at("all_reduce_start") == have.at("all_reduce_wait"));
                CHECK(have.at("weigh_gradient") == 1);
            }
        }
    }
}

TEST_CASE("what evaluates, predicts or only adds up exchanges nothing") {
    for (const char* program : {"evaluate", "predict"}) {
        PassContext context = context_for(program);
        context.parallel.data = true;
        context.parallel.bucket_bytes = 2048;
        const Graph graph = run_pipeline(parse_graph(kSmallCnn, infer_types), context, {});
        CHECK(print(graph) == print(compiled(kSmallCnn, program)));
    }
    PassContext context = context_for("train");
    context.parallel.data = true;
    context.training.accumulation = 2;
    context.accumulate = true;
    CHECK(buckets(run_pipeline(parse_graph(kSmallCnn, infer_types), context, {})).empty());
    context.accumulate = false;
    context.parallel.bucket_bytes = 1 << 20;
    CHECK(buckets(run_pipeline(parse_graph(kSmallCnn, infer_types), context, {})).size() == 1);
}

TEST_CASE("buckets are filled from the deepest layer on, and the last one is small") {
    using Bytes = std::vector<std::int64_t>;
    using Ends = std::vector<std::size_t>;
    CHECK(bucket_ends(Bytes{}, 100) == Ends{});
    CHECK(bucket_ends(Bytes{500}, 100) == Ends{1});
    CHECK(bucket_ends(Bytes{40, 30, 30}, 100) == Ends{3});
    CHECK(bucket_ends(Bytes{40, 30, 31}, 100) == Ends{2, 3});
    // One that is too large is alone; 20 + 5 are a quarter.
    CHECK(bucket_ends(Bytes{10, 500, 10, 80, 20, 5}, 100) == Ends{1, 2, 4, 6});
    CHECK(bucket_ends(Bytes{60, 60, 60}, 100) == Ends{1, 2, 3});
    for (std::int64_t bucket = 1; bucket < 40; ++bucket) {
        Bytes bytes;
        for (std::int64_t i = 0; i < 50; ++i)
            bytes.push_back(1 + i * 7919 % 23);
        std::size_t begin = 0;
        const Ends ends = bucket_ends(bytes, bucket);
        for (const std::size_t end : ends) {
            REQUIRE(end > begin);
            std::int64_t sum = 0;
            for (std::size_t i = begin; i < end; ++i)
                sum += bytes[i];
            CHECK((sum <= bucket || end - begin == 1));
            if (end == bytes.size()) CHECK((sum <= bucket / 4 || end - begin == 1));
            begin = end;
        }
        CHECK(begin == bytes.size());
    }
}

TEST_CASE("the plan and the operators agree about what an exchange is") {
    for (const OpDef* def : all_ops()) {
        CAPTURE(def->name);
        CHECK(def->exchange == dtnn::plan::exchange_end_of(def->name));
    }
}

TEST_CASE("all programs store a parameter alike") {
    for (const char* text : {kSmallCnn, kResidual, kInception}) {
        const Graph train = compiled(text, "train");
        for (const char* program : {"evaluate", "predict"}) {
            const Graph graph = compiled(text, program);
            for (std::size_t i = 0; i < graph.parameters.size(); ++i) {
                CHECK(graph.parameters[i].name == train.parameters[i].name);
                CHECK(print(graph.type(graph.parameters[i].value)) ==
                      print(train.type(train.parameters[i].value)));
            }
        }
    }
}

TEST_CASE("a broken graph is refused with the pass's name") {
    Graph graph = parse_graph(kSmallCnn, infer_types);
    graph.set_type(graph.node(NodeId(3)).outputs[0], {DType::f32, {1, 2, 3}, {}});
    PassContext context = context_for("train");
    CHECK_THROWS_WITH_AS(run_pipeline(graph, context, {}), doctest::Contains("forward graph"),
                         InternalError);
    // A loss that does not exist: attach_loss itself checks.
    context.training.loss = "no_such_loss";
    CHECK_THROWS_WITH_AS(run_pipeline(parse_graph(kSmallCnn, infer_types), context, {}),
                         doctest::Contains("in pass attach_loss, program train"), InternalError);
}

/// Quadratic passes would run into the test's time limit here; linear ones take a second or two.
TEST_CASE("a deep graph of 40,000 nodes goes through") {
    const auto chain = [](int layers) {
        Graph graph;
        graph.name = "chain";
        ValueId x = graph.add_input("source", {DType::f32, {2, 4}, {}});
        for (int i = 0; i < layers; ++i) {
            Parameter w;
            w.name = "w" + std::to_string(i);
            w.role = "weights";
            w.trainable = true;
            w.dims = {4, 4};
            const ValueId weights = graph.add_parameter(std::move(w), {DType::f32, {4, 4}, {}});
            for (const char* op : {"dense", "relu"}) {
                Node node;
                node.op = op;
                node.inputs = {x};
                if (node.op == "dense") {
                    node.inputs.push_back(weights);
                    node.attributes["bias"] = false;
                }
                const NodeId id =
                    graph.add_node(std::move(node), {{DType::f32, {2, 4}, {}, usual_axes(1)}},
                                   op + std::to_string(i));
                x = graph.node(id).outputs[0];
            }
        }
        graph.outputs.push_back({"predictions", x});
        return graph;
    };
    const Graph forward = chain(6000);
    PassContext context = context_for("train");
    const Graph graph = run_pipeline(forward, context, {});
    CHECK(histogram(graph).at("adam_update") == 6000);
    check_states(graph);
}

}  // namespace pipeline_test
