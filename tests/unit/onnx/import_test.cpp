#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/unit/onnx/small_models.hpp"

namespace import_test {

TEST_CASE("a network comes in with its names and weights") {
    Constants constants(".", 0);
    TensorProto zero = integers("zero", {0});
    zero.dims.clear();
    const ImportedModel read =
        imported(model({{{"x", "features.0.weight", "features.0.bias"},
                         {"a"},
                         "/features/0/Conv",
                         "Conv",
                         {ints("pads", {1, 1, 1, 1})},
                         {}},
                        {{"a"}, {"b"}, "/relu/Relu", "Relu", {}, {}},
                        {{"b"}, {"c"}, "", "Shape", {}, {}},
                        {{"c", "zero"}, {"d"}, "", "Gather", {}, {}},
                        {{"d", "axes"}, {"e"}, "", "Unsqueeze", {}, {}},
                        {{"e", "rest"}, {"f"}, "", "Concat", {}, {}},
                        {{"b", "f"}, {"g"}, "/Reshape", "Reshape", {}, {}},
                        {{"g", "fc.weight"}, {"h"}, "/fc/MatMul", "MatMul", {}, {}},
                        {{"h", "fc.bias"}, {"y"}, "/fc/Add", "Add", {}, {}}},
                       {floats("features.0.weight", {2, 1, 3, 3}), floats("features.0.bias", {2}),
                        zero, integers("axes", {0}), integers("rest", {-1}),
                        floats("fc.weight", {32, 3}), floats("fc.bias", {3}, 5)},
                       {1, 4, 4}, 13),
                 constants);
    REQUIRE_MESSAGE(read.refusals.empty(), read.refusals[0].place, read.refusals[0].text);
    CHECK(read.spec ==
          "kind: model\nname: net\ninput: {shape: [1, 4, 4]}\nlayers:\n"
          "  - conv2d: {name: features_0, filters: 2, padding: 1}\n"
          "  - relu: {name: relu}\n"
          "  - flatten: {name: Reshape}\n"
          "  - dense: {name: fc, units: 3}\n");
    REQUIRE(read.tensors.size() == 4);
    for (const StoredTensor& tensor : read.tensors)
        if (tensor.name == "fc.bias") {
            float first = 0;
            std::memcpy(&first, tensor.bytes.data(), sizeof first);
            CHECK(first == 5);
        }
}

TEST_CASE("what works on rows of images with channels last has its numbers in our order") {
    Constants constants(".", 0);
    const auto row = [](const char* name) { return floats(name, {12}); };
    const ImportedModel read =
        imported(model({{{"x"}, {"a"}, "t", "Transpose", {ints("perm", {0, 3, 1, 2})}, {}},
                        {{"a"}, {"b"}, "r", "Relu", {}, {}},
                        {{"b"}, {"c"}, "u", "Transpose", {ints("perm", {0, 2, 3, 1})}, {}},
                        {{"c"}, {"d"}, "f", "Flatten", {}, {}},
                        {{"d", "s", "o", "m", "v"}, {"e"}, "n", "BatchNormalization", {}, {}},
                        {{"e", "g", "p"}, {"h"}, "l", "LayerNormalization", {}, {}},
                        {{"h", "q"}, {"i"}, "z", "PRelu", {}, {}},
                        {{"i", "k"}, {"j"}, "c", "Mul", {}, {}},
                        {{"j", "w"}, {"y"}, "m", "MatMul", {}, {}}},
                       {row("s"), row("o"), row("m"), row("v"), row("g"), row("p"), row("q"),
                        row("k"), floats("w", {12, 1})},
                       {2, 2, 3}),
                 constants);
    REQUIRE(read.refusals.empty());
    CHECK(read.tensors.size() == 9);
    for (const StoredTensor& tensor : read.tensors) {
        std::vector<float> numbers(12);
        REQUIRE(tensor.bytes.size() == 48);
        std::memcpy(numbers.data(), tensor.bytes.data(), 48);
        // Number (c, h, w) of ours is number (h, w, c) of the file's.
        const std::vector<float> ours{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11};
        CHECK_MESSAGE(numbers == ours, tensor.name);
    }
    CHECK(read.spec.find("shape: [3, 2, 2]") != std::string::npos);
}

TEST_CASE(
    "images with channels last may be scaled before they are turned, and stay last in results") {
    Constants constants(".", 0);
    const std::vector<NodeProto> scaled{{{"x", "s"}, {"a"}, "m", "Mul", {}, {}},
                                        {{"a", "o"}, {"b"}, "p", "Add", {}, {}}};
    std::vector<NodeProto> nodes = scaled;
    nodes.push_back({{"b"}, {"c"}, "t", "Transpose", {ints("perm", {0, 3, 1, 2})}, {}});
    nodes.push_back({{"c"}, {"d"}, "g", "MaxPool", {ints("kernel_shape", {2, 2})}, {}});
    nodes.push_back({{"d"}, {"y"}, "u", "Transpose", {ints("perm", {0, 2, 3, 1})}, {}});
    const std::vector<TensorProto> factors{floats("s", {1}, 2), floats("o", {1, 1, 1, 3}, 1)};
    const ImportedModel turned = imported(model(nodes, factors, {4, 5, 3}), constants);
    REQUIRE(turned.refusals.empty());
    CHECK(turned.spec.find("shape: [3, 4, 5]") != std::string::npos);

    // One channel has the same numbers wherever it stands.
    nodes = scaled;
    nodes.push_back({{"b", "shape"}, {"c"}, "t", "Reshape", {}, {}});
    nodes.push_back({{"c"}, {"y"}, "g", "MaxPool", {ints("kernel_shape", {2, 2})}, {}});
    const ImportedModel one = imported(
        model(nodes,
              {floats("s", {1}, 2), floats("o", {1, 1, 1, 1}, 1), integers("shape", {-1, 1, 4, 5})},
              {4, 5, 1}),
        constants);
    REQUIRE(one.refusals.empty());
    CHECK(one.spec.find("shape: [1, 4, 5]") != std::string::npos);

    // Where something else looks at the axes first, they are the file's.
    nodes = scaled;
    nodes.push_back({{"b"}, {"y"}, "g", "MaxPool", {ints("kernel_shape", {2, 2})}, {}});
    const ImportedModel first =
        imported(model(nodes, {floats("s", {1}, 2), floats("o", {1}, 1)}, {4, 5, 3}), constants);
    REQUIRE(first.refusals.empty());
    CHECK(first.spec.find("shape: [4, 5, 3]") != std::string::npos);
}

TEST_CASE("channels that are shuffled, and pixels that are repeated, are layers") {
    Constants constants(".", 0);
    const ImportedModel shuffled = imported(
        model({{{"x", "apart"}, {"a"}, "r", "Reshape", {}, {}},
               {{"a"}, {"b"}, "t", "Transpose", {ints("perm", {0, 2, 1, 3, 4})}, {}},
               {{"b", "again"}, {"y"}, "s", "Reshape", {}, {}}},
              {integers("apart", {-1, 3, 2, 5, 5}), integers("again", {-1, 6, 5, 5})}, {6, 5, 5}),
        constants);
    REQUIRE(shuffled.refusals.empty());
    // Of three groups of two channels: the first of each, and the second.
    CHECK(shuffled.layers == 1 + 2 + 2 + 2);
    CHECK(shuffled.spec.find("shape: [3, 50]") != std::string::npos);
    const ImportedModel repeated =
        imported(model({{{"x", "axis"}, {"a"}, "u", "Unsqueeze", {}, {}},
                        {{"a", "repeats"}, {"b"}, "t", "Tile", {}, {}},
                        {{"b", "shape"}, {"y"}, "r", "Reshape", {}, {}}},
                       {integers("axis", {3}), integers("repeats", {1, 1, 1, 2, 1}),
                        integers("shape", {-1, 1, 6, 4})},
                       {1, 3, 4}),
                 constants);
    REQUIRE(repeated.refusals.empty());
    CHECK(repeated.spec.find("size: [6, 4]") != std::string::npos);
}

TEST_CASE("convolutions over steps are of images of height 1") {
    Constants constants(".", 0);
    const std::vector<TensorProto> filters{floats("w", {2, 3, 3})};
    const NodeProto conv{{"t", "w"}, {"y"}, "c", "Conv", {ints("pads", {1, 1})}, {}};
    const auto spec_of = [&](std::vector<NodeProto> nodes, const std::vector<std::int64_t>& input) {
        const ImportedModel read = imported(model(std::move(nodes), filters, input), constants);
        REQUIRE_MESSAGE(read.refusals.empty(), read.refusals[0].text);
        std::vector<float> weights(18);
        for (const StoredTensor& tensor : read.tensors)
            std::memcpy(weights.data(), tensor.bytes.data(), tensor.bytes.size());
        return std::pair(read.spec, weights);
    };
    const auto [first, as_they_are] = spec_of({{{"x"}, {"t"}, "", "Relu", {}, {}}, conv}, {3, 8});
    CHECK(first.find("shape: [3, 1, 8]") != std::string::npos);
    CHECK(first.find("kernel: [1, 3], padding: [0, 1]") != std::string::npos);
    CHECK(as_they_are[1] == 1);
    // Features behind the steps: one row of numbers, three of them a step.
    const auto [last, turned] =
        spec_of({{{"x"}, {"t"}, "", "Transpose", {ints("perm", {0, 2, 1})}, {}}, conv}, {8, 3});
    CHECK(last.find("shape: [1, 1, 24]") != std::string::npos);
    CHECK(last.find("kernel: [1, 9], stride: [1, 3], padding: [0, 3]") != std::string::npos);
    CHECK(turned[1] == 3);
    // Gaps: a filter as wide as the features.
    NodeProto wide = conv;
    wide.attribute.push_back(ints("dilations", {2}));
    const auto [gaps, as_wide] =
        spec_of({{{"x"}, {"t"}, "", "Transpose", {ints("perm", {0, 2, 1})}, {}}, wide}, {8, 3});
    CHECK(gaps.find("shape: [1, 8, 3]") != std::string::npos);
    CHECK(gaps.find("dilation: [2, 1]") != std::string::npos);
    CHECK(as_wide == turned);
}

TEST_CASE("images have their channels last where the network can be said so alone") {
    Constants constants(".", 0);
    const auto shape_of = [&](std::vector<NodeProto> nodes, std::vector<TensorProto> tensors) {
        nodes.push_back({{"a", "w"}, {"b"}, "c", "Conv", {}, {}});
        nodes.push_back({{"b"}, {"y"}, "g", "GlobalMaxPool", {}, {}});
        tensors.push_back(floats("w", {2, 3, 1, 1}));
        const ImportedModel read =
            imported(model(std::move(nodes), std::move(tensors), {3, 5, 3}), constants);
        REQUIRE_MESSAGE(read.refusals.empty(), read.refusals[0].text);
        return read.spec.substr(read.spec.find("shape"), 16);
    };
    const NodeProto turn{{"n"}, {"a"}, "t", "Transpose", {ints("perm", {0, 3, 1, 2})}, {}};
    const std::vector<TensorProto> both{floats("s", {3}), floats("o", {3})};
    CHECK(shape_of({{{"x", "s", "o"}, {"n"}, "l", "LayerNormalization", {}, {}}, turn}, both) ==
          "shape: [3, 3, 5]");
    CHECK(shape_of({{{"x", "m"}, {"n"}, "l", "MatMul", {}, {}}, turn}, {floats("m", {3, 3})}) ==
          "shape: [3, 3, 5]");
    CHECK(shape_of({{{"x"}, {"n"}, "l", "Tanh", {}, {}}, turn}, {}) == "shape: [3, 3, 5]");
    CHECK(shape_of({{{"x"}, {"a"}, "l", "Tanh", {}, {}}}, {}) == "shape: [3, 5, 3]");
}

TEST_CASE("blocks of pixels become channels, and channels pixels") {
    Constants constants(".", 0);
    AttributeProto size;
    size.name = "blocksize";
    size.i = 2;
    for (const char* op : {"DepthToSpace", "SpaceToDepth"}) {
        const ImportedModel read =
            imported(model({{{"x"}, {"y"}, "n", op, {size}, {}}}, {}, {4, 2, 6}), constants);
        REQUIRE_MESSAGE(read.refusals.empty(), read.refusals[0].text);
        const bool pixels = std::string(op) == "DepthToSpace";
        CHECK(read.spec.find(pixels ? "shape: [1, 4, 12]" : "shape: [16, 1, 3]") !=
              std::string::npos);
    }
}

TEST_CASE("what is as long as 1 is repeated beside what is longer") {
    Constants constants(".", 0);
    const ImportedModel read =
        imported(model({{{"x"}, {"m"}, "m", "ReduceMean", {ints("axes", {1})}, {}},
                        {{"x", "m"}, {"y"}, "a", "Add", {}, {}}},
                       {}, {6, 4, 5}),
                 constants);
    REQUIRE_MESSAGE(read.refusals.empty(), read.refusals[0].text);
    // 6 is 2 and twice 2.
    CHECK(read.layers == 2 + 3 + 1);
}

TEST_CASE("means, sums and products that normalise are a layer") {
    // As PyTorch writes it, (x - mean) / sqrt(variance + epsilon), and as Keras does,
    // x * gamma / sqrt(variance + epsilon) - mean * gamma / sqrt(variance + epsilon).
    const std::vector<NodeProto> both{{{"x"}, {"m"}, "", "ReduceMean", {ints("axes", {-1})}, {}},
                                      {{"x", "m"}, {"d"}, "", "Sub", {}, {}},
                                      {{"d", "d"}, {"q"}, "", "Mul", {}, {}},
                                      {{"q"}, {"v"}, "", "ReduceMean", {ints("axes", {-1})}, {}},
                                      {{"v", "epsilon"}, {"e"}, "", "Add", {}, {}},
                                      {{"e"}, {"s"}, "", "Sqrt", {}, {}}};
    std::vector<NodeProto> torch = both, keras = both;
    torch.push_back({{"d", "s"}, {"n"}, "", "Div", {}, {}});
    torch.push_back({{"n", "gamma"}, {"y"}, "", "Mul", {}, {}});
    keras.push_back({{"s"}, {"r"}, "", "Reciprocal", {}, {}});
    keras.push_back({{"r", "gamma"}, {"g"}, "", "Mul", {}, {}});
    keras.push_back({{"x", "g"}, {"a"}, "", "Mul", {}, {}});
    keras.push_back({{"m", "g"}, {"b"}, "", "Mul", {}, {}});
    keras.push_back({{"a", "b"}, {"y"}, "", "Sub", {}, {}});
    for (const std::vector<NodeProto>& nodes : {torch, keras}) {
        Constants constants(".", 0);
        TensorProto epsilon = floats("epsilon", {1}, 0.001F);
        const ImportedModel read =
            imported(model(nodes, {epsilon, floats("gamma", {4}, 2)}, {3, 4}), constants);
        REQUIRE_MESSAGE(read.refusals.empty(), read.refusals[0].text);
        CHECK(read.layers == 1);
        CHECK(read.spec.find("layer_norm: {name: ") != std::string::npos);
        CHECK(read.spec.find("epsilon: 0.001") != std::string::npos);
        REQUIRE(read.tensors.size() == 2);
        float last = 0;
        std::memcpy(&last, read.tensors[1].bytes.data() + 12, sizeof last);
        CHECK(std::abs(last - 5) < 1e-5);
    }
    // A mean of which nothing of the kind becomes.
    Constants constants(".", 0);
    const ImportedModel other = imported(
        model({both[0], both[1], {{"d"}, {"y"}, "n", "Relu", {}, {}}}, {}, {3, 4}), constants);
    REQUIRE(other.refusals.size() == 1);
    CHECK(other.refusals[0].place == "node `n` (Relu)");
}

TEST_CASE("whatever cannot be said is refused at once, with node and operator") {
    Constants constants(".", 0);
    const ImportedModel read =
        imported(model({{{"x"}, {"a"}, "first", "Loop", {}, {}},
                        {{"a"}, {"b"}, "behind", "Relu", {}, {}},
                        {{"x"}, {"c"}, "second", "Einsum", {}, {}},
                        {{"x", "nothing"}, {"d"}, "third", "Add", {}, {}},
                        {{"x", "n"}, {"e"}, "fourth", "Reshape", {}, {}},
                        {{"x"}, {"g"}, "fifth", "Special", {}, "com.example"},
                        {{"x"}, {"y"}, "", "Relu", {}, {}}},
                       {integers("n", {2, 3})}, {6}),
                 constants);
    std::string places;
    for (const Refusal& refusal : read.refusals)
        places += refusal.place + "; ";
    CHECK(places ==
          "node `first` (Loop); node `second` (Einsum); node `third` (Add); node "
          "`fourth` (Reshape); node `fifth` (Special); ");
}

TEST_CASE("a number where a list must stand is refused") {
    Constants constants(".", 0);
    AttributeProto one;
    one.name = "strides";
    one.i = 2;
    const ImportedModel read = imported(model({{{"x", "w"}, {"y"}, "c", "Conv", {one}, {}}},
                                              {floats("w", {2, 3, 3, 3})}, {3, 8, 8}),
                                        constants);
    REQUIRE(read.refusals.size() == 1);
    CHECK(read.refusals[0].text == "its `strides` must be a list of integers");
}

TEST_CASE("files of another version, without a graph or with an unsound input are refused") {
    Constants constants(".", 0);
    CHECK(imported(ModelProto(), constants).refusals.size() == 1);
    CHECK(imported(model({}, {}, {3}, 6), constants).refusals.size() == 1);
    CHECK(imported(model({{{"x"}, {"y"}, "n", "Relu", {}, {}}}, {}, {3, 0, 3}), constants)
              .refusals.at(0)
              .place == "the input `x`");
}

TEST_CASE("weights are read from files beside the model alone, and no link is followed") {
    const auto folder = std::filesystem::temp_directory_path() /
                        fmt::format("dtnn-onnx-{}", static_cast<long>(::getpid()));
    std::filesystem::create_directories(folder / "inner");
    std::ofstream(folder / "inner" / "w.data", std::ios::binary) << std::string(16, '\0');
    std::ofstream(folder / "outside", std::ios::binary) << std::string(16, '\0');
    std::filesystem::create_symlink("w.data", folder / "inner" / "link");
    const auto fault = [&](const std::string& location, const std::string& offset = "0") {
        TensorProto tensor = floats("w", {4});
        tensor.float_data.clear();
        tensor.data_location = kExternal;
        tensor.external_data = {{"location", location}, {"offset", offset}};
        Constants constants((folder / "inner").string(), 0);
        try {
            return constants.read(tensor).elements() == 4 ? std::string()
                                                          : std::string("other numbers");
        } catch (const Refused& refused) {
            return std::string(refused.what());
        }
    };
    CHECK(fault("w.data").empty());
    CHECK(fault("link").find("is a link") != std::string::npos);
    for (const char* location : {"../outside", "/etc/hostname", "", ".", "./w.data"})
        CHECK_MESSAGE(fault(location).find("none of the model's folder") != std::string::npos,
                      location);
    CHECK(fault("w.data", "1").find("does not have 16 bytes") != std::string::npos);
    CHECK(fault("w.data", "-1").find("does not have") != std::string::npos);
    CHECK(fault("none").find("cannot be opened") != std::string::npos);
    std::filesystem::remove_all(folder);
}

TEST_CASE("numbers that are none are refused") {
    Constants constants(".", 0);
    TensorProto scales = floats("s", {4}, 1);
    scales.float_data = {1, 1, std::nanf(""), 2};
    const ImportedModel read = imported(
        model({{{"x", "", "s"}, {"y"}, "n", "Resize", {}, {}}}, {scales}, {1, 2, 2}), constants);
    REQUIRE(read.refusals.size() == 1);
    CHECK(read.refusals[0].place == "node `n` (Resize)");
}

TEST_CASE("every operator that is listed is read") {
    for (const char* op : {"Conv", "Relu", "Gelu", "Mish", "Reshape", "Constant"})
        CHECK(is_read(op));
    CHECK(!is_read("Loop"));
}

TEST_CASE("small files do not become much memory") {
    Constants constants(".", 0);
    std::vector<NodeProto> nodes;
    std::vector<TensorProto> tensors{integers("n", {1 << 24})};
    for (int i = 0; i < 20; ++i)
        nodes.push_back({{"n"}, {fmt::format("c{}", i)}, "n", "ConstantOfShape", {}, {}});
    nodes.push_back({{"x"}, {"y"}, "r", "Relu", {}, {}});
    const ImportedModel read = imported(model(nodes, tensors, {3}), constants);
    REQUIRE(!read.refusals.empty());
    CHECK(read.refusals[0].text.find("far more numbers") != std::string::npos);
}

TEST_CASE("parts that do not make up the whole are refused") {
    constexpr std::int64_t kMany = std::int64_t{1} << 50;
    AttributeProto axis;
    axis.name = "axis";
    axis.i = 1;
    for (const char* split : {"x", "w"})  // a value of the network, and a constant
        for (const std::vector<std::int64_t>& parts : {std::vector<std::int64_t>{4, 2},
                                                       {kMany, kMany},
                                                       {6 + kMany, -kMany},
                                                       {-1, 7},
                                                       {3, 2},
                                                       {6},
                                                       {2, 2, 2}}) {
            Constants constants(".", 0);
            const ImportedModel read =
                imported(model({{{split, "parts"}, {"a", "b"}, "cut", "Split", {axis}, {}},
                                {{"x"}, {"y"}, "", "Relu", {}, {}}},
                               {integers("parts", parts), floats("w", {2, 6})}, {6}),
                         constants);
            const bool whole = parts == std::vector<std::int64_t>{4, 2};
            REQUIRE(read.refusals.size() == (whole ? 0 : 1));
            if (!whole) CHECK(read.refusals[0].place == "node `cut` (Split)");
        }
}

}  // namespace import_test
