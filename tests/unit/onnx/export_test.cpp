#include "compiler/onnx/out/export.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/expression/expression.hpp"
#include "compiler/frontend/explain/operator_example.hpp"
#include "compiler/frontend/specs.hpp"
#include "compiler/onnx/in/import.hpp"
#include "compiler/ops/op.hpp"

namespace export_test {

using namespace dtnn;
using namespace dtnn::compiler;

/// The model's graph, exported with weights of 0.
std::string exported(const std::string& model, const onnx::ExportRequest& request = {},
                     bool outside = false) {
    LoadOptions load;
    load.texts["model.yaml"] = model;
    Diagnostics diagnostics;
    const JobSpec job = load_job("model.yaml", load, diagnostics);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.render(false));
    const Graph graph = build_graph(job, 1, diagnostics);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.render(false));
    std::deque<std::vector<std::byte>> memory;
    std::deque<StoredTensor> tensors;
    std::map<std::string, const StoredTensor*> weights;
    for (const Parameter& parameter : graph.parameters) {
        auto& bytes = memory.emplace_back(std::size_t(4 * element_count(parameter.dims)));
        weights[parameter.name] =
            &tensors.emplace_back(StoredTensor{parameter.name, DType::f32, parameter.dims, bytes});
    }
    onnx::ExportedModel made = onnx::export_graph(graph, weights, request);
    if (outside) {
        std::string data;
        onnx::move_outside(made.model, "w.data", [&](std::string_view part) { data += part; });
        for (const onnx::TensorProto& tensor : made.model.graph->initializer) {
            if (tensor.data_location != onnx::kExternal) continue;
            CHECK(tensor.external_data[0].value == "w.data");
            CHECK(std::stoull(tensor.external_data[1].value) % 4096 == 0);
            CHECK(std::stoull(tensor.external_data[1].value) +
                      std::stoull(tensor.external_data[2].value) <=
                  data.size());
        }
        CHECK(!data.empty());
    }
    return onnx::write_model(made.model);
}

/// That every node reads what stands before it, no value is made twice, and lists are lists.
void check_sound(const std::string& bytes) {
    const onnx::ModelProto model = onnx::read_model(bytes);
    const std::set<std::string> lists = {"kernel_shape", "strides", "pads",
                                         "dilations",    "perm",    "axes"};
    std::set<std::string> made;
    for (const onnx::ValueInfoProto& input : model.graph->input)
        CHECK(made.insert(input.name).second);
    for (const onnx::TensorProto& tensor : model.graph->initializer)
        CHECK(made.insert(tensor.name).second);
    for (const onnx::NodeProto& node : model.graph->node) {
        for (const std::string& input : node.input)
            CHECK_MESSAGE((input.empty() || made.contains(input)), input);
        for (const std::string& output : node.output)
            CHECK_MESSAGE(made.insert(output).second, output);
        for (const onnx::AttributeProto& attribute : node.attribute)
            if (lists.contains(attribute.name))
                CHECK_MESSAGE(attribute.type == onnx::kIntsAttribute, node.name, " ",
                              attribute.name);
    }
    CHECK(made.contains(model.graph->output.at(0).name));
}

TEST_CASE("every layer has a way into ONNX") {
    for (const OpDef* op : all_ops()) {
        if (!op->layer) continue;
        CAPTURE(op->name);
        CHECK(onnx::has_rule(op->name));
        for (const int opset : {onnx::kLeastOpset, onnx::kMostOpset})
            check_sound(exported(example_model(*op), {.opset = opset}));
    }
}

TEST_CASE("layers come back as they went out, or term by term") {
    std::string others;
    for (const OpDef* op : all_ops()) {
        if (!op->layer) continue;
        const std::string bytes = exported(example_model(*op));
        onnx::Constants constants(".", 0);
        const onnx::ImportedModel read =
            onnx::import_model(onnx::read_model(bytes), "net", constants);
        if (read.spec.find(fmt::format("- {}", op->name)) == std::string::npos)
            others += " " + std::string(op->name);
    }
    CHECK(others ==
          " conv1d depthwise_conv1d pixels_to_steps transpose"
          " adaptive_avg_pool2d adaptive_max_pool2d max_pool1d avg_pool1d hard_sigmoid "
          "log_sigmoid identity gelu"
          " swiglu elementwise dropout spatial_dropout2d first_step last_step one_hot");
}

TEST_CASE("every term of expressions has a way into ONNX") {
    for (const TermInfo& term : term_infos()) {
        std::vector<Expression> operands(std::size_t(term.operands), Expression::input_at(0));
        const std::string text = to_infix(Expression::of(term.term, std::move(operands)));
        CAPTURE(text);
        check_sound(
            exported(fmt::format("kind: model\nname: m\ninput: {{shape: [2, 3, 3]}}\n"
                                 "layers:\n  - elementwise: {{expression: \"{}\"}}\n",
                                 text)));
    }
}

TEST_CASE("extents that are rounded down of their scales are those of the layer") {
    for (int from = 2; from < 60; from += 7)
        for (int to = 3; to < 60; to += 4) {
            const std::string bytes =
                exported(fmt::format("kind: model\nname: m\ninput: {{shape: [1, {}, 8]}}\nlayers:\n"
                                     "  - upsample2d: {{size: [{}, 8], mode: bilinear}}\n"
                                     "  - flatten\n  - dense: {{units: 10}}\n",
                                     from, to));
            const onnx::ModelProto model = onnx::read_model(bytes);
            onnx::Constants constants(".", 0);
            for (const onnx::NodeProto& node : model.graph->node)
                for (const onnx::TensorProto& tensor : model.graph->initializer)
                    if (node.op_type == "Resize" && tensor.name == node.input.at(2)) {
                        const auto scale = float(constants.read(tensor).at(2));
                        CHECK_MESSAGE(int(float(from) * scale) == to, from);
                    }
        }
}

TEST_CASE("large weights go to a file beside the model") {
    check_sound(
        exported("kind: model\nname: m\ninput: {shape: [64]}\n"
                 "layers:\n  - dense: {units: 64}\n  - dense: {units: 64}\n",
                 {}, true));
}

}  // namespace export_test
