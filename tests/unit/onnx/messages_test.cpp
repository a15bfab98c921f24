#include "compiler/onnx/messages.hpp"

#include <doctest/doctest.h>

#include <random>

namespace messages_test {

using namespace dtnn;
using namespace dtnn::compiler::onnx;

/// A model with every kind of field.
ModelProto a_model() {
    ModelProto model;
    model.ir_version = 8;
    model.producer_name = "test";
    model.opset_import = {{"", 17}, {"other", 1}};
    model.metadata_props = {{"key", "value"}, {"empty", ""}};
    GraphProto& graph = model.graph.emplace();
    graph.name = "g";
    AttributeProto zero, text, list, tensor;
    zero.name = "zero";
    zero.i = 0;
    zero.type = kIntAttribute;
    text.name = "text";
    text.s = "";
    text.f = -0.0F;
    text.type = kTextAttribute;
    list.name = "list";
    list.ints = {-1, 0, 1, std::int64_t{1} << 62};
    list.floats = {1.5F, -2.25F};
    tensor.name = "tensor";
    TensorProto& value = tensor.t.emplace();
    value.dims = {2, 1};
    value.data_type = kDouble;
    value.double_data = {0.1, -1e300};
    value.int64_data = {-5, 7};
    graph.node.push_back({{"a", "", "b"}, {"c"}, "n", "Op", {zero, text, list, tensor}, "d"});
    graph.initializer.emplace_back().raw_data = "bytes";
    graph.initializer.back().external_data = {{"location", "x.data"}};
    ValueInfoProto input;
    input.name = "a";
    Shape& shape = input.type.emplace().tensor_type.emplace().shape.emplace();
    shape.dim = {{std::nullopt, "batch"}, {0, ""}, {3, ""}};
    graph.input.push_back(input);
    return model;
}

TEST_CASE("what is written is read back") {
    const std::string bytes = write_model(a_model());
    const ModelProto read = read_model(bytes);
    CHECK(write_model(read) == bytes);
    const NodeProto& node = read.graph->node.at(0);
    CHECK(node.input == std::vector<std::string>{"a", "", "b"});
    REQUIRE(node.attribute.size() == 4);
    CHECK(node.attribute[0].i == 0);
    CHECK(node.attribute[1].s == "");
    CHECK(node.attribute[2].ints == a_model().graph->node[0].attribute[2].ints);
    CHECK(node.attribute[3].t->double_data == std::vector<double>{0.1, -1e300});
    CHECK(read.graph->input[0].type->tensor_type->shape->dim[0].parameter == "batch");
    CHECK(read.graph->input[0].type->tensor_type->shape->dim[1].value == 0);
    CHECK(read.graph->initializer[0].raw_data.data() >= bytes.data());
}

TEST_CASE("unknown fields are passed over, and lists may be unpacked") {
    ProtobufMessage tensor;
    tensor.integer(1, 2).integer(1, 3).text(99, "new").single(4, 1.5F).single(4, 2.5F);
    ProtobufMessage graph;
    graph.message(5, tensor).real(77, 1);
    ProtobufMessage model;
    model.message(7, graph);
    const ModelProto read = read_model(model.bytes());
    const TensorProto& made = read.graph->initializer.at(0);
    CHECK(made.dims == std::vector<std::int64_t>{2, 3});
    CHECK(made.float_data == std::vector<float>{1.5F, 2.5F});
}

std::size_t fault_of(std::string_view bytes, const char* fact) {
    try {
        read_model(bytes);
    } catch (const ProtobufError& error) {
        CHECK(std::string(error.what()).find(fact) != std::string::npos);
        return error.offset();
    }
    FAIL("it was read: " << fact);
    return 0;
}

TEST_CASE("bytes that are no model are refused with their place") {
    CHECK(fault_of("\x3a\x05"
                   "ab",
                   "says that it has 5 bytes, but 2 are left") == 2);
    CHECK(fault_of("\x08", "within a number") == 1);
    CHECK(fault_of("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", "more than 10 bytes") == 11);
    CHECK(fault_of("\x3b", "wire type 3") == 1);
    CHECK(fault_of(std::string_view("\x00\x00", 2), "key of a field is none") == 1);
    CHECK(fault_of("\x38\x01", "another wire type") == 0);
    CHECK(fault_of("\x3a\x04\x2a\x02\x22\x01", "says that it has") > 0);
    // Of a part, the place in the file.
    CHECK(fault_of("\x3a\x05\x2a\x03\x22\x01x", "ends within one") == 4);
}

TEST_CASE("parts that would take far more memory than bytes are refused") {
    ProtobufMessage graph;
    for (int i = 0; i < 200'000; ++i)
        graph.text(1, "");
    ProtobufMessage model;
    model.message(7, graph);
    fault_of(model.bytes(), "far more memory");
}

TEST_CASE("damaged files give an error or a model") {
    const std::string sound = write_model(a_model());
    std::mt19937 random(1);  // NOLINT: the same cases every time
    for (int i = 0; i < 20'000; ++i) {
        std::string bytes = sound;
        for (int edit = 0; edit < 3; ++edit)
            bytes[random() % bytes.size()] = char(random());
        if (i % 3 == 0) bytes.resize(random() % bytes.size());
        try {
            read_model(bytes);
        } catch (const ProtobufError& error) {
            CHECK(error.offset() <= bytes.size());
        }
    }
}

}  // namespace messages_test
