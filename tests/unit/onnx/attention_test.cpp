#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "compiler/frontend/specs.hpp"
#include "compiler/onnx/in/import.hpp"

namespace attention_test {

using namespace dtnn;
using namespace dtnn::compiler;
using namespace dtnn::compiler::onnx;

using Integers = std::vector<std::int64_t>;

/// A file of nodes, built node by node.
class File {
  public:
    explicit File(std::int64_t opset = 17) {
        model_.opset_import = {{"", opset}};
        model_.graph.emplace();
    }

    /// `batch` 0: any.
    std::string input(const std::string& name, const Integers& dims, std::int64_t batch = 0,
                      std::int64_t type = kFloat) {
        ValueInfoProto made;
        made.name = name;
        auto& tensor = made.type.emplace().tensor_type.emplace();
        tensor.elem_type = type;
        auto& shape = tensor.shape.emplace();
        if (batch > 0)
            shape.dim.push_back({batch, {}});
        else
            shape.dim.push_back({std::nullopt, "batch"});
        for (const std::int64_t extent : dims)
            shape.dim.push_back({extent, {}});
        model_.graph->input.push_back(made);
        return name;
    }

    std::string floats(const Integers& dims, std::vector<float> numbers) {
        TensorProto made;
        made.name = unique("c");
        made.data_type = kFloat;
        made.dims = dims;
        made.float_data = std::move(numbers);
        model_.graph->initializer.push_back(made);
        return made.name;
    }
    std::string ramp(const Integers& dims, float first = 0) {
        std::vector<float> numbers;
        for (std::int64_t i = 0; i < element_count(dims); ++i)
            numbers.push_back(first + float(i));
        return floats(dims, std::move(numbers));
    }
    std::string number(float value) { return floats({1}, {value}); }
    std::string integers(Integers values, bool scalar = false) {
        TensorProto made;
        made.name = unique("i");
        made.data_type = kInt64;
        if (!scalar) made.dims = {std::int64_t(values.size())};
        made.int64_data = std::move(values);
        model_.graph->initializer.push_back(made);
        return made.name;
    }

    std::string node(const char* op, std::vector<std::string> inputs,
                     std::vector<AttributeProto> attributes = {}) {
        std::string name = unique(op);
        model_.graph->node.push_back(
            {std::move(inputs), {name}, name, op, std::move(attributes), {}});
        return name;
    }

    ImportedModel read(const std::string& output) {
        model_.graph->output.resize(1);
        model_.graph->output[0].name = output;
        ImportedModel made = import_model(model_, "net", constants_);
        if (!made.refusals.empty()) return made;
        LoadOptions load;
        load.texts["net.yaml"] = made.spec;
        Diagnostics diagnostics;
        const JobSpec job = load_job("net.yaml", load, diagnostics);
        REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.render(false), made.spec);
        CHECK(build_graph(job, 1, diagnostics).parameters.size() == made.tensors.size());
        return made;
    }

  private:
    std::string unique(const std::string& name) { return fmt::format("{}_{}", name, ++count_); }

    ModelProto model_;
    Constants constants_{".", 0};
    int count_ = 0;
};

AttributeProto ints(const char* name, Integers values) {
    AttributeProto made;
    made.name = name;
    made.ints = std::move(values);
    return made;
}

AttributeProto integer(const char* name, std::int64_t value) {
    AttributeProto made;
    made.name = name;
    made.i = value;
    return made;
}

AttributeProto real(const char* name, float value) {
    AttributeProto made;
    made.name = name;
    made.f = value;
    return made;
}

bool has(const ImportedModel& read, const std::string& text) {
    REQUIRE_MESSAGE(read.refusals.empty(), read.refusals[0].place, read.refusals[0].text);
    return read.spec.find(text) != std::string::npos;
}

std::string refusal(const ImportedModel& read) {
    REQUIRE_MESSAGE(read.refusals.size() == 1, read.spec);
    CHECK(!read.refusals[0].help.empty());
    return read.refusals[0].place + ": " + read.refusals[0].text;
}

const Integers kByHead{0, 2, 1, 3}, kTurned{0, 2, 3, 1};

