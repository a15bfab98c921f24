#pragma once
/// Targets that the loss takes scaled.

#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// The fields of a `scale_classes` that brings predictions to the units of the targets.
inline Attributes target_scale(const PassContext& context) {
    return {{"class_weights", context.target_deviation}, {"offsets", context.target_mean}};
}

}  // namespace dtnn::compiler
