#pragma once
/// An image times one number per sample and channel, as squeeze-and-excitation has it.

#include <optional>

#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// Whether `gate`, [N,C,1,1] or [N,C], has a number for every channel of the image [N,C,H,W].
inline bool gates(const Type& gate, const Type& image) {
    const Dims& of = image.dims;
    return of.size() == 4 && gate.dtype == image.dtype &&
           (gate.dims == Dims{of[0], of[1]} || gate.dims == Dims{of[0], of[1], 1, 1});
}

/// Which of two operands is the image that the other one gates; nothing when none is, or when both
/// have one shape.
inline std::optional<std::size_t> gated_image(const std::vector<Type>& operands) {
    if (operands.size() != 2 || operands[0].dims == operands[1].dims) return std::nullopt;
    if (gates(operands[1], operands[0])) return 0;
    if (gates(operands[0], operands[1])) return 1;
    return std::nullopt;
}

}  // namespace dtnn::compiler