/// Three dense layers side by side over 5 steps of 8 features, in parts that are heads.
struct Heads {
    std::string query, key, value;
};
Heads heads_of(File& file, std::int64_t heads) {
    const std::string x = file.input("x", {5, 8});
    const std::string all = file.node("MatMul", {x, file.ramp({8, 24})});
    const auto part = [&](std::int64_t i, const Integers& order) {
        const std::string slice = file.node(
            "Slice", {all, file.integers({8 * i}), file.integers({8 * i + 8}), file.integers({2})});
        const std::string apart =
            file.node("Reshape", {slice, file.integers({0, 0, heads, 8 / heads})});
        return file.node("Transpose", {apart}, {ints("perm", order)});
    };
    Heads made;
    made.query = part(0, kByHead);
    made.key = part(1, kTurned);
    made.value = part(2, kByHead);
    return made;
}

std::string joined(File& file, const std::string& value) {
    const std::string back = file.node("Transpose", {value}, {ints("perm", kByHead)});
    return file.node("Reshape", {back, file.integers({0, 0, 8})});
}

std::string causal_mask(File& file, float unseen) {
    std::vector<float> numbers;
    for (int i = 0; i < 25; ++i)
        numbers.push_back(i % 5 > i / 5 ? unseen : 0);
    return file.floats({1, 1, 5, 5}, numbers);
}

TEST_CASE("products, a softmax and a product are attention") {
    File file;
    const Heads h = heads_of(file, 2);
    const std::string scores = file.node("MatMul", {h.query, h.key});
    const std::string scaled = file.node("Div", {scores, file.number(2)});
    const std::string shares = file.node("Softmax", {scaled}, {integer("axis", -1)});
    const ImportedModel read = file.read(joined(file, file.node("MatMul", {shares, h.value})));
    // The root of a head's 4 numbers goes without saying, and of its slices none is left.
    CHECK(has(read, "attention: {name: MatMul_"));
    CHECK(has(read, "heads: 2}"));
    CHECK(read.layers == 2);
}

TEST_CASE("queries and keys may be scaled by themselves, and masks are causal or none") {
    for (const float unseen : {-INFINITY, -1e30F, -1e4F, 0.0F}) {
        File file;
        const Heads h = heads_of(file, 4);
        const std::string query = file.node("Mul", {h.query, file.number(0.5)});
        const std::string key = file.node("Mul", {file.number(0.5), h.key});
        const std::string scores = file.node("MatMul", {query, key});
        const std::string masked = file.node("Add", {scores, causal_mask(file, unseen)});
        const std::string shares = file.node("Softmax", {masked});
        const ImportedModel read = file.read(joined(file, file.node("MatMul", {shares, h.value})));
        CHECK(has(read, "heads: 4"));
        CHECK(has(read, "scale: 0.25"));
        CHECK(has(read, "causal: true") == (unseen != 0));
        CHECK(read.layers == 2);
    }
}

TEST_CASE("the mask may be worked out, and chosen by Where") {
    File file;
    const Heads h = heads_of(file, 2);
    const std::string scores = file.node("MatMul", {h.query, h.key});
    const std::string ones = file.node("Expand", {file.number(1), file.integers({5, 5})});
    const std::string lower = file.node("Trilu", {ones}, {integer("upper", 0)});
    const std::string unseen = file.node("Equal", {lower, file.number(0)});
    const std::string masked = file.node("Where", {unseen, file.number(-INFINITY), scores});
    const std::string shares = file.node("Softmax", {masked});
    const ImportedModel read = file.read(joined(file, file.node("MatMul", {shares, h.value})));
    CHECK(has(read, "causal: true"));
}

TEST_CASE("heads may share keys and values") {
    File file;
    const std::string x = file.input("x", {5, 8});
    const auto part = [&](std::int64_t heads, const Integers& order, bool repeats) {
        const std::string dense = file.node("MatMul", {x, file.ramp({8, 2 * heads})});
        const std::string apart = file.node("Reshape", {dense, file.integers({0, 5, heads, 2})});
        std::string turned = file.node("Transpose", {apart}, {ints("perm", order)});
        if (!repeats) return turned;
        return file.node("Gather", {turned, file.integers({0, 0, 1, 1})}, {integer("axis", 1)});
    };
    const std::string query = part(4, kByHead, false), key = part(2, kTurned, true);
    const std::string value = part(2, kByHead, true);
    const std::string shares = file.node("Softmax", {file.node("MatMul", {query, key})});
    const ImportedModel read = file.read(joined(file, file.node("MatMul", {shares, value})));
    CHECK(has(read, "heads: 4, key_value_heads: 2"));
    CHECK(read.layers == 4);
}

