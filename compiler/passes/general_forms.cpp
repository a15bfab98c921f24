#include "compiler/passes/general_forms.hpp"

#include <array>
#include <string>
#include <utility>

#include "compiler/ops/elementwise/channel_gate.hpp"
#include "compiler/ops/spatial.hpp"
#include "compiler/passes/rewriting.hpp"

namespace dtnn::compiler {
namespace {

using Pair = std::array<std::int64_t, 2>;

const Dims& source_dims(const Graph& graph, const Node& node) {
    return graph.type(node.inputs[0]).dims;
}

const Dims& result_dims(const Graph& graph, const Node& node) {
    return graph.type(node.outputs[0]).dims;
}

std::vector<Node> one(Node node, std::string op, Attributes attributes) {
    node.op = std::move(op);
    node.attributes = std::move(attributes);
    return {std::move(node)};
}

Attributes windows_of(const Pair& kernel) {
    const std::vector<std::int64_t> both{kernel[0], kernel[1]};
    return {{"kernel", both}, {"stride", both}};
}

/// Windows of the same extents are those of the plain pools, whose kernels are faster.
std::vector<Node> adaptive_pool(const Graph& graph, const Node& node) {
    const bool max = node.op != "adaptive_avg_pool2d";
    if (node.outputs.size() > 1) return {};  // the indices mean something else
    const Dims& source = source_dims(graph, node);
    const Dims& result = result_dims(graph, node);
    if (!max && result[2] == 1 && result[3] == 1) return one(node, "global_avg_pool2d", {});
    const bool even = source[2] % result[2] == 0 && source[3] % result[3] == 0;
    const Pair kernel{source[2] / result[2], source[3] / result[3]};
    constexpr std::int64_t kMostCells = 255;  // of max_pool2d, whose indices are bytes
    if (even && !max) return one(node, "avg_pool2d", windows_of(kernel));
    if (even && kernel[0] <= kMostCells && kernel[1] <= kMostCells &&
        kernel[0] * kernel[1] <= kMostCells)
        return one(node, "max_pool2d", windows_of(kernel));
    if (node.op != "global_max_pool2d") return {};
    return one(node, "adaptive_max_pool2d",
               {{"size", std::vector<std::int64_t>{result[2], result[3]}}});
}

std::vector<Node> reshape(const Graph& graph, const Node& node) {
    const bool from_image = source_dims(graph, node).size() == 4;
    const Dims& dims = result_dims(graph, node);
    std::vector<Node> nodes;
    if (from_image) nodes = one(node, "flatten", {});
    if (dims.size() == 4) nodes.push_back(one(node, "unflatten", {{"shape", dims}})[0]);
    return nodes;
}

/// The padding of zero_pad2d nodes before the convolution becomes its own.
bool take_padding(const Graph& graph, Node& node) {
    bool taken = false;
    for (const Node* pad = producer(graph, node.inputs[0]); pad && pad->op == "zero_pad2d";
         pad = producer(graph, node.inputs[0])) {
        const auto more = window_of(pad->attributes, {1, 1}).padding;
        auto padding = window_of(node.attributes, {1, 1}).padding;
        for (std::size_t side = 0; side < padding.size(); ++side)
            padding[side] += more[side];
        node.attributes["padding"] = std::vector<std::int64_t>(padding.begin(), padding.end());
        node.inputs[0] = pad->inputs[0];
        taken = true;
    }
    return taken;
}

std::vector<Node> convolution(const Graph& graph, Node node) {
    bool changed = take_padding(graph, node);
    if (node.op == "depthwise_conv2d") {
        node.op = "conv2d";
        node.attributes["groups"] = source_dims(graph, node)[1];
        changed = true;
    }
    return changed ? std::vector<Node>{std::move(node)} : std::vector<Node>{};
}

/// A product with one number per channel; a node for the image as operand 0.
std::vector<Node> gated(const Graph& graph, Node node) {
    std::vector<Type> types;
    for (const ValueId input : node.inputs)
        types.push_back(graph.type(input));
    const auto image = gated_image(types);
    if (!image) return {};
    node.op = "channel_scale";
    if (*image == 1) std::swap(node.inputs[0], node.inputs[1]);
    return {std::move(node)};
}

}  // namespace

bool keeps_everything(const Graph& graph, const Node& node) {
    static constexpr std::array kOperators{"slice", "zero_pad2d", "upsample2d",
                                           "adaptive_avg_pool2d", "adaptive_max_pool2d"};
    for (const char* op : kOperators)
        if (node.op == op)
            return node.outputs.size() == 1 && source_dims(graph, node) == result_dims(graph, node);
    return node.op == "reshape" && source_dims(graph, node) == result_dims(graph, node);
}

bool flattens(const Graph& graph, const Node& node) {
    return (node.op == "flatten" || node.op == "reshape") && source_dims(graph, node).size() == 4 &&
           result_dims(graph, node).size() == 2;
}

std::vector<Node> general_form(const Graph& graph, const Node& node) {
    if (node.op == "conv2d" || node.op == "depthwise_conv2d") return convolution(graph, node);
    if (node.op == "adaptive_avg_pool2d" || node.op == "adaptive_max_pool2d" ||
        node.op == "global_max_pool2d")
        return adaptive_pool(graph, node);
    if (node.op == "reshape") return reshape(graph, node);
    if (node.op == "multiply") return gated(graph, node);
    return {};
}

}  // namespace dtnn::compiler
