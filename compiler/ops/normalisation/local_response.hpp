#pragma once
/// What local_response_norm and its backward share.

#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// Sets size 5, alpha 1e-4, beta 0.75 and k 1 where they are absent.
inline void local_response_fallbacks(ShapeContext& c) {
    fallback(c, "size", std::int64_t{5});
    fallback(c, "alpha", 1e-4);
    fallback(c, "beta", 0.75);
    fallback(c, "k", 1.0);
}

}  // namespace dtnn::compiler