TEST_CASE("the batch may stand behind the steps, as PyTorch's attention has it") {
    for (const std::int64_t batch : {0, 2, 1}) {
        File file;
        const std::string x = file.input("x", {5, 8}, batch);
        // The batch and the heads of one axis; of any batch by its size as a number of a shape.
        const std::string n = file.node("Gather", {file.node("Shape", {x}), file.integers({0})},
                                        {integer("axis", 0)});
        const auto times = [&](std::int64_t heads) {
            return file.node("Mul", {n, file.integers({heads})});
        };
        const auto shape = [&](const std::vector<std::string>& parts) {
            return file.node("Concat", parts, {integer("axis", 0)});
        };
        const auto extents = [&](Integers values) { return file.integers(std::move(values)); };
        const std::string first = file.node("Transpose", {x}, {ints("perm", {1, 0, 2})});
        const std::string dense =
            file.node("Add", {file.ramp({24}), file.node("MatMul", {first, file.ramp({8, 24})})});
        const std::string apart =
            file.node("Reshape", {dense, shape({extents({5}), n, extents({3, 8})})});
        const std::string three = file.node("Transpose", {apart}, {ints("perm", {2, 0, 1, 3})});
        const auto part = [&](std::int64_t i, const Integers& order) {
            const std::string one =
                file.node("Gather", {three, file.integers({i}, true)}, {integer("axis", 0)});
            const std::string heads =
                file.node("Reshape", {one, shape({extents({5}), times(2), extents({4})})});
            return file.node("Transpose", {heads}, {ints("perm", order)});
        };
        const std::string query = part(0, {1, 0, 2}), key = part(1, {1, 2, 0});
        const std::string value = part(2, {1, 0, 2});
        const std::string shares = file.node("Softmax", {file.node("MatMul", {query, key})});
        const std::string weighed = file.node("MatMul", {shares, value});
        const std::string turned = file.node("Transpose", {weighed}, {ints("perm", {1, 0, 2})});
        const std::string rows = file.node("Reshape", {turned, shape({times(5), extents({8})})});
        const std::string out = file.node("Gemm", {rows, file.ramp({8, 8}), file.ramp({8})});
        const std::string steps =
            file.node("Reshape", {out, shape({extents({5}), n, extents({8})})});
        const std::string back = file.node("Transpose", {steps}, {ints("perm", {1, 0, 2})});
        const ImportedModel read = file.read(file.node("Add", {x, back}));
        CHECK(has(read, "heads: 2, scale: 1"));
        CHECK(read.layers == 4);
        CHECK(read.tensors.size() == 4);
    }
}

TEST_CASE("scores that are read otherwise are refused, those of one head become layers") {
    const auto of = [](std::int64_t heads, const char* op) {
        File file;
        const Heads h = heads_of(file, heads);
        return file.read(file.node(op, {file.node("MatMul", {h.query, h.key})}));
    };
    CHECK(refusal(of(2, "Relu")).find("(Relu): it reads products of queries") != std::string::npos);
    const auto by_hand = [](const char* op) {
        File file;
        const std::string x = file.input("x", {5, 8});
        const std::string key = file.node("Transpose", {x}, {ints("perm", {0, 2, 1})});
        const std::string scores = file.node("MatMul", {x, key});
        return file.read(file.node(op, {scores}));
    };
    CHECK(has(by_hand("Relu"), "matmul: {name: MatMul_"));
    CHECK(has(by_hand("Relu"), "transpose_second: true"));
    CHECK(has(by_hand("Softmax"), "softmax: {name: Softmax_"));
}

