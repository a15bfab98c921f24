#pragma once
/// A tensor of a file: a name, a type, and bytes that somebody else owns.

#include <cstddef>
#include <span>
#include <string>

#include "base/tensor/tensor_type.hpp"

namespace dtnn {

/// Row-major, little-endian.
struct StoredTensor {
    std::string name;
    DType dtype = DType::f32;
    Dims dims;
    std::span<const std::byte> bytes;
};

}  // namespace dtnn
