#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/expression/expression.hpp"
#include "compiler/ir/axes.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/support/check.hpp"
#include "plan/layer_types.hpp"
#include "tests/graphs/parser.hpp"

namespace registry_test {

using namespace dtnn;
using namespace dtnn::compiler;
namespace plan = dtnn::plan;

namespace {

Cost cost(const char* text) {
    const Graph graph = parse_graph(text, infer_types);
    return cost_of(graph, graph.nodes.back());
}

Attributes with_defaults(const OpDef& def) {
    Attributes attributes;
    for (const Field& field : def.fields)
        if (field.fallback) attributes.emplace(field.name, *field.fallback);
    return attributes;
}

}  // namespace

TEST_CASE("every operator is documented and complete") {
    std::set<std::string> names;
    for (const OpDef* def : all_ops()) {
        CAPTURE(def->name);
        CHECK(names.insert(def->name).second);
        CHECK(find_op(def->name) == def);
        CHECK(def->doc.size() > 10);
        CHECK(def->doc.back() == '.');
        CHECK(def->family.has_value());
        CHECK(def->kernel_class);
        CHECK(def->shape);
        CHECK(def->cost);
        CHECK_FALSE(def->inputs.empty());
        CHECK_FALSE(def->outputs.empty());
        // Exactly one of a gradient and the reason why there is none.
        CHECK(bool(def->gradient) == def->no_gradient_reason.empty());
        for (const auto& [output, input] : def->in_place) {
            CHECK(output < int(def->outputs.size()));
            CHECK((def->variadic || input < int(def->inputs.size())));
        }
    }
    CHECK(find_op("conv3d") == nullptr);
    CHECK_THROWS_AS(op("conv3d"), InternalError);
}

TEST_CASE("every layer has an example with its name and fields that exist") {
    const auto layers = layer_names();
    CHECK_FALSE(layers.empty());
    for (const std::string& name : layers) {
        CAPTURE(name);
        const OpDef& def = op(name);
        CHECK(def.example.starts_with("- " + name));
        // Keys stand before a colon; the first is the layer itself.
        std::size_t colon = def.example.find(':');
        while (colon != std::string::npos) {
            std::size_t begin = colon;
            while (begin > 0 && std::string(" {").find(def.example[begin - 1]) == std::string::npos)
                --begin;
            const std::string key = def.example.substr(begin, colon - begin);
            CAPTURE(key);
            CHECK((key == name || key == "from" || find_field(def.fields, key) != nullptr));
            colon = def.example.find(':', colon + 1);
        }
        for (const Field& field : def.fields) {
            CAPTURE(field.name);
            CHECK_FALSE(field.doc.empty());
            if (field.type == FieldType::choice)
                CHECK(std::find(field.choices.begin(), field.choices.end(),
                                std::get<std::string>(*field.fallback)) != field.choices.end());
        }
    }
}

TEST_CASE("fields and examples are for layers only") {
    for (const OpDef* def : all_ops()) {
        if (def->layer) continue;
        CAPTURE(def->name);
        CHECK(def->fields.empty());
        CHECK(def->example.empty());
        CHECK(def->parameters.empty());
    }
}

TEST_CASE("a convolution's parameters have the shapes and fans of their definition") {
    const OpDef& def = op("conv2d");
    Attributes attributes = with_defaults(def);
    attributes["filters"] = std::int64_t{8};
    attributes["kernel"] = std::vector<std::int64_t>{3, 5};
    attributes["groups"] = std::int64_t{2};
    const Type input{DType::f32, {4, 6, 9, 9}, {}, usual_axes(3)};
    REQUIRE(def.parameters.size() == 2);
    const Dims weights = def.parameters[0].dims(input, attributes);
    CHECK(weights == Dims{8, 3, 3, 5});
    const auto initializer = def.parameters[0].initializer(weights, attributes);
    CHECK(initializer.kind == "glorot_uniform");
    CHECK(initializer.fan_in == 3 * 15);
    CHECK(initializer.fan_out == 4 * 15);
    CHECK(def.parameters[1].dims(input, attributes) == Dims{8});
    attributes["bias"] = false;
    CHECK(def.parameters[1].dims(input, attributes).empty());
}

TEST_CASE("dense and batch norm parameters") {
    Attributes attributes = with_defaults(op("dense"));
    attributes["units"] = std::int64_t{10};
    attributes["weights_initializer"] = std::string("he_normal");
    const auto& rule = op("dense").parameters[0];
    const Dims weights = rule.dims(Type{DType::f32, {4, 128}, {}, usual_axes(1)}, attributes);
    CHECK(weights == Dims{128, 10});
    CHECK(rule.initializer(weights, attributes).kind == "he_normal");
    CHECK(rule.initializer(weights, attributes).fan_in == 128);
    CHECK(rule.initializer(weights, attributes).fan_out == 10);

    std::string roles;
    for (const ParameterRule& parameter : op("batch_norm").parameters) {
        const Dims dims = parameter.dims(Type{DType::f32, {4, 6, 9, 9}, {}, usual_axes(3)}, {});
        CHECK(dims == Dims{6});
        roles += std::string(parameter.role) + (parameter.trainable ? "+" : "-") +
                 parameter.initializer(dims, {}).kind + " ";
    }
    CHECK(roles == "gamma+ones beta+zeros running_mean-zeros running_variance-ones ");
}

TEST_CASE("work is counted by formula: a fused multiply-add is two") {
    // 2 * 4*16*8*8 outputs * 3*3*3 products, and a bias for each output.
    CHECK(
        cost("graph @g(%x: f32[4,3,8,8], @w: f32[16,3,3,3], @b: f32[16]) { %y = conv2d(%x, @w, @b) "
             "{bias=true, padding=same} }")
            .flops == 2 * 4096 * 27 + 4096);
    CHECK(
        cost("graph @g(%x: f32[4,3,8,8], @w: f32[16,3,3,3], @b: f32[16]) { %y = conv2d(%x, @w, @b) "
             "{bias=true, padding=same} }")
            .bytes == 4 * (768 + 432 + 16 + 4096));
    CHECK(cost("graph @g(%d: f32[4,16,8,8], @w: f32[16,3,3,3]) { %y = conv2d_backward_data(%d, @w) "
               "{padding=[1,1,1,1], source_shape=[4,3,8,8]} }")
              .flops == 2 * 4096 * 27);
    CHECK(
        cost("graph @g(%x: f32[4,3,8,8], %d: f32[4,16,8,8]) { %w = conv2d_backward_weights(%x, %d) "
             "{padding=[1,1,1,1], kernel=[3,3]} }")
            .flops == 2 * 4096 * 27);
    CHECK(cost("graph @g(%x: f32[4,6,8,8], @w: f32[4,3,1,1]) { %y = conv2d(%x, @w) {groups=2} }")
              .flops == 2 * 4 * 4 * 64 * 3);
    CHECK(cost("graph @g(%x: f64[4,128], @w: f64[128,10]) { %y = dense(%x, @w) }").flops ==
          2 * 4 * 128 * 10);
    CHECK(cost("graph @g(%x: f64[4,128]) { %y = relu(%x) }").flops == 512);
    CHECK(cost("graph @g(%x: f64[4,128]) { %y = relu(%x) }").bytes == 2 * 8 * 512);
    CHECK(cost("graph @g(%x: f32[4,8]) { %y = add(%x, %x, %x) }").flops == 64);
    CHECK(cost("graph @g(%x: f32[4,8,8,8]) { %y = max_pool2d(%x) {kernel=[2,2]} }").flops ==
          4 * 4 * 8 * 16);
    CHECK(cost("graph @g(%x: f32[4,8]) { %y = elementwise(%x) {expression=\"x0 x0 mul tanh\"} }")
              .flops == 64);
}

TEST_CASE("the class of a step follows from its operator, its shapes and its kernel") {
    const auto convolution = [](const char* filters, const char* kernel, const char* more = "") {
        const Graph graph = parse_graph(
            fmt::format("graph @g(%x: f32[4,48,8,8], @w: f32[{}]) {{ %y = conv2d(%x, @w) "
                        "{{groups={}{}}} }}",
                        filters, std::string_view(kernel) == "depthwise" ? 48 : 1, more),
            infer_types);
        return kernel_class_of(graph, graph.nodes[0], kernel);
    };
    using plan::KernelClass;
    CHECK(convolution("32,48,3,3", "direct") == KernelClass::convolutions);
    CHECK(convolution("32,48,1,1", "direct") == KernelClass::pointwise_convolutions);
    CHECK(convolution("12,48,3,3", "direct") == KernelClass::narrow_convolutions);
    CHECK(convolution("32,48,3,3", "winograd_4x4") == KernelClass::winograd_convolutions);
    CHECK(convolution("12,48,3,3", "winograd_4x4") == KernelClass::narrow_winograd_convolutions);
    CHECK(convolution("16,48,3,3", "padded_rows") == KernelClass::row_convolutions);
    CHECK(convolution("8,48,3,3", "planes") == KernelClass::row_convolutions);
    CHECK(convolution("48,1,3,3", "depthwise") == KernelClass::depthwise_convolutions);
    CHECK(convolution("32,48,3,3", "reference") == KernelClass::reference_kernels);
    CHECK(convolution("32,48,3,3", "bf16", ", bf16=true") == KernelClass::bf16_products);

    const Graph graph = parse_graph(
        "graph @g(%x: f32[4,3,8,8], @w: f32[16,3,3,3], %r: f32[4,12], @v: f32[12,8], "
        "%d: f32[4,8]) { %a = conv2d(%x, @w) %b = dense(%r, @v) "
        "%c = dense_backward_weights(%r, %d) {weights_shape=[12,8]} "
        "%e = max_pool2d(%x) {kernel=[2,2]} %f = relu(%r) }",
        infer_types);
    const auto of = [&](std::size_t node, const char* kernel) {
        return kernel_class_of(graph, graph.nodes[node], kernel);
    };
    CHECK(of(0, "padded_rows") == KernelClass::first_convolutions);
    CHECK(of(1, "blis") == KernelClass::large_products);
    CHECK(of(1, "direct") == KernelClass::products);
    CHECK(of(2, "direct") == KernelClass::narrow_products);
    CHECK(of(3, "window_2x2") == KernelClass::window_pooling);
    CHECK(of(3, "channels_last") == KernelClass::overlapping_pooling);
    CHECK(of(4, "chunked") == KernelClass::expressions);
    CHECK(of(4, "direct") == KernelClass::sums);
    CHECK(of(4, "reference") == KernelClass::reference_kernels);
}

TEST_CASE("steps say every attribute that their operator declares, by default where nodes do not") {
    const Graph graph = parse_graph(
        "graph @g(%x: f32[4,3,8,8], @w: f32[16,3,3,3]) { %a = conv2d(%x, @w) "
        "%b = conv2d(%x, @w) {epilogue=relu} }",
        infer_types);
    const Attributes plain = complete_attributes(graph.nodes[0]);
    CHECK(std::get<std::string>(plain.at("epilogue")) == "none");
    CHECK(std::get<std::int64_t>(plain.at("groups")) == 1);
    const Attributes fused = complete_attributes(graph.nodes[1]);
    CHECK(std::get<std::string>(fused.at("epilogue")) == "relu");
    for (const OpDef* def : all_ops())
        for (const auto& attribute : def->attributes) {
            const auto& name = attribute.first;
            CAPTURE(def->name);
            CAPTURE(name);
            CHECK(find_field(def->fields, name) == nullptr);  // the default stands once
        }
}

TEST_CASE("the list of layer types knows every layer that reads more than a cell") {
    using plan::Reach;
    for (const plan::LayerType& type : plan::layer_types()) {
        CAPTURE(type.name);
        const OpDef* def = find_op(type.name);
        CHECK((def != nullptr && !def->example.empty()));
    }
    for (const OpDef* def : all_ops()) {
        if (def->example.empty()) continue;
        CAPTURE(def->name);
        const plan::LayerType& type = plan::layer_type(def->name);
        const Family family = *def->family;
        CHECK((family == Family::convolution || family == Family::dense) ==
              (type.reach == Reach::window || type.reach == Reach::scattered ||
               type.reach == Reach::row));
        // What works along an axis that the spec names may leave the image alone.
        const bool pools = family == Family::pooling && find_field(def->fields, "axis") == nullptr;
        CHECK(pools == (type.reach == Reach::pool || type.reach == Reach::all_cells ||
                        type.reach == Reach::parts));
        CHECK((type.reach == Reach::pool) ==
              (pools && find_field(def->fields, "kernel") != nullptr));
    }
}

TEST_CASE("elementwise nodes have an expression, others have none") {
    const Graph graph = parse_graph(
        "graph @g(%x: f32[4,8]) { %a = relu(%x) %b = add(%a, %x, %x) "
        "%c = elementwise(%b) {expression=\"x0 neg\"} %d = softmax(%c) %e = sigmoid(%d) }",
        infer_types);
    CHECK(expression_of(graph.nodes[0]) == "x0 0 max");
    CHECK(expression_of(graph.nodes[1]) == "x0 x1 add x2 add");
    CHECK(expression_of(graph.nodes[2]) == "x0 neg");
    CHECK(expression_of(graph.nodes[3]) == "");
    CHECK(expression_of(graph.nodes[4]) == "x0 sigmoid");
}

TEST_CASE("types that are not the operator's are found") {
    Graph graph = parse_graph("graph @g(%x: f32[4,8]) { %a = relu(%x) }", infer_types);
    CHECK(check_types(graph).empty());
    graph.set_type(ValueId(1), {DType::f32, {8, 4}, {}});
    CHECK(check_types(graph).size() == 1);
    graph.set_type(ValueId(1), {DType::f32, {4, 8}, {}});
    graph.nodes[0].op = "rely";
    CHECK(check_types(graph) == std::vector<std::string>{"no operator is named `rely`"});
}

}  // namespace registry_test