TEST_CASE("what attention here has not is refused in words") {
    const auto masked = [](const Integers& dims, float value) {
        File file;
        const Heads h = heads_of(file, 2);
        const std::string mask =
            file.floats(dims, std::vector<float>(std::size_t(element_count(dims)), value));
        const std::string scores = file.node("Add", {file.node("MatMul", {h.query, h.key}), mask});
        const std::string shares = file.node("Softmax", {scores});
        return refusal(file.read(joined(file, file.node("MatMul", {shares, h.value}))));
    };
    CHECK(masked({5, 5}, 0.5F).find("adds other numbers than 0") != std::string::npos);
    CHECK(masked({5, 5}, -INFINITY).find("hides other keys") != std::string::npos);
    CHECK(masked({4, 5}, 0).find("does not fit scores") != std::string::npos);
    CHECK(masked({1, 1, 1, 5, 5}, 0).find("does not fit scores") != std::string::npos);
    const auto scaled = [](float factor) {
        File file;
        const Heads h = heads_of(file, 2);
        const std::string scores =
            file.node("Mul", {file.node("MatMul", {h.query, h.key}), file.number(factor)});
        const std::string shares = file.node("Softmax", {scores});
        return refusal(file.read(joined(file, file.node("MatMul", {shares, h.value}))));
    };
    for (const float factor : {-1.0F, 0.0F, NAN, INFINITY})
        CHECK(scaled(factor).find("it multiplies products of queries and keys by") !=
              std::string::npos);
}

TEST_CASE("attention and its companions of operator set 23") {
    for (const bool flat : {true, false}) {
        File file(23);
        const Integers dims = flat ? Integers{5, 8} : Integers{2, 5, 4};
        const std::string q = file.input("q", dims), k = file.input("k", dims);
        const std::string v = file.input("v", dims);
        std::vector<AttributeProto> attributes{integer("is_causal", 1), real("scale", 0.25F)};
        if (flat) {
            attributes.push_back(integer("q_num_heads", 2));
            attributes.push_back(integer("kv_num_heads", 2));
        }
        const std::string y = file.node("Attention", {q, k, v}, attributes);
        const ImportedModel read = file.read(flat ? y : file.node("Flatten", {y}));
        CHECK(has(read, "heads: 2, causal: true, scale: 0.25"));
    }
    File cached(23);
    const std::string x = cached.input("x", {5, 8}), past = cached.input("past", {2, 3, 4});
    CHECK(refusal(cached.read(cached.node("Attention", {x, x, x, "", past, past},
                                          {integer("q_num_heads", 2), integer("kv_num_heads", 2)})))
              .find("past_key") != std::string::npos);
    for (const std::int64_t heads : {0, 3, -2}) {
        File file(23);
        const std::string y = file.input("x", {5, 8});
        CHECK(refusal(
                  file.read(file.node("Attention", {y, y, y},
                                      {integer("q_num_heads", heads), integer("kv_num_heads", 2)})))
                  .find("its input 1 is") != std::string::npos);
    }
    File norm(23);
    const std::string steps = norm.input("x", {5, 8});
    CHECK(has(norm.read(norm.node("RMSNormalization", {steps, norm.ramp({8}, 1)})), "rms_norm"));
}

TEST_CASE("a root of a mean of squares that divides is a norm") {
    File file;
    const std::string x = file.input("x", {3, 4});
    const std::string mean =
        file.node("ReduceMean", {file.node("Mul", {x, x})}, {ints("axes", {-1})});
    const std::string root = file.node("Sqrt", {file.node("Add", {mean, file.number(0.001F)})});
    const std::string normal = file.node("Div", {x, root});
    const ImportedModel read = file.read(file.node("Mul", {file.ramp({4}, 2), normal}));
    CHECK(has(read, "rms_norm: {name: "));
    CHECK(has(read, "epsilon: 0.001"));
    CHECK(read.layers == 1);
    REQUIRE(read.tensors.size() == 1);
    float last = 0;
    std::memcpy(&last, read.tensors[0].bytes.data() + 12, sizeof last);
    CHECK(std::abs(last - 5) < 1e-4);
}

/// [steps, features] of what pairs of a head of `width` numbers are turned by.
std::vector<float> waves(std::int64_t steps, std::int64_t features, std::int64_t width, double base,
                         bool neighbours, bool sines) {
    std::vector<float> made;
    for (std::int64_t t = 0; t < steps; ++t)
        for (std::int64_t f = 0; f < features; ++f) {
            const std::int64_t at = f % width;
            const std::int64_t pair = neighbours ? at / 2 : at % (width / 2);
            const bool first = neighbours ? at % 2 == 0 : at < width / 2;
            const double angle = double(t) * std::pow(base, -2.0 * double(pair) / double(width));
            made.push_back(float(sines ? (first ? -1 : 1) * std::sin(angle) : std::cos(angle)));
        }
    return made;
}

