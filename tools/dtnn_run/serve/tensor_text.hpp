#pragma once
/// Elements of tensors in JSON text. They are most of a request, and a tree of them would take many
/// times their bytes, so they are cut out of the text before it is parsed and read by themselves.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/tensor/tensor_type.hpp"
#include "tools/dtnn_run/serve/tensor_types.hpp"

namespace dtnn::serve {

/// More tensors than that are none of a network's.
inline constexpr std::size_t kMostTensors = 99;

/// A request's JSON without the elements of its tensors.
struct TensorDocument {
    Json tree;  ///< where a tensor's `data` was a list, its number in `data`
    std::vector<std::string_view> data;  ///< the lists, with their brackets; views of the text
};

/// Refused (400) for text that is not JSON. The lists are not looked into but for their brackets.
TensorDocument read_tensor_document(std::string_view text);

/// The elements of a list, or of lists in lists as `dims` nest them, as bytes of the type,
/// row-major. `name` is the tensor's, for messages. Refused (400) where it is not JSON, where there
/// are more or fewer elements than `dims` says, and for numbers that the type cannot hold. Reals
/// are rounded once, to the nearest.
std::vector<char> read_elements(std::string_view list, const TensorType& type, const Dims& dims,
                                const std::string& name);

}  // namespace dtnn::serve
