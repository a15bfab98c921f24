#pragma once
/// The text form of a graph, as `--emit` shows it and as the tests' golden files write it;
/// tests/graphs/parser.hpp reads it back.
///
///     graph @net(%source: f32[4,3,8,8], @conv.weights: f32[8,3,3,3], @bn.mean: f32[8] frozen)
///     training {
///       %c = conv2d(%source, @conv.weights) {bias=false, stride=[1,1]} : f32[4,8,8,8]{0,2,3,1}
///       %d = relu_like(%c) : f32[4,8,8,8]  ; backward
///       end prologue
///       return loss=%l, %predictions
///       update @conv.weights = %w
///     }
///
/// A type is dtype[extents]{order}; the order is left out when it is row-major. After a parameter's
/// type: `of [dims]` when users know it under another shape, `frozen` when it is not trainable,
/// `state` for optimizer state. A phase other than forward follows a node as a comment. The nodes
/// before the line `end prologue` run once per pass over data. The text does not carry places,
/// layers and initializers.

#include <string>

#include "compiler/ir/graph.hpp"

namespace dtnn::compiler {

std::string print(const Graph& graph);
/// "f32[8,3,28,28]{0,2,3,1}"; with the kinds of the axes where they are not the usual ones:
/// "f32[8,3 channel,16 step]".
std::string print(const Type& type);
std::string print(const Attributes& attributes);  ///< "{a=1, b=[1,2]}"; empty when there are none
std::string print(const AttributeValue& value);
/// One node as a line of the form above, without indentation and line end.
std::string print(const Graph& graph, const Node& node);
/// "4x3x8x8", as diagnostics show shapes; "scalar" without dims.
std::string shape_text(const Dims& dims);

}  // namespace dtnn::compiler