TEST_CASE("pairs that are turned by an angle of their step are a rotary embedding") {
    for (const bool neighbours : {false, true})
        for (const double base : {10000.0, 500.0}) {
            File file;
            const std::string x = file.input("x", {6, 8});
            const Integers places =
                neighbours ? Integers{1, 0, 3, 2, 5, 4, 7, 6} : Integers{2, 3, 0, 1, 6, 7, 4, 5};
            const std::string exchanged =
                file.node("Gather", {x, file.integers(places)}, {integer("axis", 2)});
            const std::string kept =
                file.node("Mul", {x, file.floats({6, 8}, waves(6, 8, 4, base, neighbours, false))});
            const std::string moved = file.node(
                "Mul", {exchanged, file.floats({6, 8}, waves(6, 8, 4, base, neighbours, true))});
            const ImportedModel read = file.read(file.node("Add", {kept, moved}));
            CHECK(has(read, "rotary_embedding: {name: Add_"));
            CHECK(has(read, "heads: 2"));
            CHECK(has(read, "base: 500") == (base == 500));
            CHECK(has(read, "pairs: neighbours") == neighbours);
            CHECK(read.layers == 1);
        }
    File file;
    const std::string x = file.input("x", {6, 4});
    const std::string exchanged =
        file.node("Gather", {x, file.integers({2, 3, 0, 1})}, {integer("axis", 2)});
    const std::string kept = file.node("Mul", {x, file.ramp({6, 4})});
    const std::string moved = file.node("Mul", {exchanged, file.ramp({6, 4})});
    CHECK(refusal(file.read(file.node("Add", {kept, moved}))).find("by other angles") !=
          std::string::npos);
}

TEST_CASE("tokens are looked up, have one in front and places added") {
    File file;
    const std::string ids = file.input("ids", {5}, 0, kInt64);
    const std::string rows = file.node("Gather", {file.ramp({9, 4}), ids});
    const std::string shape =
        file.node("Concat",
                  {file.node("Gather", {file.node("Shape", {rows}), file.integers({0})}),
                   file.integers({1, 4})},
                  {integer("axis", 0)});
    const std::string token = file.node("Expand", {file.ramp({1, 1, 4}, 1), shape});
    const std::string all = file.node("Concat", {token, rows}, {integer("axis", 1)});
    const std::string placed = file.node("Add", {all, file.ramp({1, 6, 4})});
    const ImportedModel read =
        file.read(file.node("Gather", {placed, file.integers({0}, true)}, {integer("axis", 1)}));
    REQUIRE_MESSAGE(read.refusals.empty(), read.refusals[0].place, read.refusals[0].text);
    CHECK(read.spec.find("  ids: {shape: [5], axes: [step], dtype: i32, values: 9}\n") !=
          std::string::npos);
    for (const char* layer : {"- embedding: {name: ", "entries: 9, units: 4",
                              "- class_token: ", "- position_embedding: ", "- first_step: "})
        CHECK_MESSAGE(read.spec.find(layer) != std::string::npos, layer);
    CHECK(read.layers == 4);

    File other;
    const std::string numbers = other.input("ids", {5}, 0, kInt32);
    CHECK(refusal(other.read(other.node("Relu", {numbers}))).find("computes with the integers") !=
          std::string::npos);
}

TEST_CASE("patches of an image are steps") {
    File file;
    const std::string x = file.input("x", {3, 4, 4});
    const std::string conv =
        file.node("Conv", {x, file.ramp({6, 3, 2, 2})}, {ints("strides", {2, 2})});
    const std::string flat = file.node("Reshape", {conv, file.integers({0, 6, 4})});
    const std::string steps = file.node("Transpose", {flat}, {ints("perm", {0, 2, 1})});
    const ImportedModel read = file.read(file.node("Add", {steps, file.ramp({1, 4, 6})}));
    CHECK(has(read, "- pixels_to_steps"));
    CHECK(read.layers == 3);
}

}  // namespace attention_test
