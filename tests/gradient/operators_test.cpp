/// The gradient of every operator, against central differences of sum(dst * diff) in double on the
/// reference kernels.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "compiler/ir/printer.hpp"
#include "compiler/ir/verifier.hpp"
#include "compiler/ops/emit.hpp"
#include "tests/gradient/differences.hpp"
#include "tests/gradient/interpreter.hpp"
#include "tests/graphs/parser.hpp"

namespace operators_test {

using namespace dtnn;
using namespace dtnn::compiler;
using dtnn::tests::Interpreter;

namespace {

/// Emits the backward nodes of one node behind it, without the differentiator. `diff` is an input
/// of the graph; a loss has none.
class OneNode : public GradientContext {
  public:
    OneNode(Graph& graph, ValueId diff, std::set<std::size_t> wanted)
        : graph_(graph), node_(graph.nodes[0]), diff_(diff), wanted_(std::move(wanted)) {}

    const Graph& graph() const override { return graph_; }
    const Node& node() const override { return node_; }
    ValueId input(std::size_t i) const override { return node_.inputs.at(i); }
    ValueId output(std::size_t i) const override { return node_.outputs.at(i); }
    ValueId diff(std::size_t i) const override { return i == 0 ? diff_ : ValueId(); }
    bool wants(std::size_t i) const override { return wanted_.contains(i); }
    ValueList emit(std::string_view op_name, ValueList inputs, Attributes attributes,
                   const std::string& name) override {
        Node made;
        made.op = op_name;
        made.inputs = std::move(inputs);
        made.attributes = std::move(attributes);
        made.phase = Phase::backward;
        return dtnn::compiler::emit(graph_, std::move(made), name);
    }
    void set(std::size_t i, ValueId gradient) override { gradients[i] = gradient; }

    std::map<std::size_t, ValueId> gradients;

