#pragma once
/// Reads the text form of printer.hpp. Line breaks carry no meaning, but for a comment, which ends
/// with its line.

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.hpp"

namespace dtnn::compiler {

/// Thrown for text that is no graph; the message begins with "line:column: ".
class GraphTextError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Gives the result types of a node whose text leaves them out, and may resolve its attributes;
/// returns what is wrong, or nothing. ops/emit.hpp has one for the registered operators
/// (`infer_types`).
using InferTypes =
    std::function<std::optional<std::string>(const std::string& op, const std::vector<Type>& inputs,
                                             Attributes& attributes, std::vector<Type>& results)>;

/// The graph of the text. Result types may be left out when `infer` is given. A parameter's role is
/// what follows the last dot of its name.
Graph parse_graph(std::string_view text, const InferTypes& infer = {});

/// A type alone: "f32[4,8]{1,0}".
Type parse_type(std::string_view text);

}  // namespace dtnn::compiler
