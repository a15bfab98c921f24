#pragma once
/// Appending a node whose result types come from the operator's shape rule.

#include <optional>

#include "compiler/ops/op.hpp"

namespace dtnn::compiler {

/// Infers result types, or says why it cannot. Resolves attributes in place (padding).
std::optional<ShapeError> infer(const OpDef& op, const std::vector<Type>& inputs,
                                Attributes& attributes, std::vector<Type>& results);

/// Appends `node` with inferred types; a shape error here is our bug. Returns the results.
ValueList emit(Graph& graph, Node node, const std::string& name);

/// The cost of a node of the graph.
Cost cost_of(const Graph& graph, const Node& node);

/// A node's attributes and, where it does not say them, those that its operator declares.
Attributes complete_attributes(const Node& node);

/// What a value's numbers are: by the last operator that did more than order them; of an input
/// scores.
plan::Prediction given_by(const Graph& graph, ValueId value);

/// The class of the step that runs a node by the kernel of that name. What only a naive reference
/// kernel can do has a class of its own, but for the updates of optimizers, which are bound by
/// memory.
plan::KernelClass kernel_class_of(const Graph& graph, const Node& node, std::string_view kernel);

/// A processor gains by rounding the factors of the operator, which multiplies, to bfloat16
/// (`compute: bf16_products`): one group, and as many channels and filters, or inputs and units, as
/// an instruction takes at once.
bool has_wide_factors(const OpDef& def, const Dims& weights, const Attributes& attributes);

/// `infer` by name, in the form that parse_graph takes for texts that leave result types out.
std::optional<std::string> infer_types(const std::string& op, const std::vector<Type>& inputs,
                                       Attributes& attributes, std::vector<Type>& results);

/// Says where the results' extents and dtypes are not what the operators' shape rules say; empty
/// when all agree. With `verify` of the graph layer, what every pass must leave intact.
std::vector<std::string> check_types(const Graph& graph);
/// The same with kinds of nodes that earlier graphs have left: see node_kinds.hpp.
std::vector<std::string> check_types(const Graph& graph, class NodeKinds& kinds);

/// The postfix expression of an elementwise node (relu, add of any number of operands, elementwise,
/// ...), empty for nodes of other operators.
std::string expression_of(const Node& node);

/// A sum, a mask or an activation that stood behind the node has been fused into it.
bool has_epilogue(const Node& node);
/// Operations per element of the attribute `epilogue`.
std::int64_t flops_of_epilogue(const Attributes& attributes);

}  // namespace dtnn::compiler
