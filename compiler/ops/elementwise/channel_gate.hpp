#pragma once
/// A value times one number per sample and channel, as squeeze-and-excitation has it.

#include <algorithm>
#include <optional>

#include "compiler/ops/axis.hpp"

namespace dtnn::compiler {

/// The extents of a gate that has all axes of what it gates: [N,C,1,1].
inline Dims ones_of_gate(const Type& gated) {
    const int features = feature_axis(gated.axes);
    Dims ones(gated.dims.size(), 1);
    for (const std::size_t axis : {std::size_t(0), std::size_t(std::max(0, features))})
        ones[axis] = gated.dims[axis];
    return ones;
}

/// Whether `gate`, [N,C] or with extents of 1 elsewhere, [N,C,1,1], has a number for every channel
/// of `gated`, such as an image [N,C,H,W].
inline bool gates(const Type& gate, const Type& gated) {
    const int features = feature_axis(gated.axes);
    if (features < 1 || gate.dtype != gated.dtype) return false;
    const Dims rows{gated.dims[0], gated.dims[std::size_t(features)]};
    return gate.dims == rows || gate.dims == ones_of_gate(gated);
}

/// Which of two operands is the one that the other gates; nothing when none is, or when both have
/// one shape.
inline std::optional<std::size_t> gated_image(const std::vector<Type>& operands) {
    if (operands.size() != 2 || operands[0].dims == operands[1].dims) return std::nullopt;
    if (gates(operands[1], operands[0])) return 0;
    if (gates(operands[0], operands[1])) return 1;
    return std::nullopt;
}

}  // namespace dtnn::compiler