  private:
    Graph& graph_;
    const Node node_;  // a copy: emitting moves the graph's nodes
    ValueId diff_;
    std::set<std::size_t> wanted_;
};

struct Case {
    const char* op;
    const char* graph;              ///< operands and one node
    std::set<std::size_t> checked;  ///< operands whose gradient is compared
    /// How differentiable operands are filled: distinct numbers this far apart, plus `shift`.
    double spacing = 0.03;
    double shift = 0;
};

/// Images are channels last and weights to match, as the layout pass stores them.
const Case kCases[] = {
    {"conv2d",
     "graph @g(%x: f64[2,3,5,4]{0,2,3,1}, @w: f64[4,3,3,2]{2,3,1,0}, @b: f64[4]) { %y = conv2d(%x, "
     "@w, @b) {bias=true, padding=[1,0,1,1]} }",
     {0, 1, 2}},
    {"conv2d",
     "graph @g(%x: f64[2,4,6,7]{0,2,3,1}, @w: f64[6,2,3,3]{2,3,1,0}) { %y = conv2d(%x, @w) "
     "{groups=2, stride=[2,1], padding=same} }",
     {0, 1}},
    {"conv2d",
     "graph @g(%x: f64[1,2,7,8]{0,2,3,1}, @w: f64[3,2,2,3]{2,3,1,0}, @b: f64[3]) { %y = conv2d(%x, "
     "@w, @b) {bias=true, dilation=[3,2], stride=[1,2]} }",
     {0, 1, 2}},
    {"conv2d",
     "graph @g(%x: f64[3,5,1,1]{0,2,3,1}, @w: f64[2,5,1,1]{2,3,1,0}) { %y = conv2d(%x, @w) }",
     {0, 1}},
    {"conv2d",
     "graph @g(%x: f64[2,4,5,5]{0,2,3,1}, @w: f64[4,1,3,3]{2,3,1,0}) { %y = conv2d(%x, @w) "
     "{groups=4, padding=same} }",
     {0, 1}},
    {"dense",
     "graph @g(%x: f64[3,7], @w: f64[7,4], @b: f64[4]) { %y = dense(%x, @w, @b) {bias=true} }",
     {0, 1, 2}},
    {"dense_backward_data",
     "graph @g(%x: f64[3,4], @w: f64[7,4]) { %y = dense_backward_data(%x, @w) {source_shape=[3,7]} "
     "}",
     {0, 1}},
    {"dense",
     "graph @g(%x: f64[3,2,3,2]{0,2,3,1}, @w: f64[2,3,2,4]{1,2,0,3} of [12,4]) { %y = dense(%x, "
     "@w) }",
     {0, 1}},
    {"flatten", "graph @g(%x: f64[2,3,4,5]{0,2,3,1}) { %y = flatten(%x) }", {0}},
    {"flatten", "graph @g(%x: f64[2,3]) { %y = flatten(%x) }", {0}},
    {"pixels_to_rows", "graph @g(%x: f64[2,3,4,5]{0,2,3,1}) { %y = pixels_to_rows(%x) }", {0}},
    {"pixels_to_rows", "graph @g(%x: f64[2,3,4,5]) { %y = pixels_to_rows(%x) }", {0}},
    {"max_pool2d",
     "graph @g(%x: f64[2,3,6,7]{0,2,3,1}) { %y, %i = max_pool2d(%x) {kernel=[2,2], indices=true} }",
     {0}},
    {"max_pool2d",
     "graph @g(%x: f64[2,3,7,7]{0,2,3,1}) { %y, %i = max_pool2d(%x) {kernel=[3,3], stride=[2,1], "
     "padding=same, indices=true} }",
     {0}},
    {"max_pool2d",
     "graph @g(%x: f64[1,2,7,8]{0,2,3,1}) { %y, %i = max_pool2d(%x) {kernel=[2,3], stride=[1,1], "
     "dilation=[2,2], padding=[1,0,1,1], indices=true} }",
     {0}},
    {"avg_pool2d",
     "graph @g(%x: f64[2,3,6,7]{0,2,3,1}) { %y = avg_pool2d(%x) {kernel=[2,2]} }",
     {0}},
    {"avg_pool2d",
     "graph @g(%x: f64[2,3,5,7]{0,2,3,1}) { %y = avg_pool2d(%x) {kernel=[3,2], stride=[1,2], "
     "padding=[1,2,0,1]} }",
     {0}},
    {"avg_pool2d",
     "graph @g(%x: f64[2,3,5,7]{0,2,3,1}) { %y = avg_pool2d(%x) {kernel=[3,2], stride=[1,2], "
     "padding=[1,2,0,1], count_include_pad=true} }",
     {0}},
    {"global_avg_pool2d",
     "graph @g(%x: f64[2,3,4,5]{0,2,3,1}) { %y = global_avg_pool2d(%x) }",
     {0}},
    {"conv2d_transpose",
     "graph @g(%x: f64[2,3,4,3]{0,2,3,1}, @w: f64[3,4,3,2]{2,3,1,0}, @b: f64[4]) { %y = "
     "conv2d_transpose(%x, @w, @b) {bias=true, stride=[2,1], padding=[1,0,0,1], "
     "output_padding=[1,0]} }",
     {0, 1, 2}},
    {"conv2d_transpose",
     "graph @g(%x: f64[2,4,3,4]{0,2,3,1}, @w: f64[4,3,2,3]{2,3,1,0}) { %y = conv2d_transpose(%x, "
     "@w) {groups=2, dilation=[2,1], stride=[1,3], output_padding=[0,2]} }",
     {0, 1}},
    {"conv2d_transpose",
     "graph @g(%x: f64[2,4,4,4]{0,2,3,1}, @w: f64[4,1,3,3]{2,3,1,0}, @b: f64[4]) { %y = "
     "conv2d_transpose(%x, @w, @b) {bias=true, groups=4, padding=same, stride=[2,2]} }",
     {0, 1, 2}},
    {"unflatten", "graph @g(%x: f64[2,24]) { %y = unflatten(%x) {shape=[2,3,4,2]} }", {0}},
    {"adaptive_avg_pool2d",
     "graph @g(%x: f64[2,3,7,5]{0,2,3,1}) { %y = adaptive_avg_pool2d(%x) {size=[3,4]} }",
     {0}},
    {"adaptive_avg_pool2d",
     "graph @g(%x: f64[1,2,3,2]{0,2,3,1}) { %y = adaptive_avg_pool2d(%x) {size=[5,5]} }",
     {0}},
    {"adaptive_max_pool2d",
     "graph @g(%x: f64[2,3,7,5]{0,2,3,1}) { %y, %i = adaptive_max_pool2d(%x) {size=[3,4], "
     "indices=true} }",
     {0}},
    {"zero_pad2d",
     "graph @g(%x: f64[2,3,4,5]{0,2,3,1}) { %y = zero_pad2d(%x) {padding=[0,1,2,3]} }",
     {0}},
    {"upsample2d", "graph @g(%x: f64[2,3,4,5]{0,2,3,1}) { %y = upsample2d(%x) {factor=2} }", {0}},
    {"upsample2d",
     "graph @g(%x: f64[2,3,4,5]{0,2,3,1}) { %y = upsample2d(%x) {size=[7,11], mode=bilinear} }",
     {0}},
    {"upsample2d",
     "graph @g(%x: f64[1,2,5,4]{0,2,3,1}) { %y = upsample2d(%x) {size=[9,3], mode=bilinear, "
     "align_corners=true} }",
     {0}},
    {"mean", "graph @g(%x: f64[2,5,3]) { %y = mean(%x) }", {0}},
    {"mean", "graph @g(%x: f64[2,5,3]) { %y = mean(%x) {axis=2} }", {0}},
    {"mean", "graph @g(%x: f64[2,3,4,5]{0,2,3,1}) { %y = mean(%x) {axis=channels} }", {0}},
    {"slice", "graph @g(%x: f64[2,7,4,5]{0,2,3,1}) { %y = slice(%x) {begin=2, end=5} }", {0}},
    {"slice", "graph @g(%x: f64[3,7]) { %y = slice(%x) {begin=4} }", {0}},
    {"slice",
     "graph @g(%x: f64[2,3,4,5]{0,2,3,1}) { %y = slice(%x) {axis=height, begin=1, end=3} }",
     {0}},
    {"slice", "graph @g(%x: f64[2,3,4,5]{0,2,3,1}) { %y = slice(%x) {axis=width, begin=1} }", {0}},
    {"batch_norm_training",
     "graph @g(%x: f64[3,4,3,2]{0,2,3,1}, @g: f64[4], @b: f64[4], @m: f64[4] frozen, @v: f64[4] "
     "frozen) { %y, %mean, %dev, %nm, %nv = batch_norm_training(%x, @g, @b, @m, @v) }",
     {0, 1, 2}},
    {"batch_norm_training",
     "graph @g(%x: f64[6,3], @g: f64[3], @b: f64[3], @m: f64[3] frozen, @v: f64[3] frozen) { %y, "
     "%mean, %dev, %nm, %nv = batch_norm_training(%x, @g, @b, @m, @v) {epsilon=0.01} }",
     {0, 1, 2}},
    {"layer_norm",
     "graph @g(%x: f64[3,4,3,2]{0,2,3,1}, @g: f64[1,4,3,2]{0,2,3,1} of [4,3,2], @b: "
     "f64[1,4,3,2]{0,2,3,1} of [4,3,2]) { %y, %mean, %dev = layer_norm(%x, @g, @b) "
     "{statistics=true} }",
     {0, 1, 2}},
    {"layer_norm",
     "graph @g(%x: f64[2,5,3,2]{0,2,3,1}, @g: f64[5], @b: f64[5]) { %y, %mean, %dev = "
     "layer_norm(%x, @g, @b) {axis=channels, statistics=true, epsilon=0.01} }",
     {0, 1, 2}},
    {"layer_norm",
     "graph @g(%x: f64[4,7], @g: f64[7], @b: f64[7]) { %y, %mean, %dev = layer_norm(%x, @g, @b) "
     "{statistics=true} }",
     {0, 1, 2}},
    {"layer_norm",
     "graph @g(%x: f64[2,3,2,4]{0,2,3,1}) { %y, %mean, %dev = layer_norm(%x) {affine=false, "
     "statistics=true} }",
     {0}},
    {"layer_norm",
     "graph @g(%x: f64[2,3,5], @g: f64[5]) { %y, %m, %d = layer_norm(%x, @g) {uncentred=true, "
     "statistics=true} }",
     {0, 1}},
    {"group_norm",
     "graph @g(%x: f64[2,6,3,2]{0,2,3,1}, @g: f64[6], @b: f64[6]) { %y, %mean, %dev = "
     "group_norm(%x, @g, @b) {groups=3, statistics=true} }",
     {0, 1, 2}},
    {"group_norm",
     "graph @g(%x: f64[2,3,4,3]{0,2,3,1}) { %y, %mean, %dev = group_norm(%x) {groups=3, "
     "affine=false, statistics=true} }",
     {0}},
    {"local_response_norm",
     "graph @g(%x: f64[2,7,2,3]{0,2,3,1}) { %y = local_response_norm(%x) {size=5, alpha=2.0, "
     "beta=0.75, k=2.0} }",
     {0}},
    {"local_response_norm",
     "graph @g(%x: f64[2,6,2,1]{0,2,3,1}) { %y = local_response_norm(%x) {size=4, alpha=3.0, "
     "beta=1.3} }",
     {0},
     0.1},
    {"relu", "graph @g(%x: f64[2,3,4,5]{0,2,3,1}) { %y = relu(%x) }", {0}},
    {"leaky_relu", "graph @g(%x: f64[4,9]) { %y = leaky_relu(%x) {negative_slope=0.2} }", {0}, 0.1},
    {"relu6", "graph @g(%x: f64[4,9]) { %y = relu6(%x) }", {0}, 0.4, 0.05},
    {"elu", "graph @g(%x: f64[4,9]) { %y = elu(%x) {alpha=0.7} }", {0}, 0.1},
    {"gelu", "graph @g(%x: f64[4,9]) { %y = gelu(%x) }", {0}, 0.1},
    {"gelu", "graph @g(%x: f64[4,9]) { %y = gelu(%x) {approximation=\"tanh\"} }", {0}, 0.1},
    {"hard_swish", "graph @g(%x: f64[4,9]) { %y = hard_swish(%x) }", {0}, 0.21, 0.05},
    {"hard_sigmoid", "graph @g(%x: f64[4,9]) { %y = hard_sigmoid(%x) }", {0}, 0.21, 0.05},
    {"softplus", "graph @g(%x: f64[4,9]) { %y = softplus(%x) {beta=2.5} }", {0}, 0.1},
    {"log", "graph @g(%x: f64[4,9]) { %y = log(%x) }", {0}, 0.1, 3},
    {"arctanh", "graph @g(%x: f64[4,9]) { %y = arctanh(%x) }", {0}, 0.04},
    {"scale", "graph @g(%x: f64[4,9]) { %y = scale(%x) {factor=-1.5, offset=2.0} }", {0}},
    {"multiply",
     "graph @g(%a: f64[2,3,4,5]{0,2,3,1}, %b: f64[2,3,4,5]{0,2,3,1}, %c: f64[2,3,4,5]{0,2,3,1}) { "
     "%y = multiply(%a, %b, %c) }",
     {0, 1, 2}},
    {"channel_scale",
     "graph @g(%x: f64[2,5,3,4]{0,2,3,1}, %g: f64[2,5,1,1]{0,2,3,1}) { %y = channel_scale(%x, %g) "
     "}",
     {0, 1}},
    {"channel_scale",
     "graph @g(%x: f64[2,5,3,3], %g: f64[2,5]) { %y = channel_scale(%x, %g) }",
     {0, 1}},
    {"elementwise",
     "graph @g(%a: f64[3,5], %b: f64[3,5]) { %y = elementwise(%a, %b) {expression=\"x0 erf x1 "
     "log1p "
     "mul x0 0.1 mul atanh x1 expm1 sub x0 x1 ge x1 2 eq add mul add\"} }",
     {0, 1},
     0.07,
     1.1},
    {"add",
     "graph @g(%a: f64[2,3,4,5]{0,2,3,1}, %b: f64[2,3,4,5]{0,2,3,1}, %c: f64[2,3,4,5]{0,2,3,1}) { "
     "%y = add(%a, %b, %c) }",
     {0, 1, 2}},
    {"elementwise",
     "graph @g(%a: f64[3,5], %b: f64[3,5]) { %y = elementwise(%a, %b) {expression=\"x0 x1 mul x0 "
     "sigmoid add 0 max\"} }",
     {0, 1},
     0.07},
    {"elementwise",
     "graph @g(%a: f64[3,5], %b: f64[3,5], %c: f64[3,5]) { %y = elementwise(%a, %b, %c) "
     "{expression=\"x0 exp x1 abs x2 gt x1 x2 3 mul select sub tanh\"} }",
     {0, 1, 2},
     0.11},
    {"elementwise",
     "graph @g(%a: f64[3,5], %b: f64[3,5]) { %y = elementwise(%a, %b) {expression=\"x0 sqrt x1 log "
     "div x0 x1 min add neg\"} }",
     {0, 1},
     0.02,
     3},
    // Operands by channel: one number for each, and one for all.
    {"elementwise",
     "graph @g(%x: f64[2,3,4,5]{0,2,3,1}, %b: f64[3], %s: f64[1]) { %y = elementwise(%x, %b, %s) "
     "{expression=\"x0 c1 mul sigmoid x0 mul c2 add c1 c2 mul add\"} }",
     {0, 1, 2},
     0.1},
    {"elementwise",
     "graph @g(%x: f64[2,3,4,5], %b: f64[3]) { %y = elementwise(%x, %b) "
     "{expression=\"x0 0 gt x0 c1 x0 mul select\"} }",
     {0, 1},
     0.1},
    {"elementwise",
     "graph @g(%x: f64[4,9], %b: f64[9]) { %y = elementwise(%x, %b) "
     "{expression=\"x0 c1 add\"} }",
     {0, 1}},
    {"softmax", "graph @g(%x: f64[4,6]) { %y = softmax(%x) }", {0}, 0.1},
    {"softmax",
     "graph @g(%x: f64[2,4,3,2]{0,2,3,1}) { %y = softmax(%x) {axis=channels} }",
     {0},
     0.1},
    {"log_softmax", "graph @g(%x: f64[4,6]) { %y = log_softmax(%x) }", {0}, 0.1},
    {"log_softmax",
     "graph @g(%x: f64[2,4,3,2]{0,2,3,1}) { %y = log_softmax(%x) {axis=channels} }",
     {0},
     0.1},
    {"spatial_dropout2d_apply",
     "graph @g(%x: f64[4,3,5,2]{0,2,3,1}, %position: i64[2]) { %y = spatial_dropout2d_apply(%x, "
     "%position) "
     "{rate=0.4, seed=7, stream=3} }",
     {0}},
    {"dropout_apply",
     "graph @g(%x: f64[4,3,5,2]{0,2,3,1}, %position: i64[2]) { %y = dropout_apply(%x, %position) "
     "{rate=0.4, "
     "seed=7, stream=3} }",
     {0}},
    {"concat",
     "graph @g(%a: f64[2,3,4,5]{0,2,3,1}, %b: f64[2,1,4,5]{0,2,3,1}, %c: f64[2,4,4,5]{0,2,3,1}) { "
     "%y = concat(%a, %b, %c) }",
     {0, 1, 2}},
    {"attention",
     "graph @g(%q: f64[2,3,4], %k: f64[2,5,2], %v: f64[2,5,2]) { %y, %l = attention(%q, %k, %v) "
     "{heads=2, key_value_heads=1, statistics=true} }",
     {0, 1, 2}},
    {"attention",
     "graph @g(%x: f64[2,4,12]) { %y, %l = attention(%x) {heads=2, causal=true, scale=0.7, "
     "statistics=true} }",
     {0}},
    {"attention",
     "graph @g(%q: f64[2,3,4], %k: f64[2,5,2], %v: f64[2,5,2], %position: i64[2]) { %y, %l = "
     "attention(%q, %k, %v, %position) {heads=2, key_value_heads=1, statistics=true, drops=true, "
     "dropout=0.4, seed=7, stream=3} }",
     {0, 1, 2}},
    {"attention",
     "graph @g(%x: f64[2,4,12], %n: i32[2,1]) { %y, %l = attention(%x, %n) {heads=2, "
     "causal=true, padded=true, statistics=true} }",
     {0}},
    {"attention",
     "graph @g(%q: f64[2,3,4], %k: f64[2,5,2], %v: f64[2,5,2], %n: i32[2,1], %position: i64[2]) { "
     "%y, %l = attention(%q, %k, %v, %n, %position) {heads=2, key_value_heads=1, padded=true, "
     "statistics=true, drops=true, dropout=0.4, seed=7, stream=3} }",
     {0, 1, 2}},
    {"mask_steps",
     "graph @g(%x: f64[2,4,3], %n: i32[2,1]) { %y = mask_steps(%x, %n) {form=mean} }",
     {0}},
    {"mask_steps",
     "graph @g(%x: f64[2,4,3], %n: i32[2,1]) { %y = mask_steps(%x, %n) {form=reversed} }",
     {0}},
    {"matmul",
     "graph @g(%a: f64[2,3,4], %b: f64[2,4,5]) { %y = matmul(%a, %b) {scale=0.7} }",
     {0, 1}},
    {"matmul",
     "graph @g(%a: f64[2,3,4], %b: f64[2,5,4]) { %y = matmul(%a, %b) {transpose_second=true} }",
     {0, 1}},
    {"matmul",
     "graph @g(%a: f64[2,4,3], %b: f64[2,4,5]) { %y = matmul(%a, %b) {transpose_first=true} }",
     {0, 1}},
    {"matmul",
     "graph @g(%a: f64[2,4,3], %b: f64[2,5,4]) { %y = matmul(%a, %b) {transpose_first=true, "
     "transpose_second=true, scale=-1.5} }",
     {0, 1}},
    {"rnn_steps",
     "graph @g(%x: f64[2,4,3], @w: f64[3,3]) { %y = rnn_steps(%x, @w) {reversed=false} }",
     {0, 1}},
    {"lstm_steps",
     "graph @g(%x: f64[2,4,12], @w: f64[3,12]) { %y, %k, %c = lstm_steps(%x, @w) {reversed=false, "
     "statistics=true} }",
     {0, 1}},
    {"lstm_steps",
     "graph @g(%x: f64[2,4,12], @w: f64[3,12]) { %y, %k, %c = lstm_steps(%x, @w) {reversed=true, "
     "statistics=true} }",
     {0, 1}},
    {"gru_steps",
     "graph @g(%x: f64[2,4,9], @w: f64[3,9], @b: f64[3]) { %y, %k = gru_steps(%x, @w, @b) "
     "{reversed=false, statistics=true} }",
     {0, 1, 2}},
    {"gru_steps",
     "graph @g(%x: f64[2,4,9], @w: f64[3,9], @b: f64[3]) { %y, %k = gru_steps(%x, @w, @b) "
     "{reversed=true, statistics=true} }",
     {0, 1, 2}},
    {"rnn_steps",
     "graph @g(%x: f64[2,4,3], @w: f64[3,3], %h: f64[2,1,3]) { %y = rnn_steps(%x, @w, %h) "
     "{reversed=false, carried=true} }",
     {0, 1}},
    {"rnn_steps",
     "graph @g(%x: f64[2,4,3], @w: f64[3,3], %h: f64[2,1,3]) { %y = rnn_steps(%x, @w, %h) "
     "{reversed=true, carried=true} }",
     {0, 1}},
    {"lstm_steps",
     "graph @g(%x: f64[2,4,12], @w: f64[3,12], %h: f64[2,1,3], %k: f64[2,1,3]) { %y, %g, %c = "
     "lstm_steps(%x, @w, %h, %k) {reversed=false, statistics=true, carried=true} }",
     {0, 1}},
    {"gru_steps",
     "graph @g(%x: f64[2,4,9], @w: f64[3,9], @b: f64[3], %h: f64[2,1,3]) { %y, %g = "
     "gru_steps(%x, @w, @b, %h) {reversed=false, statistics=true, carried=true} }",
     {0, 1, 2}},
    {"class_token", "graph @g(%x: f64[2,3,4], @w: f64[4]) { %y = class_token(%x, @w) }", {0, 1}},
    {"rows_to_pixels", "graph @g(%x: f64[12,3]) { %y = rows_to_pixels(%x) {shape=[2,6,3]} }", {0}},
    {"position_embedding",
     "graph @g(%x: f64[2,3,4], @w: f64[5,4]) { %y = position_embedding(%x, @w) {learned=true} }",
     {0, 1}},
    {"position_embedding",
     "graph @g(%x: f64[2,3,5]) { %y = position_embedding(%x) {learned=false, base=100.0} }",
     {0}},
    {"rotary_embedding",
     "graph @g(%x: f64[2,3,8]) { %y = rotary_embedding(%x) {heads=2, base=10.0} }",
     {0}},
    {"rotary_embedding",
     "graph @g(%x: f64[2,3,8]) { %y = rotary_embedding(%x) {heads=2, neighbours=true} }",
     {0}},
    {"embedding", "graph @g(%i: i32[4,3], @w: f64[5,2]) { %y = embedding(%i, @w) }", {1}},
    {"concat",
     "graph @g(%a: f64[3,2], %b: f64[3,5]) { %y = concat(%a, %b) {axis=channels} }",
     {0, 1}},
    {"categorical_cross_entropy",
     "graph @g(%p: f64[4,5], %labels: i32[4]) { %l = categorical_cross_entropy(%p, %labels) }",
     {0},
     0.02,
     0.5},
    {"negative_log_likelihood",
     "graph @g(%p: f64[4,5], %labels: i32[4]) { %l = negative_log_likelihood(%p, %labels) }",
     {0},
     0.1},
    {"softmax_cross_entropy",
     "graph @g(%x: f64[4,5], %labels: i32[4]) { %l, %p = softmax_cross_entropy(%x, %labels) }",
     {0},
     0.2},
    {"categorical_cross_entropy",
     "graph @g(%p: f64[4,5], %labels: i32[4]) { %l = categorical_cross_entropy(%p, %labels) "
     "{smoothing=0.2, class_weights=[0.5, 2.0, 1.0, 0.0, 3.0]} }",
     {0},
     0.02,
     0.5},
    {"categorical_cross_entropy",
     "graph @g(%p: f64[4,5], %t: f64[4,5]) { %l = categorical_cross_entropy(%p, %t) "
     "{smoothing=0.2, class_weights=[0.5, 2.0, 1.0, 0.0, 3.0]} }",
     {0},
     0.02,
     0.5},
    {"negative_log_likelihood",
     "graph @g(%p: f64[4,5], %labels: i32[4]) { %l = negative_log_likelihood(%p, %labels) "
     "{class_weights=[0.5, 2.0, 1.0, 0.0, 3.0]} }",
     {0},
     0.1},
    {"softmax_cross_entropy",
     "graph @g(%x: f64[4,5], %labels: i32[4]) { %l, %p = softmax_cross_entropy(%x, %labels) "
     "{smoothing=0.2, class_weights=[0.5, 2.0, 1.0, 0.0, 3.0]} }",
     {0},
     0.2},
    {"softmax_cross_entropy",
     "graph @g(%x: f64[4,5], %t: f64[4,5]) { %l, %p = softmax_cross_entropy(%x, %t) "
     "{smoothing=0.2, class_weights=[0.5, 2.0, 1.0, 0.0, 3.0]} }",
     {0},
     0.2},
    {"elementwise_mean",
     "graph @g(%p: f64[4,5], %t: f64[4,5]) { %l = elementwise_mean(%p, %t) "
     "{expression=\"x0 x1 sub x0 x1 sub mul x1 mul\"} }",
     {0, 1},
     0.1},
    {"elementwise_mean",
     "graph @g(%p: f64[4,5], %t: f64[4,5]) { %l = elementwise_mean(%p, %t) "
     "{expression=\"x0 x1 sub x0 x1 sub mul\", derivative=\"2 x0 x1 sub mul\", rows=true} }",
     {0},
     0.1},
    {"hinge",
     "graph @g(%p: f64[4,5], %labels: i32[4]) { %l = hinge(%p, %labels) {margin=0.4} }",
     {0},
     0.1},
    {"hinge",
     "graph @g(%p: f64[4,5], %labels: i32[4]) { %l = hinge(%p, %labels) {form=all} }",
     {0},
     0.1},
    {"dice",
     "graph @g(%p: f64[6,5], %labels: i32[6]) { %l = dice(%p, %labels) {pixels=3} }",
     {0},
     0.02,
     0.5},
    {"dice",
     "graph @g(%p: f64[6,5], %t: f64[6,5]) { %l = dice(%p, %t) {smooth=0.1} }",
     {0},
     0.02,
     0.5},
    {"ctc",
     "graph @g(%p: f64[12,5], %labels: i32[8]) { %l = ctc(%p, %labels) {steps=6, blank=1} }",
     {0},
     0.1},
    {"ctc",
     "graph @g(%p: f64[12,5], %labels: i32[6], %lengths: i32[3,1]) { %l = ctc(%p, %labels, "
     "%lengths) {steps=4, per=sample, padded=true} }",
     {0},
     0.1},
    {"scale_classes",
     "graph @g(%x: f64[4,3]) { %y = scale_classes(%x) {class_weights=[2.0, 0.5, 3.0], "
     "offsets=[1.0, 0.0, -4.0]} }",
     {0}},
    {"scale_classes",
     "graph @g(%x: f64[4,3]) { %y = scale_classes(%x) {class_weights=[2.0, 0.5, 3.0]} }",
     {0}},
};

/// Activations that are a row of activations.def, where they need no other numbers than usual.
const Case kActivations[] = {
#define DTNN_ACTIVATION(name, ...) \
    {#name, "graph @g(%x: f64[4,9]) { %y = " #name "(%x) }", {0}, 0.1},
#include "compiler/ops/activation/activations.def"
#undef DTNN_ACTIVATION
};

std::vector<Case> all_cases() {
    std::vector<Case> cases(std::begin(kCases), std::end(kCases));
    for (const Case& c : kActivations) {
        const auto same = [&](const Case& other) { return std::string_view(other.op) == c.op; };
        if (std::ranges::none_of(kCases, same)) cases.push_back(c);
    }
    return cases;
}

std::vector<double> first_numbers(const Graph& graph, const Case& c, std::size_t operand) {
    const Type& type = graph.type(graph.nodes[0].inputs[operand]);
    const auto count = std::size_t(type.elements());
    if (type.dtype != DType::f64) {
        std::vector<double> numbers(count);
        for (std::size_t i = 0; i < count; ++i)
            numbers[i] = double(2 * i % 5);
        return numbers;
    }
    auto numbers = dtnn::tests::spaced_numbers(count, c.spacing, unsigned(11 + operand));
    // Operands differ by parts of the spacing, so that comparisons between them are never near a
    // tie.
    for (double& number : numbers)
        number += c.shift + 0.3 * c.spacing * double(operand);
    return numbers;
}

void check(const Case& c) {
    Graph graph = parse_graph(c.graph, infer_types);
    REQUIRE(graph.nodes.size() == 1);
    REQUIRE(graph.nodes[0].op == c.op);
    const ValueId result = graph.nodes[0].outputs[0];
    const Type type = graph.type(result);
    const bool loss = type.dims.empty();
    const ValueId diff = loss ? ValueId() : graph.add_input("diff", type);
    OneNode context(graph, diff, c.checked);
    op(c.op).gradient(context);
    REQUIRE(verify(graph).empty());
    REQUIRE(check_types(graph).empty());

    Interpreter run(graph, dtnn::tests::Kernels::reference);
    std::vector<std::vector<double>> operands;
    for (std::size_t i = 0; i < graph.nodes[0].inputs.size(); ++i) {
        operands.push_back(first_numbers(graph, c, i));
        run.set(graph.nodes[0].inputs[i], operands.back());
    }
    std::vector<double> weight{1};
    if (!loss) {
        weight = dtnn::tests::spaced_numbers(std::size_t(type.elements()), 0.05, 5);
        run.set(diff, weight);
    }
    const auto value = [&] {
        run.run();
        const auto numbers = run.get(result);
        double sum = 0;
        for (std::size_t i = 0; i < numbers.size(); ++i)
            sum += weight[i] * numbers[i];
        return sum;
    };
    value();
    std::map<std::size_t, std::vector<double>> gradients;
    for (const std::size_t i : c.checked) {
        REQUIRE(context.gradients.contains(i));
        gradients[i] = run.get(context.gradients[i]);
    }
    for (const std::size_t i : c.checked) {
        const auto numeric = dtnn::tests::central_differences(
            [&](const std::vector<double>& x) {
                run.set(graph.nodes[0].inputs[i], x);
                return value();
            },
            operands[i], 1e-3);
        run.set(graph.nodes[0].inputs[i], operands[i]);
        CAPTURE(i);
        CHECK(dtnn::tests::relative_error(gradients[i], numeric) <= 1e-6);
    }
}

}  // namespace

TEST_CASE("the gradient of every operator agrees with central differences") {
    for (const Case& c : all_cases()) {
        const std::string text = c.graph;
        CAPTURE(text);
        CHECK_NOTHROW(check(c));
    }
}

TEST_CASE("every operator with a gradient has a gradient case") {
    std::set<std::string> covered;
    for (const Case& c : all_cases())
        covered.insert(c.op);
    for (const OpDef* def : all_ops()) {
        if (!def->gradient) continue;
        CAPTURE(def->name);
        CHECK(covered.contains(def->name));
    }
}

TEST_CASE("a gradient that nobody wants costs nothing") {
    const auto emitted = [](const char* text, std::set<std::size_t> wanted) {
        Graph graph = parse_graph(text, infer_types);
        const ValueId diff = graph.add_input("diff", graph.type(graph.nodes[0].outputs[0]));
        OneNode context(graph, diff, std::move(wanted));
        op(graph.nodes[0].op).gradient(context);
        std::string names;
        for (std::size_t n = 1; n < graph.nodes.size(); ++n)
            names += graph.nodes[n].op + " ";
        return names;
    };
    const char* conv = kCases[0].graph;
    CHECK(emitted(conv, {0}) == "conv2d_backward_data ");
    CHECK(emitted(conv, {1, 2}) == "conv2d_backward_weights ");
    CHECK(emitted(conv, {}) == "");
    CHECK(emitted("graph @g(%a: f64[2,3], %b: f64[2,3]) { %y = add(%a, %b) }", {0, 1}) == "");
    CHECK(emitted("graph @g(%a: f64[2,3], %b: f64[2,4]) { %y = concat(%a, %b) }", {1}) == "slice ");
    CHECK(emitted("graph @g(%a: f64[2,3]) { %y = relu(%a) }", {}) == "");
}

TEST_CASE("relu's backward is the expression that kernels know") {
    Graph graph = parse_graph("graph @g(%a: f64[2,3]) { %y = relu(%a) }", infer_types);
    const ValueId diff = graph.add_input("diff", graph.type(graph.inputs[0]));
    OneNode context(graph, diff, {0});
    op("relu").gradient(context);
    CHECK(std::get<std::string>(graph.nodes[1].attributes.at("expression")) ==
          "x1 0 gt x0 0 select");
}

TEST_CASE("the measure of error finds a wrong gradient") {
    const auto cube = [](const std::vector<double>& x) { return x[0] * x[0] * x[0] + 2 * x[1]; };
    const auto numeric = dtnn::tests::central_differences(cube, {2, 5}, 1e-3);
    CHECK(dtnn::tests::relative_error({12, 2}, numeric) < 1e-9);
    CHECK(dtnn::tests::relative_error({12, 2.00001}, numeric) > 1e-6);
    CHECK(dtnn::tests::relative_error({12, NAN}, numeric) > 1e-6);
    CHECK(dtnn::tests::relative_error({12}, numeric) > 1e-6);
}

}  // namespace operators_test
