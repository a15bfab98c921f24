#include "compiler/frontend/explain/operator_example.hpp"

#include <fmt/format.h>

#include <vector>

#include "compiler/support/check.hpp"

namespace dtnn::compiler {
namespace {

/// The example works along the steps of a sequence.
bool works_along_steps(const OpDef& op) {
    return op.of_sequences || op.example.find("axis: steps") != std::string::npos;
}

/// The layers before the example's, which it reads.
std::vector<std::string> layers_before(const OpDef& op) {
    const std::string convolution = "- conv2d: {filters: 32, kernel: 3, padding: same}";
    if (op.takes_integers()) return {};
    // Behind a layer that learns, so that it has something to hand back.
    // Examples of what joins layers name two of them.
    const std::string dense = "- dense: {units: 32}";
    if (works_along_steps(op))
        return op.example.find("dense_2") != std::string::npos ? std::vector{dense, dense}
                                                               : std::vector{dense};
    std::vector<std::string> layers = {convolution};
    if (op.example.find("conv2d_2") != std::string::npos) layers.push_back(convolution);
    if (op.name == "dense") layers.emplace_back("- flatten");
    return layers;
}

}  // namespace

std::string example_model(const OpDef& op) {
    std::string text =
        fmt::format("kind: model\nname: {}_example\n{}\nlayers:\n", op.name,
                    op.takes_integers() ? "inputs: {word: {shape: [2], dtype: i32, values: 1000}}"
                    : works_along_steps(op) ? "input: {shape: [16, 32]}"
                                            : "input: {shape: [3, 28, 28]}");
    for (const std::string& layer : layers_before(op))
        text += "  " + layer + "\n";
    text += "  " + op.example + "\n";
    if (op.name != "dense" && op.name != "flatten") text += "  - flatten\n";
    if (op.name != "dense") text += "  - dense: {units: 10}\n";
    return text + "  - softmax\n";
}

OperatorExample compile_example(const OpDef& op) {
    const std::string file = op.name + "_example.yaml";
    LoadOptions options;
    options.texts[file] = example_model(op);
    Diagnostics diagnostics;
    OperatorExample example;
    example.job = load_job(file, options, diagnostics);
    if (!diagnostics.has_errors()) example.graph = build_graph(example.job, 1, diagnostics);
    DTNN_CHECK(!diagnostics.has_errors(), "the example of {} is not sound:\n{}", op.name,
               diagnostics.render(false));
    example.layer = LayerId(layers_before(op).size());
    for (std::size_t i = 0; i < example.graph.nodes.size(); ++i)
        if (example.graph.nodes[i].layer == example.layer) example.node = NodeId(i);
    DTNN_CHECK(example.node.valid() && example.graph.node(example.node).op == op.name,
               "the example of {} makes no such node", op.name);
    return example;
}

}  // namespace dtnn::compiler
