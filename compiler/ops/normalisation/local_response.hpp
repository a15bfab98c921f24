#pragma once
/// The shape rule of local_response_norm and of its backward.

#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// Sets size, alpha, beta and k where they are absent.
inline void local_response_fallbacks(ShapeContext& c) {
    for (const char* name : {"size", "alpha", "beta", "k"})
        fallback(c, name);
}

}  // namespace dtnn::compiler
