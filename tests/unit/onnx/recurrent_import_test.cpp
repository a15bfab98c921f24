/// LSTM, GRU and RNN as they come in. What they compute is compared with ONNX Runtime in
/// tests/peers/onnx.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>

#include "compiler/onnx/out/export.hpp"
#include "tests/unit/onnx/small_models.hpp"

namespace import_test {
namespace {

const std::vector<std::int64_t> kInput{6, 3};  // steps, features
constexpr std::int64_t kUnits = 2;

NodeProto turned(const std::string& from, const std::string& to) {
    return {{from}, {to}, "", "Transpose", {ints("perm", {1, 0, 2})}, {}};
}

/// The weights of a node: w, r and b, for inputs of `features` numbers.
std::vector<TensorProto> cell_tensors(std::int64_t parts, std::int64_t ways = 1,
                                      std::int64_t features = 3, const std::string& end = "") {
    return {floats("w" + end, {ways, parts * kUnits, features}),
            floats("r" + end, {ways, parts * kUnits, kUnits}, 1000),
            floats("b" + end, {ways, 2 * parts * kUnits}, 2000)};
}

NodeProto cell(const std::string& op, std::vector<std::string> outputs,
               std::vector<AttributeProto> attributes = {}, const std::string& end = "",
               const std::string& input = "t") {
    attributes.push_back(integer_of("hidden_size", kUnits));
    return {{input, "w" + end, "r" + end, "b" + end},
            std::move(outputs),
            "/net/" + op,
            op,
            std::move(attributes),
            {}};
}

std::vector<float> numbers_of_tensor(const ImportedModel& read, const std::string& name) {
    for (const StoredTensor& tensor : read.tensors)
        if (tensor.name == name) {
            std::vector<float> numbers(tensor.bytes.size() / sizeof(float));
            std::memcpy(numbers.data(), tensor.bytes.data(), tensor.bytes.size());
            return numbers;
        }
    FAIL("no tensor ", name);
    return {};
}

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

void expect_no_refusal(const ImportedModel& read) {
    for (const Refusal& refusal : read.refusals)
        FAIL_CHECK(refusal.place, ": ", refusal.text);
}

/// What the first refusal says; empty: there is none.
std::string refusal_of(std::vector<NodeProto> nodes, std::vector<TensorProto> tensors,
                       const std::vector<std::int64_t>& input = kInput) {
    Constants constants(".", 0);
    const ImportedModel read =
        imported(model(std::move(nodes), std::move(tensors), input), constants);
    return read.refusals.empty() ? "" : read.refusals[0].text;
}

std::vector<NodeProto> whole_sequence(NodeProto node) {
    return {turned("x", "t"),
            std::move(node),
            {{"y4", "axis"}, {"y3"}, "", "Squeeze", {}, {}},
            turned("y3", "y")};
}

}  // namespace

TEST_CASE("layers over steps come in with their parts in our order") {
    struct Case {
        const char *op, *layer;
        std::vector<std::int64_t> rows;  // of the file, for each part of ours
    };
    for (const Case& c : {Case{"LSTM", "lstm", {0, 2, 3, 1}}, Case{"GRU", "gru", {1, 0, 2}},
                          Case{"RNN", "rnn", {0}}}) {
        CAPTURE(c.op);
        const auto parts = std::int64_t(c.rows.size());
        std::vector<TensorProto> tensors = cell_tensors(parts);
        tensors.push_back(integers("axis", {1}));
        std::vector<AttributeProto> attributes;
        if (parts == 3) attributes.push_back(integer_of("linear_before_reset", 1));
        Constants constants(".", 0);
        const ImportedModel read = imported(
            model(whole_sequence(cell(c.op, {"y4"}, attributes)), tensors, kInput), constants);
        expect_no_refusal(read);
        CHECK(read.spec == fmt::format("kind: model\nname: net\ninput: {{shape: [6, 3]}}\nlayers:\n"
                                       "  - {}: {{name: net, units: 2}}\n",
                                       c.layer));
        const std::vector<float> weights = numbers_of_tensor(read, "net.weights"),
                                 hidden = numbers_of_tensor(read, "net.hidden_weights"),
                                 bias = numbers_of_tensor(read, "net.bias");
        const std::int64_t columns = parts * kUnits;
        REQUIRE(weights.size() == std::size_t(3 * columns));
        REQUIRE(hidden.size() == std::size_t(kUnits * columns));
        REQUIRE(bias.size() == std::size_t(columns));
        for (std::int64_t part = 0; part < parts; ++part)
            for (std::int64_t unit = 0; unit < kUnits; ++unit) {
                const std::int64_t row = c.rows[std::size_t(part)] * kUnits + unit;
                const auto column = std::size_t(part * kUnits + unit);
                for (std::int64_t i = 0; i < 3; ++i)
                    CHECK(weights[std::size_t(i * columns) + column] == float(row * 3 + i));
                for (std::int64_t i = 0; i < kUnits; ++i)
                    CHECK(hidden[std::size_t(i * columns) + column] ==
                          float(1000 + row * kUnits + i));
                const auto of_input = float(2000 + row), of_state = float(2000 + columns + row);
                const bool apart = parts == 3 && part == 2;
                CHECK(bias[column] == (apart ? of_input : of_input + of_state));
                if (apart)
                    CHECK(numbers_of_tensor(read, "net.hidden_bias")[std::size_t(unit)] ==
                          of_state);
            }
    }
}

TEST_CASE("both ways are two layers side by side, through any number of layers") {
    // As PyTorch writes two layers of which the last step is read.
    const std::vector<AttributeProto> both{word("direction", "bidirectional")};
    const auto joined = [](const std::string& from, const std::string& to) {
        return std::vector<NodeProto>{
            {{from}, {to + "a"}, "", "Transpose", {ints("perm", {0, 2, 1, 3})}, {}},
            {{to + "a", "shape"}, {to}, "", "Reshape", {}, {}}};
    };
    std::vector<NodeProto> nodes{turned("x", "t"), cell("LSTM", {"p"}, both)};
    for (const NodeProto& node : joined("p", "q"))
        nodes.push_back(node);
    nodes.push_back(cell("LSTM", {"u"}, both, "2", "q"));
    for (const NodeProto& node : joined("u", "v"))
        nodes.push_back(node);
    nodes.push_back(turned("v", "z"));
    nodes.push_back({{"z", "last"}, {"y"}, "", "Gather", {integer_of("axis", 1)}, {}});
    std::vector<TensorProto> tensors = cell_tensors(4, 2);
    for (TensorProto& tensor : cell_tensors(4, 2, 2 * kUnits, "2"))
        tensors.push_back(std::move(tensor));
    TensorProto last = integers("last", {-1});
    last.dims.clear();
    tensors.push_back(last);
    tensors.push_back(integers("shape", {0, 0, -1}));
    Constants constants(".", 0);
    const ImportedModel read = imported(model(nodes, tensors, kInput), constants);
    expect_no_refusal(read);
    // Two and their concat, twice, then the last step.
    CHECK(read.layers == 3 + 3 + 1);
    CHECK(read.tensors.size() == 4 * 3);
    // The second way has the second half of the weights.
    const auto is_backward = [](const StoredTensor& tensor) {
        float first = 0;
        std::memcpy(&first, tensor.bytes.data(), sizeof first);
        return tensor.name.find("reverse") != std::string::npos && first == 4 * kUnits * 3;
    };
    CHECK(std::count_if(read.tensors.begin(), read.tensors.end(), is_backward) > 0);
}

TEST_CASE("states at the end are last steps, and first ones of layers that go back") {
    // The states of two layers are joined, and the last is read.
    TensorProto last = integers("last", {-1});
    last.dims.clear();
    std::vector<TensorProto> tensors = cell_tensors(3);
    for (TensorProto& tensor : cell_tensors(3, 1, kUnits, "2"))
        tensors.push_back(std::move(tensor));
    tensors.push_back(last);
    tensors.push_back(integers("axis", {1}));
    const std::vector<AttributeProto> after{integer_of("linear_before_reset", 1)};
    Constants constants(".", 0);
    const ImportedModel read =
        imported(model({turned("x", "t"),
                        cell("GRU", {"p", "h"}, after),
                        {{"p", "axis"}, {"q"}, "", "Squeeze", {}, {}},
                        cell("GRU", {"", "k"}, after, "2", "q"),
                        {{"h", "k"}, {"s"}, "", "Concat", {integer_of("axis", 0)}, {}},
                        {{"s", "last"}, {"y"}, "", "Gather", {integer_of("axis", 0)}, {}}},
                       tensors, kInput),
                 constants);
    expect_no_refusal(read);
    CHECK(read.layers == 3);
    CHECK(read.spec.ends_with("  - last_step: {name: last_step_2}\n"));

    // Both ways' by Split, as rows.
    const ImportedModel ways =
        imported(model(
                     {turned("x", "t"),
                      cell("RNN", {"", "h"}, {word("direction", "bidirectional")}),
                      {{"h"}, {"f", "g"}, "", "Split", {integer_of("axis", 0)}, {}},
                      {{"f", "first"}, {"i"}, "", "Squeeze", {}, {}},
                      {{"g", "first"}, {"j"}, "", "Squeeze", {}, {}},
                      {{"j", "i"}, {"y"}, "", "Concat", {integer_of("axis", 1)}, {}}},
                     [] {
                         std::vector<TensorProto> all = cell_tensors(1, 2);
                         all.push_back(integers("first", {0}));
                         return all;
                     }(),
                     kInput),
                 constants);
    expect_no_refusal(ways);
    CHECK(ways.layers == 5);
    CHECK(count(ways.spec, "- last_step") == 1);
    CHECK(count(ways.spec, "- first_step") == 1);
    CHECK(count(ways.spec, "- concat") == 1);
    CHECK(ways.spec.find("from: [first_step, last_step]") != std::string::npos);
}

TEST_CASE("one way is taken of both, and a layer may have the batch first") {
    // As Keras' models come by tf2onnx: a Slice for each way, of which one is read here.
    std::vector<TensorProto> tensors = cell_tensors(4, 2);
    for (const auto& [name, at] : std::map<std::string, std::int64_t>{{"one", 1}, {"two", 2}})
        tensors.push_back(integers(name, {at}));
    Constants constants(".", 0);
    const ImportedModel read =
        imported(model({turned("x", "t"),
                        cell("LSTM", {"p"}, {word("direction", "bidirectional")}),
                        {{"p", "one", "two", "one"}, {"s"}, "", "Slice", {}, {}},
                        {{"s", "one"}, {"q"}, "", "Squeeze", {}, {}},
                        turned("q", "y")},
                       tensors, kInput),
                 constants);
    expect_no_refusal(read);
    CHECK(read.layers == 1);
    CHECK(read.spec.find("reversed: true") != std::string::npos);

    tensors.push_back(integers("ways", {2}));
    const ImportedModel plain = imported(
        model({cell("LSTM", {"p"}, {integer_of("layout", 1), word("direction", "bidirectional")},
                    "", "x"),
               {{"p"}, {"y"}, "", "Flatten", {}, {}}},
              tensors, kInput),
        constants);
    expect_no_refusal(plain);
    CHECK(plain.layers == 4);
}

TEST_CASE("zeros of any length are what layers begin with anyway") {
    TensorProto first = integers("first", {1});
    first.dims.clear();
    const std::vector<NodeProto> shape{
        {{"t"}, {"s"}, "", "Shape", {}, {}},
        {{"s", "first"}, {"n"}, "", "Gather", {}, {}},
        {{"n", "axis0"}, {"m"}, "", "Unsqueeze", {}, {}},
        {{"way", "m", "units"}, {"d"}, "", "Concat", {integer_of("axis", 0)}, {}}};
    for (const char* made : {"ConstantOfShape", "Expand", "Fixed"})
        for (const float begin : {0.0F, 1.0F}) {
            CAPTURE(made);
            std::vector<NodeProto> nodes{turned("x", "t")};
            nodes.insert(nodes.end(), shape.begin(), shape.end());
            const std::string op = made;
            if (op == "ConstantOfShape") {
                AttributeProto value;
                value.name = "value";
                value.t = floats("", {1}, begin);
                nodes.push_back({{"d"}, {"h"}, "", op, {value}, {}});
            } else if (op == "Expand") {
                nodes.push_back({{"one", "d"}, {"h"}, "", op, {}, {}});
            }
            NodeProto node = cell("RNN", {"y4"});
            node.input.push_back("");
            node.input.push_back("h");
            nodes.push_back(node);
            nodes.push_back({{"y4", "axis"}, {"y3"}, "", "Squeeze", {}, {}});
            nodes.push_back(turned("y3", "y"));
            std::vector<TensorProto> tensors = cell_tensors(1);
            for (TensorProto& tensor : std::vector<TensorProto>{
                     first, integers("axis0", {0}), integers("axis", {1}), integers("way", {1}),
                     integers("units", {kUnits}), floats("one", {1, 1, 1}, begin)})
                tensors.push_back(std::move(tensor));
            if (op == "Fixed") {
                TensorProto fixed = floats("h", {1, 4, kUnits});
                fixed.float_data.assign(fixed.float_data.size(), begin);
                tensors.push_back(fixed);
            }
            const std::string refusal = refusal_of(nodes, tensors);
            CHECK(refusal == (begin == 0 ? "" : "its first state (initial_h) is not 0"));
        }
    // Elsewhere nobody knows how many they are.
    std::vector<NodeProto> nodes{turned("x", "t")};
    nodes.insert(nodes.end(), shape.begin(), shape.end());
    nodes.push_back({{"d"}, {"h"}, "", "ConstantOfShape", {}, {}});
    nodes.push_back({{"t", "h"}, {"a"}, "", "Add", {}, {}});
    nodes.push_back(turned("a", "y"));
    CHECK(refusal_of(nodes, {first, integers("axis0", {0}), integers("way", {1}),
                             integers("units", {3})}) ==
          "it computes with an array that is as long as the batch");
}

TEST_CASE("of one sample the batch is any axis of 1") {
    // The state of a layer is [ways, batch, units], of 1, 1 and 2.
    TensorProto last = integers("last", {-1});
    last.dims.clear();
    for (const std::int64_t batch : {1, 2}) {
        CAPTURE(batch);
        std::vector<TensorProto> tensors = cell_tensors(4);
        tensors.push_back(last);
        ModelProto made = model({turned("x", "t"),
                                 cell("LSTM", {"", "h"}),
                                 {{"h", "last"}, {"y"}, "", "Gather", {integer_of("axis", 0)}, {}}},
                                tensors, kInput);
        made.graph->input[0].type->tensor_type->shape->dim[0] = {batch, {}};
        Constants constants(".", 0);
        const ImportedModel read = imported(made, constants);
        expect_no_refusal(read);
        CHECK(read.layers == 2);
        CHECK(read.spec.find("- last_step") != std::string::npos);
    }
}

TEST_CASE("layers behind others keep the batch where it is") {
    // A product, a bias and a normalisation of the steps, before they are turned back.
    std::vector<TensorProto> tensors = cell_tensors(4);
    tensors.push_back(integers("axis", {1}));
    tensors.push_back(floats("k", {kUnits, 5}));
    tensors.push_back(floats("c", {5}));
    tensors.push_back(floats("g", {5}));
    Constants constants(".", 0);
    const ImportedModel read =
        imported(model({turned("x", "t"),
                        cell("LSTM", {"y4"}),
                        {{"y4", "axis"}, {"y3"}, "", "Squeeze", {}, {}},
                        {{"y3"}, {"a"}, "", "Relu", {}, {}},
                        {{"a", "k"}, {"m"}, "", "MatMul", {}, {}},
                        {{"c", "m"}, {"o"}, "", "Add", {}, {}},
                        {{"o", "g", "c"}, {"n"}, "", "LayerNormalization", {}, {}},
                        turned("n", "y")},
                       tensors, kInput),
                 constants);
    expect_no_refusal(read);
    CHECK(read.layers == 4);
    // What looks at the first axis as the batch does not take them.
    CHECK(refusal_of({turned("x", "y3"), {{"y3", "f"}, {"y"}, "", "Conv", {}, {}}},
                     {floats("f", {2, 3, 3})})
              .find("its input has the batch as axis 1") == 0);
    CHECK(refusal_of({turned("x", "t"), {{"t"}, {"y"}, "", "Relu", {}, {}}}, {})
              .find("its output has its axes in another order") == 0);
}

TEST_CASE("layers over steps that cannot be said are refused in words") {
    const auto refusal = [](const std::string& op, std::vector<AttributeProto> attributes,
                            std::int64_t parts, std::vector<std::string> more = {},
                            std::vector<TensorProto> tensors = {}) {
        NodeProto node = cell(op, {"y4"}, std::move(attributes));
        node.input.insert(node.input.end(), more.begin(), more.end());
        for (TensorProto& tensor : cell_tensors(parts))
            tensors.push_back(std::move(tensor));
        tensors.push_back(integers("axis", {1}));
        return refusal_of(whole_sequence(node), tensors);
    };
    AttributeProto clip;
    clip.name = "clip";
    clip.f = 3.0F;
    AttributeProto relu;
    relu.name = "activations";
    relu.strings = {"Relu"};
    const auto starts = [](const std::string& text, const char* beginning) {
        CHECK_MESSAGE(text.starts_with(beginning), text);
    };
    starts(refusal("RNN", {relu}, 1), "its activations are relu, and a rnn here has tanh");
    starts(refusal("RNN", {clip}, 1), "it cuts what its cells add up (clip)");
    starts(refusal("LSTM", {integer_of("input_forget", 1)}, 4), "its input and forget gates");
    starts(refusal("LSTM", {word("direction", "up")}, 4), "its direction is `up`");
    starts(refusal("LSTM", {integer_of("layout", 2)}, 4), "its layout is 2");
    starts(refusal("LSTM", {integer_of("layout", 1)}, 4), "it takes axis 1 of its input for steps");
    starts(refusal("GRU", {}, 3), "it resets the state before the product");
    starts(refusal("LSTM", {}, 4, {"", "", "", "p"}, {floats("p", {1, 3 * kUnits}, 1)}),
           "its peephole (P) is not 0");
    starts(refusal("LSTM", {}, 4, {"n"}, {integers("n", {6, 5})}),
           "its samples have several lengths");
    CHECK(refusal("LSTM", {}, 4, {"n"}, {integers("n", {6, 6})}).empty());
    starts(refusal("LSTM", {}, 4, {"", "x"}), "its first state (initial_h) is an input");
    starts(refusal("LSTM", {}, 3), "its weights (W) are [1, 6, 3], and real numbers of [1, 8, 3]");
    starts(refusal_of({turned("x", "t"), cell("LSTM", {"", "", "y"})}, cell_tensors(4)),
           "what its cells remember at the end (Y_c) is read");
    starts(refusal_of({cell("LSTM", {"y"}, {}, "", "x")}, cell_tensors(4)),
           "it takes axis 0 of its input for steps");
    starts(refusal_of({cell("LSTM", {"y"}, {}, "", "x")}, cell_tensors(4), {3}),
           "its input has 2 axes");
}

TEST_CASE("weights of any shape are refused or read") {
    constexpr std::int64_t kHuge = std::int64_t{1} << 60;
    const auto refused = [](std::vector<TensorProto> tensors, NodeProto node) {
        tensors.push_back(integers("axis", {1}));
        return !refusal_of(whole_sequence(std::move(node)), tensors).empty();
    };
    const NodeProto sound = cell("LSTM", {"y4"});
    CHECK(!refused(cell_tensors(4), sound));
    NodeProto none = sound;
    none.input.clear();
    CHECK(refused({}, none));
    for (const std::size_t left : {1U, 2U}) {
        NodeProto few = sound;
        few.input.resize(left);
        CHECK(refused(cell_tensors(4), few));
    }
    for (const std::int64_t size : {std::int64_t{0}, std::int64_t{-1}, kUnits + 1, kHuge}) {
        NodeProto other = sound;
        other.attribute = {integer_of("hidden_size", size)};
        CHECK(refused(cell_tensors(4), other));
    }
    NodeProto absent = sound;
    absent.attribute.clear();
    CHECK(!refused(cell_tensors(4), absent));
    const std::vector<std::vector<std::int64_t>> shapes{
        {}, {8}, {8, 3}, {1, 8}, {2, 8, 3}, {1, 8, 0}, {1, 0, kHuge}, {0, 8, kHuge}, {8, 3, 1}};
    for (std::size_t i = 0; i < 3; ++i)
        for (const std::vector<std::int64_t>& shape : shapes) {
            std::vector<TensorProto> tensors = cell_tensors(4);
            tensors[i].dims = shape;
            std::int64_t numbers = 1;
            for (const std::int64_t extent : shape)
                numbers = extent == 0 ? 0 : numbers * extent;
            tensors[i].float_data.assign(std::size_t(numbers < 100 ? numbers : 0), 1.0F);
            CHECK(refused(tensors, sound));
        }
    std::vector<TensorProto> whole = cell_tensors(4);
    whole[1] = integers("r", std::vector<std::int64_t>(16, 1));
    whole[1].dims = {1, 8, 2};
    CHECK(refused(whole, sound));
}

TEST_CASE("layers over steps that went out come in again with their bits") {
    for (const char* layer : {"lstm: {units: 4}", "lstm: {units: 3, reversed: true}",
                              "gru: {units: 4}", "gru: {units: 3, reversed: true}",
                              "rnn: {units: 4}", "rnn: {units: 3, reversed: true}"}) {
        CAPTURE(layer);
        LoadOptions load;
        load.texts["model.yaml"] = fmt::format(
            "kind: model\nname: m\ninput: {{shape: [6, 5]}}\nlayers:\n  - {}\n  - last_step\n",
            layer);
        Diagnostics diagnostics;
        const JobSpec job = load_job("model.yaml", load, diagnostics);
        const Graph graph = build_graph(job, 1, diagnostics);
        REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.render(false));
        std::deque<std::vector<float>> memory;
        std::deque<StoredTensor> tensors;
        std::map<std::string, const StoredTensor*> weights;
        std::map<std::string, std::vector<float>> by_role;
        for (const Parameter& parameter : graph.parameters) {
            auto& numbers = memory.emplace_back();
            for (std::int64_t i = 0; i < element_count(parameter.dims); ++i)
                numbers.push_back(0.25F * float(i + 1) + float(memory.size()));
            weights[parameter.name] = &tensors.emplace_back(
                StoredTensor{parameter.name, DType::f32, parameter.dims,
                             std::as_bytes(std::span(numbers.data(), numbers.size()))});
            by_role[parameter.name.substr(parameter.name.rfind('.') + 1)] = numbers;
        }
        for (const int opset : {kLeastOpset, kMostOpset}) {
            const ExportedModel made = export_graph(graph, weights, {.opset = opset});
            const std::string bytes = write_model(made.model);
            Constants constants(".", bytes.size());
            const ImportedModel read = imported(read_model(bytes), constants);
            expect_no_refusal(read);
            CHECK(read.tensors.size() == by_role.size());
            for (const StoredTensor& tensor : read.tensors)
                CHECK(numbers_of_tensor(read, tensor.name) ==
                      by_role[tensor.name.substr(tensor.name.rfind('.') + 1)]);
            const std::string type = std::string(layer).substr(0, std::string(layer).find(':'));
            CHECK(count(read.spec, "- " + type + ": {name: ") == 1);
            const bool back = std::string(layer).find("reversed") != std::string::npos;
            CHECK(count(read.spec, "reversed: true") == (back ? 1 : 0));
        }
    }
}

}  // namespace import_test
