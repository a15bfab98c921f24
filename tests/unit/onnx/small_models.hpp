#pragma once
/// Small files of ONNX, written by hand, and what comes of them.

#include <doctest/doctest.h>

#include "compiler/frontend/specs.hpp"
#include "compiler/onnx/in/import.hpp"

namespace import_test {

using namespace dtnn;
using namespace dtnn::compiler;
using namespace dtnn::compiler::onnx;

inline ValueInfoProto value(const std::string& name, const std::vector<std::int64_t>& dims) {
    ValueInfoProto made;
    made.name = name;
    auto& type = made.type.emplace().tensor_type.emplace();
    type.elem_type = kFloat;
    auto& shape = type.shape.emplace();
    shape.dim.push_back({std::nullopt, "batch"});
    for (const std::int64_t extent : dims)
        shape.dim.push_back({extent, {}});
    return made;
}

inline TensorProto floats(const std::string& name, const std::vector<std::int64_t>& dims,
                          float first = 0) {
    TensorProto made;
    made.name = name;
    made.data_type = kFloat;
    made.dims = dims;
    for (std::int64_t i = 0; i < element_count(dims); ++i)
        made.float_data.push_back(first + float(i));
    return made;
}

inline TensorProto integers(const std::string& name, std::vector<std::int64_t> values) {
    TensorProto made;
    made.name = name;
    made.data_type = kInt64;
    made.dims = {std::int64_t(values.size())};
    made.int64_data = std::move(values);
    return made;
}

inline AttributeProto ints(const std::string& name, std::vector<std::int64_t> values) {
    AttributeProto made;
    made.name = name;
    made.ints = std::move(values);
    return made;
}

inline ModelProto model(std::vector<NodeProto> nodes, std::vector<TensorProto> tensors,
                        const std::vector<std::int64_t>& input, std::int64_t opset = 17) {
    ModelProto made;
    made.opset_import = {{"", opset}};
    GraphProto& graph = made.graph.emplace();
    graph.input = {value("x", input)};
    graph.output = {value("y", {})};
    graph.node = std::move(nodes);
    graph.initializer = std::move(tensors);
    return made;
}

inline ImportedModel imported(const ModelProto& made, Constants& constants) {
    ImportedModel read = import_model(made, "net", constants);
    if (read.refusals.empty()) {
        LoadOptions load;
        load.texts["net.yaml"] = read.spec;
        Diagnostics diagnostics;
        const JobSpec job = load_job("net.yaml", load, diagnostics);
        REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.render(false), read.spec);
        CHECK(build_graph(job, 1, diagnostics).parameters.size() == read.tensors.size());
    }
    return read;
}

inline AttributeProto integer_of(const std::string& name, std::int64_t value) {
    AttributeProto made;
    made.name = name;
    made.i = value;
    return made;
}

inline AttributeProto word(const std::string& name, const std::string& value) {
    AttributeProto made;
    made.name = name;
    made.s = value;
    return made;
}

}  // namespace import_test
