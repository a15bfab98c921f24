#pragma once
/// What a rule has to write a node of ours with. Rules are listed in rules.def; a family's stand in
/// one file.

#include <deque>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/expression/expression.hpp"
#include "compiler/ir/graph.hpp"
#include "compiler/onnx/out/export.hpp"
#include "compiler/ops/op.hpp"

namespace dtnn::compiler::onnx {

using Names = std::vector<std::string>;

AttributeProto attribute(std::string_view name, std::int64_t value);
AttributeProto attribute(std::string_view name, double value);
AttributeProto attribute(std::string_view name, const char* value);
AttributeProto attribute(std::string_view name, std::vector<std::int64_t> values);

/// The model that is being made.
class ModelWriter {
  public:
    ModelWriter(ExportedModel& made, int opset) : made_(made), opset_(opset) {}

    int opset() const { return opset_; }
    GraphProto& graph() { return *made_.model.graph; }
    /// `wanted`, or with a number behind it.
    std::string unique(std::string wanted);
    /// Appends a node of one result, which is called so.
    std::string add(const char* op, Names inputs, std::vector<AttributeProto> attributes,
                    const std::string& wanted);
    /// A tensor of these bytes, which stay where they are.
    void tensor(const std::string& name, DType dtype, Dims dims, std::string_view bytes);
    /// Tensors of constants; equal ones are one.
    std::string integers(const std::vector<std::int64_t>& values);
    std::string numbers(DType dtype, const Dims& dims, const std::vector<double>& values);
    std::string number(DType dtype, double value) { return numbers(dtype, {}, {value}); }

  private:
    std::string constant(const char* wanted, DType dtype, const Dims& dims, std::string bytes);

    ExportedModel& made_;
    int opset_;
    std::set<std::string> taken_;
    std::map<std::string, std::string> constants_;  ///< by type, dims and bytes
};

/// One node of ours.
class NodeWriter {
  public:
    NodeWriter(const Graph& graph, const Node& node, Names inputs, std::string result,
               ModelWriter& model)
        : graph_(graph),
          node_(node),
          inputs_(std::move(inputs)),
          result_(std::move(result)),
          model_(model) {}

    const Graph& graph() const { return graph_; }
    const Node& node() const { return node_; }
    const Attributes& attributes() const { return node_.attributes; }
    const Names& inputs() const { return inputs_; }
    const std::string& input(std::size_t i = 0) const { return inputs_[i]; }
    bool has(std::size_t i) const { return i < inputs_.size(); }
    const Type& type(std::size_t i = 0) const { return graph_.type(node_.inputs[i]); }
    const Type& result() const { return graph_.type(node_.outputs[0]); }
    DType dtype() const { return result().dtype; }
    ModelWriter& model() { return model_; }

    std::int64_t integer(const char* name) const {
        return std::get<std::int64_t>(attributes().at(name));
    }
    double real(const char* name) const { return std::get<double>(attributes().at(name)); }
    std::vector<std::int64_t> integers(const char* name) const {
        return std::get<std::vector<std::int64_t>>(attributes().at(name));
    }

    /// A node on the way to the result; the last one gets the result's name by `done`.
    std::string add(const char* op, Names inputs, std::vector<AttributeProto> attributes = {}) {
        return model_.add(op, std::move(inputs), std::move(attributes), result_ + "/" + op);
    }
    /// The same numbers under another shape; the first extent, the batch's, stays.
    std::string reshape(const std::string& value, Dims dims);
    /// A parameter's numbers under another shape.
    std::string parameter(std::size_t i, const Dims& dims);
    /// The value is the node's result.
    void done(const std::string& value) { value_ = value; }
    void done(const char* op, Names inputs, std::vector<AttributeProto> attributes = {}) {
        done(add(op, std::move(inputs), std::move(attributes)));
    }
    const std::string& value() const { return value_; }

  private:
    const Graph& graph_;
    const Node& node_;
    Names inputs_;
    std::string result_, value_;
    ModelWriter& model_;
};

/// The axis to the end, or where it was before.
std::vector<std::int64_t> axis_last(std::size_t rank, std::size_t axis);
std::vector<std::int64_t> axis_second(std::size_t rank, std::size_t axis);
std::vector<std::int64_t> inverse_of(const std::vector<std::int64_t>& permutation);

/// Writes an expression over the node's inputs; its value's name.
std::string write_expression(NodeWriter& out, const Expression& expression);

#define DTNN_ONNX_RULE(op) void write_##op(NodeWriter& out);
#include "compiler/onnx/out/rules.def"
#undef DTNN_ONNX_RULE

}  // namespace dtnn::compiler::onnx
